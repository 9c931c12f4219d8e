"""What is compared: the original program and its changed forms."""
