"""What runs inside the user's process. Imports the standard library and torch alone."""
