"""Matrices: archives of NumPy, svmlight and LDA-C."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.files.data_file import Loaded, endings, one_line, opened, refuse
from harmonium.views import Views

# what readers of matrices raise when a file is none
FAULTS = (
    *(ValueError, TypeError, LookupError, OverflowError, EOFError, MemoryError, RuntimeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)

# Columns cost memory though they are empty; hashed features and n-grams of letters have tens of millions.
_MOST_COLUMNS = 50_000_000


def read_npz(path: Path) -> Loaded:
    """Return the matrices of an archive as views by their names; arrays of one dimension are columns of the items.

    An archive that SciPy wrote holds one sparse matrix, a view named after the file.
    """
    with opened(path) as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            if foreign := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{foreign[0][:60]!r} is no array")
            if {"format", "shape", "data"} <= set(arrays):  # as SciPy writes sparse matrices
                file.seek(0)
                return one_view(path, scipy.sparse.csr_array(scipy.sparse.load_npz(file)))
        except FAULTS as error:
            refuse(
                path, "An archive must hold arrays of numbers", f"does not ({one_line(error)})", "save it anew", error
            )
    views = {name: array for name, array in arrays.items() if array.ndim == 2}
    if not views:
        refuse(path, "An archive must hold a matrix, a row for each item", "holds none", "add one")
    columns = {name: array for name, array in arrays.items() if array.ndim == 1}
    n_items = next(iter(views.values())).shape[0]
    for name, array in arrays.items():
        if array.ndim not in (1, 2) or array.shape[0] != n_items:
            refuse(
                path,
                f"All arrays must have a row for each of {n_items} items",
                f"has {name!r} of shape {array.shape}",
                "leave it out",
            )
    items = pd.DataFrame(columns or {"item": np.arange(n_items)})
    return Loaded(_views(path, views), items)


def read_svmlight(path: Path) -> Loaded:
    """Return a matrix as a view named after the file, and its targets.

    Columns are counted from 0, so that a number means the same column in every file; where numbers begin with 1, the
    first column is empty.
    """
    from sklearn.datasets import load_svmlight_file  # late, for a quick start

    with opened(path) as file:
        try:
            matrix, target = load_svmlight_file(file, zero_based=True)
        except FAULTS as error:
            refuse(
                path,
                "An svmlight file must be one that can be read",
                f"cannot ({one_line(error)})",
                "correct it",
                error,
            )
    return one_view(path, scipy.sparse.csr_array(matrix), target, grows=True)


def read_lda_c(path: Path) -> Loaded:
    """Return counts as a view named after the file: a line is the number of words, followed by word:count.

    A file of the same name that ends in ``.vocab``, a word a line, names the words.
    """
    starts, columns, values = [0], [], []
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            try:
                expected, *pairs = line.split()
                cells = [pair.split(b":") for pair in pairs]
                if int(expected) != len(cells):
                    raise ValueError(f"{len(cells)} words, not {int(expected)}")
                columns += [int(word) for word, _ in cells]
                values += [float(count) for _, count in cells]
            except FAULTS as error:
                reason = f"does not in line {number} ({one_line(error)})"
                refuse(path, "An LDA-C file must have a number and word:count pairs", reason, "correct it", error)
            starts.append(len(columns))
    if min(columns, default=0) < 0 or len(starts) == 1:
        refuse(path, "An LDA-C file must have lines with words numbered from 0", "has others", "correct it")
    names = _vocabulary(path)
    width = max(max(columns, default=-1) + 1, len(names or ()))
    if width > _MOST_COLUMNS or (names is not None and len(names) < width):
        refuse(path, "Words must have numbers of a vocabulary", f"has number {width - 1}", "correct it")
    matrix = scipy.sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, width))
    return one_view(path, matrix, names=names, grows=names is None)


def _vocabulary(path: Path) -> list[str] | None:
    file = path.parent / f"{_stem(path)}.vocab"
    return file.read_text("utf-8", "replace").splitlines() if file.is_file() else None


def one_view(
    path: Path, matrix: Any, y: np.ndarray | None = None, names: list[str] | None = None, grows: bool = False
) -> Loaded:
    """Return a matrix as a view named after its file."""
    if matrix.ndim != 2 or 0 in matrix.shape:
        refuse(path, "A matrix must have rows and columns", f"has shape {matrix.shape}", "see to it")
    if matrix.shape[1] > _MOST_COLUMNS:
        reason = f"numbers them up to {matrix.shape[1]:,}"
        refuse(path, f"A matrix must have at most {_MOST_COLUMNS:,} columns", reason, "leave out those that are empty")
    view = _stem(path).replace(".", "_")
    items = pd.DataFrame({"item": np.arange(matrix.shape[0])} if y is None else {"target": y})
    views = _views(path, {view: matrix}, {view: names} if names else None)
    return Loaded(views, items, y, named_after_file=True, grows=grows)


def _views(path: Path, matrices: dict[str, Any], names: dict[str, list[str]] | None = None) -> Views:
    """Return matrices as views, and refuse the file where they cannot be."""
    try:
        return Views(matrices, feature_names=names)
    except InvalidViewError as error:
        refuse(path, "Matrices must hold numbers", f"does not ({one_line(error)})", "correct it", error)


def _stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    ending, packed = endings(path)
    return path.name[: len(path.name) - len(ending) - len(packed)] or "matrix"
