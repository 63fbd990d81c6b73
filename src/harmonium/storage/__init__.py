"""Sealed files: a JSON description and tensors, with a digest over all of it, written in one step.

Model files and checkpoints are such files. Nothing here knows an estimator: those that can be saved say how their
descriptions are rebuilt.
"""

from harmonium.storage.folders import check_place, read_whole_folder
from harmonium.storage.models import check_fields, check_header, heading, load_model, rebuilds, write_model
from harmonium.storage.replacing import in_a_sentence
from harmonium.storage.sealed import read_sealed, write_sealed
from harmonium.storage.settings import decode_settings, encode_settings
from harmonium.storage.values import (
    SCRATCH,
    check_names,
    decode,
    decode_part,
    encode,
    encode_part,
    reason_of,
    serializable,
)

__all__ = [
    "SCRATCH",
    "check_fields",
    "check_header",
    "check_names",
    "check_place",
    "decode",
    "decode_part",
    "decode_settings",
    "encode",
    "encode_part",
    "encode_settings",
    "heading",
    "in_a_sentence",
    "load_model",
    "read_sealed",
    "read_whole_folder",
    "reason_of",
    "rebuilds",
    "serializable",
    "write_model",
    "write_sealed",
]
