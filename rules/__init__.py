"""The rules that ship with torchlint: one file per rule, one folder per family."""
