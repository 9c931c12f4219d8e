"""How the script itself is run: as the main module, with changed sources, in fresh workers."""
