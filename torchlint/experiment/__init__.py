"""Running a program several times in order to learn something: what all that do so share."""
