"""Corel-5k: photographs as sets of visual blobs, annotated with words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from harmonium.datasets._base import Dataset, archive_path

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)
_BLOB = re.compile(r"Cluster\d+")
# Types whose unwritten entries are zero; those of other nominal types are the first value that the type names.
_ZERO_BY_DEFAULT = ("{0,1}", "numeric", "real", "integer")


def _attribute_name(line: str) -> str:
    match = _ATTRIBUTE.match(line)
    if match is None or match[2].replace(" ", "").lower() not in _ZERO_BY_DEFAULT:
        raise ValueError(
            f"An attribute must have a name and be numeric or {{0,1}}, but got the line {line!r}; convert the file "
            "first."
        )
    name = match[1]
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name


def read_sparse_arff(lines: Iterable[str]) -> tuple[list[str], sparse.csr_array]:
    r"""Read the sparse variant of the attribute-relation file format.

    Parameters
    ----------
    lines : iterable of str
        Lines of the file; an open file will do. Every attribute must be numeric or ``{0,1}``.

    Returns
    -------
    names : list of str
        The name of each attribute, without quotation marks.
    values : csr_array of float32 of shape (n_rows, n_attributes)
        The values; entries that are not written are zero.

    Examples
    --------
    >>> text = "@relation toy\n@attribute sky {0,1}\n@attribute 'old tree' {0,1}\n@data\n{1 1}\n{0 1,1 1}"
    >>> names, values = read_sparse_arff(text.splitlines())
    >>> names, values.toarray().tolist()
    (['sky', 'old tree'], [[0.0, 1.0], [1.0, 1.0]])
    """
    names: list[str] = []
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    in_data = False
    for raw in lines:
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            if not (line.startswith("{") and line.endswith("}")):
                raise ValueError(
                    f"A row must be enclosed in braces, but got {line!r}; give a file in the sparse format."
                )
            for entry in filter(None, line[1:-1].split(",")):
                column, value = entry.split()
                columns.append(int(column))
                values.append(float(value))
            starts.append(len(columns))
        elif line.lower().startswith("@attribute"):
            names.append(_attribute_name(line))
        else:
            in_data = line.lower() == "@data"
    if columns and not 0 <= min(columns) <= max(columns) < len(names):
        raise ValueError(
            f"Rows must name attributes from 0 to {len(names) - 1}, but name {min(columns)} to {max(columns)}; put "
            "the original file in place."
        )
    shape = (len(starts) - 1, len(names))
    return names, sparse.csr_array((np.array(values, dtype=np.float32), columns, starts), shape=shape)


def load_corel5k(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the annotated photographs of Corel-5k.

    They are read from ``corel5k/Corel5k-train-sparse.arff`` and ``corel5k/Corel5k-test-sparse.arff``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"blobs"`` is a float32 csr_array (5,000 x 499) of the presence of visual blobs, 0 or 1. The target is an
        int8 array (5,000 x 374) with a 1 for each word of a photograph; ``target_names`` holds the words. The 4,500
        training rows come first, then the 500 test rows, in the order of the files.

    Raises
    ------
    ValueError
        If the two files do not have the same attributes.

    Notes
    -----
    The files have a fault, which is kept: the last blob is present in 499 of the 500 test photographs but in only 55 of
    the training photographs. Leave that column out where a fair test matters. Three words (grouper, moss, aerial) occur
    in no training photograph.

    Examples
    --------
    >>> photographs = load_corel5k()  # doctest: +SKIP
    >>> photographs.views["blobs"].shape, photographs.target.shape  # doctest: +SKIP
    ((5000, 499), (5000, 374))
    """
    paths = [archive_path("corel5k", f"Corel5k-{part}-sparse.arff", data_home) for part in ("train", "test")]
    parts = []
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            parts.append(read_sparse_arff(lines))
    (names, train), (test_names, test) = parts
    if names != test_names:
        raise ValueError(
            "The training and the test file of Corel-5k must have the same attributes, but differ; put the original "
            "files in place."
        )
    values = sparse.vstack([train, test], format="csr")
    is_blob = np.array([_BLOB.fullmatch(name) is not None for name in names], dtype=bool)
    return Dataset(
        name="corel5k",
        views={"blobs": values[:, np.flatnonzero(is_blob)]},
        target=values[:, np.flatnonzero(~is_blob)].astype(np.int8).toarray(),
        target_names=[name for name, blob in zip(names, is_blob, strict=True) if not blob],
        split=np.repeat(["train", "test"], [train.shape[0], test.shape[0]]),
        description="Corel-5k: photographs as sets of visual blobs, annotated with one to five words each.",
    )
