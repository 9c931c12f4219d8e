"""The processes of a run, and what ends them whatever happens."""
