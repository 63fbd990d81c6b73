"""Hidden layers, one file each."""
