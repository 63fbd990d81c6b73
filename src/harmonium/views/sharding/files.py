"""Shards in files of NumPy and SciPy: memory-mapped arrays, and compressed sparse rows."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.core.validation import few, named
from harmonium.exceptions import InvalidViewError
from harmonium.views.sharding.shard import Shard

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
#: files of a folder that holds compressed sparse rows
_DATA, _INDICES, _INDPTR, _SHAPE = "data.npy", "indices.npy", "indptr.npy", "shape.npy"


@dataclass(frozen=True)
class FileShard(Shard):
    """A file for each view, or one file for the only view."""

    files: Mapping[str, str] | str = field(default="")

    def read(self) -> Any:
        """Return the matrix, or matrices by name; what can be is mapped into memory."""
        if isinstance(self.files, str):
            return read_matrix(self.files)
        return {name: read_matrix(file) for name, file in self.files.items()}


def file_shards(files: Files | Mapping[str, Files], y: Files | None) -> list[Shard]:
    """Return a shard for each file, or for each place in the lists of files by view."""
    by_view = {name: listed(part) for name, part in files.items()} if isinstance(files, Mapping) else None
    lists = {"files": listed(files)} if by_view is None else by_view  # type: ignore[arg-type]
    if y is not None:
        lists = {**lists, "y": listed(y)}
    lengths = {name: len(part) for name, part in lists.items()}
    if len(set(lengths.values())) > 1:
        shown = few(f"{named(name)} has {length}" for name, length in lengths.items())
        raise InvalidViewError(f"Each shard needs a file for each view and for y; {shown}; name as many for each.")
    shards: list[Shard] = []
    targets = [None] * max(lengths.values()) if y is None else listed(y)
    for number, target in enumerate(targets):
        paths: Any = {name: part[number] for name, part in (by_view or {}).items()} or lists["files"][number]
        first = paths if isinstance(paths, str) else next(iter(paths.values()))
        labels = None if target is None else _Loaded(target)
        shards.append(FileShard(os.path.basename(first), _rows_of(first), labels, paths))
    return shards


@dataclass(frozen=True)
class _Loaded:
    """The array in a file, when it is asked for."""

    path: str

    def __call__(self) -> np.ndarray:
        array: np.ndarray = np.load(self.path, allow_pickle=False)
        return array


def listed(files: Files) -> list[str]:
    """Return the paths in a list, or those that a pattern such as "parts/*.npy" matches, sorted by name."""
    if isinstance(files, str | os.PathLike):
        found = sorted(glob.glob(os.fspath(files)))
        if not found:
            raise FileNotFoundError(f"Shards need files that exist; nothing is called {files}; correct the pattern.")
        return found
    paths = [os.fspath(file) for file in files]
    lost = [path for path in paths if not os.path.exists(path)]
    if lost:
        raise FileNotFoundError(f"Shards need files that exist; there is no {lost[0]}; correct the path.")
    if not paths:
        raise InvalidViewError("Shards need at least one file; got none; pass a list of files or a pattern.")
    return paths


def read_matrix(path: str) -> np.ndarray | scipy.sparse.csr_array:
    """Return a matrix: ``.npy`` is mapped into memory, ``.npz`` is SciPy's, a folder has arrays of sparse rows."""
    if os.path.isdir(path):
        arrays = [np.load(os.path.join(path, name), mmap_mode="r") for name in (_DATA, _INDICES, _INDPTR)]
        shape = tuple(int(length) for length in np.load(os.path.join(path, _SHAPE)))
        return scipy.sparse.csr_array(tuple(arrays), shape=shape)
    if path.endswith(".npz"):
        return scipy.sparse.csr_array(scipy.sparse.load_npz(path))
    if path.endswith(".npy"):
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    raise InvalidViewError(
        f"Shards are read from .npy, from .npz of SciPy, or from folders of sparse rows; got {path}; write it with "
        "Shards.store, or read it with Shards.from_parquet or Shards.from_anndata."
    )


def write_matrix(path: str, matrix: Any) -> str:
    """Write a matrix so that it can be mapped into memory, and return the path of the file or folder."""
    if not scipy.sparse.issparse(matrix):
        np.save(f"{path}.npy", np.asarray(matrix))
        return f"{path}.npy"
    rows = scipy.sparse.csr_array(matrix)
    os.makedirs(path, exist_ok=True)
    for name, part in ((_DATA, rows.data), (_INDICES, rows.indices), (_INDPTR, rows.indptr), (_SHAPE, rows.shape)):
        np.save(os.path.join(path, name), np.asarray(part))
    return path


def _rows_of(path: str) -> int | None:
    """Return the number of rows of a file, if it is known without reading them all."""
    if os.path.isdir(path):
        if not (Path(path) / _SHAPE).exists():
            raise InvalidViewError(
                f"A folder of sparse rows must hold {_DATA}, {_INDICES}, {_INDPTR} and {_SHAPE}; {path} does not; "
                "write it with Shards.store."
            )
        return int(np.load(os.path.join(path, _SHAPE))[0])
    return len(np.load(path, mmap_mode="r", allow_pickle=False)) if path.endswith(".npy") else None
