"""Checkpoints: the state of a fit in a file, from which the fit is resumed."""
