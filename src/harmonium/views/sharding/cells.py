"""Shards of AnnData on disk: rows of an ``.h5ad`` file or a zarr store, which stay there until they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harmonium.core.extras import require
from harmonium.core.validation import few_of
from harmonium.exceptions import InvalidViewError
from harmonium.views.container import Views
from harmonium.views.sharding.shard import Shard, TableShard


@dataclass(frozen=True)
class CellShard(TableShard):
    """Some consecutive observations."""

    first: int = 0
    layers: tuple[str, ...] = ("X",)
    obsm: tuple[str, ...] = ()
    obs: tuple[str, ...] = ()

    def read(self) -> Any:
        """Return the parts that are asked for as views."""
        rows = self._rows
        with _Opened(self.path) as file:
            keys = {key: "X" if key == "X" else f"layers/{key}" for key in self.layers}
            views = {name: _rows(file.store, key, rows) for name, key in keys.items()}
            names = {name: file.names("var") for name in views}
            views |= {key: _rows(file.store, f"obsm/{key}", rows) for key in self.obsm}
            if self.obs:
                views["obs"] = file.frame("obs", self.obs).iloc[rows].reset_index(drop=True)
        return Views(views, feature_names=names)

    def columns(self, names: list[str]) -> pd.DataFrame:
        """Return columns that describe the observations."""
        with _Opened(self.path) as file:
            return file.frame("obs", names).iloc[self._rows].reset_index(drop=True)

    @property
    def _rows(self) -> slice:
        assert self.n_rows is not None
        return slice(self.first, self.first + self.n_rows)


class _Opened:
    """A file or store of AnnData, open for reading."""

    def __init__(self, path: str) -> None:
        self._elements = require("anndata.io", "AnnData on disk")
        if os.path.isdir(path):
            self.store = require("zarr", "A zarr store").open_group(path, mode="r")
        else:
            self.store = require("h5py", "An .h5ad file").File(path, "r")

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        close = getattr(self.store, "close", None)
        if close is not None and hasattr(self.store, "filename"):  # stores of zarr need not be closed
            close()

    def names(self, axis: str) -> list[str]:
        """Return the names of the variables or observations."""
        index = self.store[axis].attrs["_index"]
        return [str(name) for name in self._elements.read_elem(self.store[f"{axis}/{index}"])]

    def frame(self, axis: str, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns that describe the observations."""
        known = [key for key in self.store[axis] if key != self.store[axis].attrs["_index"]]
        lost = [column for column in columns if column not in known]
        if lost:
            raise InvalidViewError(
                f"{axis} may only name columns that the data have ({few_of(known)}); got {lost[0]!r}; correct the key."
            )
        return pd.DataFrame({column: self._elements.read_elem(self.store[f"{axis}/{column}"]) for column in columns})


def _rows(store: Any, key: str, rows: slice) -> Any:
    """Return some rows of a dense or sparse matrix on disk."""
    if key not in store:
        raise InvalidViewError(f"AnnData must have what is named; there is no {key!r}; correct the key.")
    part = store[key]
    kind = part.attrs.get("encoding-type", "")
    if kind == "csc_matrix":
        raise InvalidViewError(
            f"Sparse matrices on disk are read by rows; {key!r} is stored by columns; store it as csr_matrix."
        )
    if kind == "csr_matrix":
        return require("anndata.io", "AnnData on disk").sparse_dataset(part)[rows]
    if kind == "dataframe":
        return require("anndata.io", "AnnData on disk").read_elem(part).iloc[rows].reset_index(drop=True)
    return part[rows]


def cell_shards(
    data: Any, layers: Sequence[str], obsm: Sequence[str], obs: Sequence[str], y: Any, rows: int
) -> list[Shard]:
    """Return shards of at most ``rows`` observations of a path, or of AnnData that are backed by a file."""
    path = getattr(data, "filename", None) if not isinstance(data, str | os.PathLike) else data
    if path is None:
        raise InvalidViewError(
            "Shards of AnnData are read from an .h5ad file, a zarr store, or AnnData backed by one; got AnnData in "
            "memory; pass it to fit as it is."
        )
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"Shards need a file that exists; there is no {path}; correct the path.")
    for argument, keys in (("layers", layers), ("obsm", obsm), ("obs", obs)):
        if isinstance(keys, str):
            raise TypeError(f"from_anndata needs a list of keys as {argument}; got {keys!r}; pass [{keys!r}].")
    with _Opened(path) as file:
        index = file.store["obs"].attrs["_index"]
        n_rows = int(file.store[f"obs/{index}"].shape[0])
    target = tuple(y) if isinstance(y, list) else y
    name = os.path.basename(path.rstrip("/"))
    parts = tuple(layers), tuple(obsm), tuple(obs)
    return [
        CellShard(f"{name}, observations from {first} on", min(rows, n_rows - first), None, path, target, first, *parts)
        for first in range(0, n_rows, rows)
    ]
