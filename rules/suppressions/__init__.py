"""Rules about suppression comments."""
