"""Sealed files: a JSON description and tensors, with a digest over all of it, written in one step.

Model files and checkpoints are such files. Nothing here knows what a description says.
"""

from harmonium.storage.sealed import read_sealed, write_sealed

__all__ = ["read_sealed", "write_sealed"]
