"""Threads, their pool, Ctrl-C and just-in-time compilation: what every kernel stands on."""
