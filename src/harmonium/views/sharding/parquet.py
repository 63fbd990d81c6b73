"""Shards in a folder of Parquet files: columns of numbers, lists of tokens, or whole rows for a table transformer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.extras import require
from harmonium.core.validation import few_of
from harmonium.exceptions import InvalidViewError
from harmonium.views.sharding.shard import Shard, TableShard


@dataclass(frozen=True)
class Tokens:
    """Columns of lists that hold the tokens of each row, as sparse counts.

    Parameters
    ----------
    tokens : str
        Column of lists: numbers of the tokens, from 0 up, or the tokens themselves if there is a ``vocabulary``.
    counts : str, optional
        Column of lists of the same lengths: how often each token occurs. Default: each entry counts once, and tokens
        may repeat.
    n_columns : int, optional
        Number of different tokens. Default: that of the vocabulary.
    vocabulary : sequence of str, optional
        The tokens, which name the columns. Tokens that are none of these are left out.

    See Also
    --------
    Shards.from_parquet : Reads a folder in which texts are stored like that.

    Examples
    --------
    >>> Tokens("word", "times", n_columns=5000)
    Tokens(tokens='word', counts='times', n_columns=5000, vocabulary=None)
    """

    tokens: str
    counts: str | None = None
    n_columns: int | None = None
    vocabulary: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
            object.__setattr__(self, "n_columns", len(self.vocabulary))
        if self.n_columns is None:
            raise InvalidViewError(
                "Tokens need the number of columns, which one shard does not know; got none; pass n_columns or a "
                "vocabulary."
            )

    @property
    def columns(self) -> list[str]:
        """Columns that are read."""
        return [self.tokens] if self.counts is None else [self.tokens, self.counts]

    def matrix(self, table: Any) -> scipy.sparse.csr_array:
        """Return the counts of all rows of a table.

        Parameters
        ----------
        table : pyarrow.Table
            Rows, with the columns of tokens and counts.

        Returns
        -------
        scipy.sparse.csr_array
            A row for each row, a column for each token.
        """
        indptr, tokens = _lists(table, self.tokens)
        values = np.ones(len(tokens), dtype=np.float32)
        if self.counts is not None:
            others, counts = _lists(table, self.counts)
            if not np.array_equal(indptr, others):
                row = int(np.argmax(np.diff(indptr) != np.diff(others)))
                raise InvalidViewError(
                    f"Columns {self.tokens!r} and {self.counts!r} must hold lists of the same lengths; those of row "
                    f"{row} differ; correct the row."
                )
            values = counts.astype(np.float32)
        assert self.n_columns is not None
        if self.vocabulary is not None:
            number = {token: column for column, token in enumerate(self.vocabulary)}
            tokens = np.array([number.get(token, -1) for token in tokens], dtype=np.int64)
            kept = tokens >= 0
            indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
            tokens, values = tokens[kept], values[kept]
        matrix = scipy.sparse.csr_array((values, tokens, indptr), shape=(len(indptr) - 1, self.n_columns))
        outside = (tokens < 0) | (tokens >= self.n_columns)
        if len(tokens) and outside.any():
            entry = int(np.argmax(outside))
            row = int(np.searchsorted(indptr, entry, side="right")) - 1
            raise InvalidViewError(
                f"Tokens in column {self.tokens!r} must be numbers from 0 to {self.n_columns - 1}; found "
                f"{tokens[entry]} at row {row}; raise n_columns, or correct the row."
            )
        matrix.sum_duplicates()
        return matrix


def _lists(table: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where the lists of a column begin, and their entries one after the other; missing lists are empty."""
    lists = table.column(column).combine_chunks()
    if not hasattr(lists, "flatten") or not hasattr(lists, "value_lengths"):
        raise InvalidViewError(
            f"Column {column!r} must hold lists of tokens; got {lists.type}; read it with TableViews, or as numbers."
        )
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]), lists.flatten().to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class ParquetShard(TableShard):
    """One file, or some row groups of it."""

    groups: tuple[int, ...] | None = None
    views: Mapping[str, Any] | None = None
    dropped: tuple[str, ...] = ()

    def _table(self, columns: list[str] | None) -> Any:
        parquet = require("pyarrow.parquet", "A folder of Parquet files")
        file = parquet.ParquetFile(self.path)
        lost = [name for name in columns or () if name not in file.schema_arrow.names]
        if lost:
            known = few_of(file.schema_arrow.names)
            raise InvalidViewError(f"Columns must be those of the file, {known}; got {lost[0]!r}; correct the name.")
        if columns is None:
            left_out = {*self.dropped, *self.target_columns}
            columns = [name for name in file.schema_arrow.names if name not in left_out]
        if self.groups is None:
            return file.read(columns=columns)
        return file.read_row_groups(list(self.groups), columns=columns)

    def read(self) -> Any:
        """Return the views that are asked for, or all columns but the target as a pandas frame."""
        if self.views is None:
            return self._table(None).to_pandas()
        needed: list[str] = []
        for entry in self.views.values():
            needed += entry.columns if isinstance(entry, Tokens) else [entry] if isinstance(entry, str) else list(entry)
        table = self._table(list(dict.fromkeys(needed)))
        return {name: self._view(table, entry) for name, entry in self.views.items()}

    @staticmethod
    def _view(table: Any, entry: Any) -> Any:
        if isinstance(entry, Tokens):
            return entry.matrix(table)
        return table.select([entry] if isinstance(entry, str) else list(entry)).to_pandas()

    def columns(self, names: list[str]) -> pd.DataFrame:
        """Return columns of the block."""
        return self._table(names).to_pandas()


def parquet_shards(folder: Any, views: Mapping[str, Any] | None, y: Any, rows: int | None) -> list[Shard]:
    """Return a shard for each file of a folder, or for consecutive row groups of at most ``rows`` rows."""
    dataset = require("pyarrow.dataset", "A folder of Parquet files")
    parquet = require("pyarrow.parquet", "A folder of Parquet files")
    if not os.path.exists(folder):
        raise FileNotFoundError(f"Shards need a folder of Parquet files that exists; there is no {folder}; correct it.")
    files = sorted(dataset.dataset(os.fspath(folder), format="parquet").files)
    if not files:
        raise InvalidViewError(f"A folder of shards must hold Parquet files; {folder} has none; correct the path.")
    target = tuple(y) if isinstance(y, list) else y
    shards: list[Shard] = []
    for path in files:
        metadata = parquet.ParquetFile(path).metadata
        name = os.path.basename(path)
        if rows is None or metadata.num_rows <= rows:
            shards.append(ParquetShard(name, metadata.num_rows, None, path, target, None, views))
            continue
        for groups, n_rows in _grouped([metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)], rows):
            place = f"{name}, row groups {groups[0]} to {groups[-1]}"
            shards.append(ParquetShard(place, n_rows, None, path, target, groups, views))
    return shards


def _grouped(sizes: list[int], rows: int) -> list[tuple[tuple[int, ...], int]]:
    """Return consecutive row groups that have at most so many rows together, or one that has more."""
    found: list[tuple[tuple[int, ...], int]] = []
    for group, size in enumerate(sizes):
        if found and found[-1][1] + size <= rows:
            found[-1] = ((*found[-1][0], group), found[-1][1] + size)
        else:
            found.append(((group,), size))
    return found
