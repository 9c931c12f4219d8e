"""How the processes of a run are started; each launcher is one file."""
