"""Matrices in MatrixMarket form: a heading, the sizes, and a line for each entry.

It is read here and not by SciPy, whose reader ends the whole process on some files that are none.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse

from harmonium.files.data_file import Loaded, one_line, opened, refuse
from harmonium.files.matrices import FAULTS, one_view

_FORMS, _FIELDS = ("coordinate", "array"), ("real", "integer", "pattern", "double")
_SYMMETRIES = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}


def read_matrix_market(path: Path) -> Loaded:
    """Return a matrix of real numbers as a view named after the file."""
    with opened(path) as file:
        try:
            matrix = _matrix(file)
        except FAULTS as error:
            reason = f"does not ({one_line(error)})"
            refuse(path, "A MatrixMarket file must hold a matrix of real numbers", reason, "write it again", error)
    return one_view(path, matrix)


def _matrix(file: IO[bytes]) -> np.ndarray | scipy.sparse.csr_array:
    words = file.readline(1000).decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("no heading")
    form, field, symmetry = words[2:]
    if form not in _FORMS or field not in _FIELDS or symmetry not in _SYMMETRIES:
        raise ValueError(f"a matrix that is {form[:20]} {field[:20]} {symmetry[:20]}")
    line = file.readline()
    while line.startswith(b"%") or (line and not line.strip()):
        line = file.readline()
    sizes = [int(size) for size in line.split()]
    if len(sizes) != (3 if form == "coordinate" else 2) or min(sizes) < 0:
        raise ValueError("sizes that are none")
    if form == "array":
        if symmetry != "general":
            raise ValueError("a dense matrix that is not general")
        return np.loadtxt(file, ndmin=1).reshape(sizes[::-1]).T
    return _sparse(file, sizes, field == "pattern", _SYMMETRIES[symmetry])


def _sparse(file: IO[bytes], sizes: list[int], is_pattern: bool, mirrored: float) -> scipy.sparse.csr_array:
    n_rows, n_columns, n_entries = sizes
    cells = np.loadtxt(file, ndmin=2) if n_entries else np.zeros((0, 3 - is_pattern))
    if cells.shape != (n_entries, 3 - is_pattern):
        raise ValueError(f"{len(cells)} entries in place of {n_entries}")
    positions = cells[:, :2].astype(np.int64)
    if (positions != cells[:, :2]).any() or (
        len(positions) and ((positions < 1) | (positions > [n_rows, n_columns])).any()
    ):
        raise ValueError("entries outside the matrix")
    values = np.ones(n_entries) if is_pattern else cells[:, 2]
    rows, columns = (positions - 1).T
    matrix = scipy.sparse.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))
    if mirrored:
        off = rows != columns
        matrix = matrix + mirrored * scipy.sparse.coo_array(
            (values[off], (columns[off], rows[off])), shape=(n_rows, n_columns)
        )
    return scipy.sparse.csr_array(matrix)
