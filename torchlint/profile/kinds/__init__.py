"""The kinds of run-time findings, one file each."""
