"""Runs the original and the fixed program, measures both, and says what each fix is worth.

This is the one room of torchlint that executes the user's code.
"""
