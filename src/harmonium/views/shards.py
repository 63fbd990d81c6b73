"""`Shards`: data that need not fit into memory, as an ordered list of row blocks."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.extras import require
from harmonium.exceptions import InvalidViewError
from harmonium.views.container import Views
from harmonium.views.frames import is_frame
from harmonium.views.sharding.cells import cell_shards
from harmonium.views.sharding.container import ShardedViews
from harmonium.views.sharding.conversion import Conversion
from harmonium.views.sharding.files import Files, file_shards, write_matrix
from harmonium.views.sharding.lazy import is_dask, lazy_shards
from harmonium.views.sharding.parquet import parquet_shards
from harmonium.views.sharding.reader import Reader, name_of_shard, named
from harmonium.views.sharding.shard import HeldShard, MappedShard, Reopened, ReopenedShard, Shard
from harmonium.views.sharding.stored import store_views


class Shards:
    """Rows of data that need not fit into memory, block by block.

    Everything that takes views takes shards: `fit`, `partial_fit`, `transform`, `predict`, `predict_view`, `score` and
    search coordinates. Blocks are read when they are needed, two at a time: the one in use, and the next one, which a
    thread reads ahead. An epoch takes shards in random order and shuffles rows within a buffer, which is the largest
    shard, or several small ones; the order depends on ``random_state`` and the shards alone.

    Parameters
    ----------
    blocks : sequence of blocks or functions, or iterable that can be opened again
        Blocks of rows, each of them anything that estimators take as X; or functions without arguments that return a
        block; or an iterable of blocks such as a data loader, or a function that opens one. A sequence is read in any
        order, an iterable from its start, so that an epoch takes its shards in order.
    y : sequence, optional
        Targets of each block, or functions that return them.
    pairs : bool, default=False
        Whether an iterable holds pairs of X and y.
    lengths : sequence of int, optional
        Number of rows of each block. Default: blocks are read once to count them.

    Attributes
    ----------
    n_shards : int
        Number of shards.

    See Also
    --------
    Views : Views that are in memory.

    Notes
    -----
    Rows go by position: labels of rows are not read. Each shard is checked when it is first read, and what is refused
    names the shard, the row there and the column. A shard can be pickled as long as what it was made from can be, and
    read in any process.

    Rows that choose C, the number of epochs, weights of views and a linear part, and those that calibrate, are a sample
    in memory, of at most 50,000 evenly spaced rows; then all rows are used. Beside the shards, 30 to 50 bytes for each
    row are in memory, and the targets.

    Examples
    --------
    >>> from harmonium import Harmonium, Shards, Stochastic
    >>> rng = np.random.default_rng(0)
    >>> words = (rng.random((300, 12)) < 0.3).astype(np.float32)
    >>> shards = Shards([words[:100], words[100:200], words[200:]])
    >>> shards
    Shards(3 shards, 300 rows)
    >>> model = Harmonium(3, driver=Stochastic(max_iter=2), random_state=0).fit(shards)
    >>> model.transform(shards).shape
    (300, 3)
    """

    def __init__(
        self,
        blocks: Sequence[Any] | Iterable[Any] | Callable[[], Iterable[Any]],
        y: Sequence[Any] | None = None,
        *,
        pairs: bool = False,
        lengths: Sequence[int] | None = None,
    ) -> None:
        if isinstance(blocks, np.ndarray | Mapping | str | bytes) or is_frame(blocks):
            raise TypeError(
                f"Shards needs a list of blocks; got one {type(blocks).__name__}; pass a list, or use one of the "
                "constructors, such as Shards.from_files."
            )
        if not isinstance(blocks, Sequence) or pairs:
            reopened = Reopened(blocks, pairs)
            if y is not None:
                raise TypeError("An iterable of blocks brings its own y; got y beside it; pass pairs=True.")
            counted = sum(1 for _ in reopened) if lengths is None else len(lengths)
            sizes: list[int | None] = [None] * counted if lengths is None else list(lengths)
            self._shards: list[Shard] = [
                ReopenedShard(f"block {number}", size, None, reopened, number) for number, size in enumerate(sizes)
            ]
        else:
            targets = [None] * len(blocks) if y is None else list(y)
            sizes = [None if callable(block) else _n_rows(block) for block in blocks]
            sizes = sizes if lengths is None else list(lengths)
            if not len(blocks) == len(targets) == len(sizes):
                raise InvalidViewError(
                    f"There must be a y and a length for each of the {len(blocks)} blocks; got {len(targets)} and "
                    f"{len(sizes)}; pass as many."
                )
            self._shards = [
                HeldShard(f"block {number}", size, target, block)
                for number, (block, target, size) in enumerate(zip(blocks, targets, sizes, strict=True))
            ]
        self._check()

    def _check(self) -> None:
        if not self._shards:
            raise InvalidViewError("Shards must have at least one block; got none; pass the blocks to work on.")

    @classmethod
    def _of(cls, shards: list[Shard]) -> Shards:
        result = cls.__new__(cls)
        result._shards = shards
        result._check()
        return result

    # ---- where shards come from ----------------------------------------------------------------------------------
    @classmethod
    def from_files(cls, files: Files | Mapping[str, Files], y: Files | None = None) -> Shards:
        """Return a shard for each file of NumPy or SciPy.

        Parameters
        ----------
        files : list of paths or pattern, or dict of them by view
            Files such as ``"parts/*.npy"``, sorted by name: ``.npy`` is mapped into memory, ``.npz`` is SciPy's format
            of sparse matrices, which is read as a whole. A folder with data.npy, indices.npy, indptr.npy and shape.npy
            holds sparse rows that are mapped into memory; `store` writes such folders.
        y : list of paths or pattern, optional
            Files with the targets of each shard, in ``.npy``.

        Returns
        -------
        Shards
            The shards.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for number in range(3):
        ...     np.save(f"{folder}/{number}.npy", np.ones((10, 4)))
        >>> Shards.from_files(f"{folder}/*.npy")
        Shards(3 shards, 30 rows)
        """
        return cls._of(file_shards(files, y))

    @classmethod
    def from_parquet(
        cls,
        folder: str | os.PathLike[str],
        views: Mapping[str, Any] | None = None,
        y: str | list[str] | None = None,
        *,
        read: Any = None,
        rows: int | None = None,
    ) -> Shards:
        """Return a shard for each file of a Parquet folder.

        Parameters
        ----------
        folder : path
            A folder of Parquet files, or one file.
        views : mapping of str to list of str or Tokens, optional
            Columns of numbers that make up a view, or `Tokens` for texts that are stored as lists of tokens. Default:
            all columns, as one frame of numbers.
        y : str or list of str, optional
            Columns that hold the targets; they are no part of X.
        read : TableViews, optional
            A fitted table transformer, which reads texts, categories and dates as it has learned to.
        rows : int, optional
            Largest number of rows of a shard: files with more are cut between their row groups.

        Returns
        -------
        Shards
            The shards.

        See Also
        --------
        sample : Rows to fit a table transformer on.
        """
        shards = cls._of(parquet_shards(folder, views, y, rows))
        return shards if read is None else shards.map(read.transform)

    @classmethod
    def stored(cls, blocks: Iterable[Views], folder: str | os.PathLike[str]) -> Shards:
        """Return shards of views that are written to a folder, one after the other.

        Unlike those of `store`, views may lack rows, be sequences, and keep the names of their columns.

        Parameters
        ----------
        blocks : iterable of Views
            Views of some rows at a time, such as a `TableViews` makes of parts of a table.
        folder : path
            Where to write; made if it is not there.

        Returns
        -------
        Shards
            A shard for each block, read from the folder.

        Examples
        --------
        >>> import tempfile
        >>> words = np.eye(3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     shards = Shards.stored((Views({"words": words[rows]}) for rows in (slice(2), slice(2, 3))), folder)
        ...     shards, shards.sample(2)
        (Shards(2 shards, 3 rows), Views(2 items; words: 3 dense columns))
        """
        return cls._of(store_views(blocks, folder))

    @classmethod
    def from_anndata(
        cls,
        data: Any,
        layers: Sequence[str] = ("X",),
        obsm: Sequence[str] = (),
        obs: Sequence[str] = (),
        y: str | list[str] | None = None,
        *,
        rows: int = 10_000,
    ) -> Shards:
        """Return shards of AnnData that stay on disk.

        Parameters
        ----------
        data : path or anndata.AnnData
            An ``.h5ad`` file, a zarr store, or AnnData backed by a file.
        layers, obsm, obs : sequence of str
            What makes up the views, as for `Views.from_anndata`.
        y : str or list of str, optional
            Columns of ``obs`` that hold the targets.
        rows : int, default=10_000
            Number of observations of a shard.

        Returns
        -------
        Shards
            The shards.
        """
        return cls._of(cell_shards(data, layers, obsm, obs, y, rows))

    @classmethod
    def from_dask(cls, data: Any, y: Any = None) -> Shards:
        """Return a shard for each partition of dask collections.

        Parameters
        ----------
        data : dask array or frame, or mapping of str to them
            Rows of one matrix, or of several views; chunks of arrays must hold whole rows.
        y : dask array, series or frame, optional
            Targets, with the same partitions.

        Returns
        -------
        Shards
            The shards, which are computed when they are read.
        """
        return cls._of(lazy_shards(data, y))

    # ---- what they hold ------------------------------------------------------------------------------------------
    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self._shards)

    @property
    def is_lazy(self) -> bool:
        """Whether the shards are partitions of dask collections."""
        return all(shard.lazy for shard in self._shards)

    def __len__(self) -> int:
        if any(shard.n_rows is None for shard in self._shards):
            lengths = self.views().lengths
            self._shards = [replace(shard, n_rows=int(n)) for shard, n in zip(self._shards, lengths, strict=True)]
        return sum(shard.n_rows or 0 for shard in self._shards)

    def __repr__(self) -> str:
        known = [shard.n_rows for shard in self._shards if shard.n_rows is not None]
        rows = f"{sum(known)} rows" if len(known) == len(self._shards) else "rows not counted yet"
        return f"Shards({len(self._shards)} shards, {rows})"

    def __getitem__(self, rows: Any) -> Any:
        raise TypeError(
            "Shards are not cut by single rows, as in cross-validation; got an index; take whole shards with take, or "
            "rows in memory with sample."
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Shards are no array in memory, which is what was asked for; got Shards; pass them to an estimator of "
            "harmonium, or take rows with sample."
        )

    def take(self, numbers: Any) -> Shards:
        """Return some of the shards.

        Parameters
        ----------
        numbers : slice, or sequence of int
            Which shards, in which order: for example the last ones to test a model by.

        Returns
        -------
        Shards
            These shards.

        Examples
        --------
        >>> Shards([np.ones((2, 1)), np.ones((3, 1)), np.ones((4, 1))]).take(slice(0, 2))
        Shards(2 shards, 5 rows)
        """
        if isinstance(numbers, slice):
            return Shards._of(self._shards[numbers])
        return Shards._of([self._shards[int(number)] for number in numbers])

    def map(self, function: Callable[[Any], Any]) -> Shards:
        """Return shards whose blocks a function has changed, when they are read.

        Parameters
        ----------
        function : callable
            Takes a block and returns one with the same rows, such as the ``transform`` of a vectoriser. To be used by
            other processes, it must be one that can be pickled.

        Returns
        -------
        Shards
            The shards; targets stay as they are.
        """
        return Shards._of([MappedShard(shard.place, shard.n_rows, None, shard, function) for shard in self._shards])

    def targets(self) -> Any:
        """Return the targets of all rows, in memory.

        Returns
        -------
        ndarray, Series or DataFrame, or None
            The targets of one shard after the other; None if shards have none.
        """
        parts = [shard.targets() for shard in self._shards]
        if all(part is None for part in parts):
            return None
        if any(part is None for part in parts):
            number = next(i for i, part in enumerate(parts) if part is None)
            raise ValueError(
                f"All shards must have targets, or none; shard {number} ({self._shards[number].place}) has none; pass "
                "NaN where they are unknown."
            )
        if all(isinstance(part, pd.Series | pd.DataFrame) for part in parts):
            return pd.concat(parts, ignore_index=True)
        return np.concatenate([np.asarray(part) for part in parts])

    def with_target(self, names: str | list[str]) -> Shards:
        """Return shards with some columns of their tables as targets.

        Parameters
        ----------
        names : str or list of str
            Columns, which X then goes without.

        Returns
        -------
        Shards
            The shards.
        """
        return Shards._of([shard.with_target(names) for shard in self._shards])

    def map_blocks(self, function: Callable[[Any], np.ndarray], like: np.ndarray) -> Any:
        """Return a lazy dask array of what a function makes of each block.

        Parameters
        ----------
        function : callable
            Takes a block and returns an array with as many rows.
        like : ndarray
            What it returns for some rows, of which type and number of columns are taken.

        Returns
        -------
        dask.array.Array
            A chunk for each shard; its number of rows is NaN where it is not known.
        """
        array, dask = require("dask.array", "A lazy result"), require("dask", "A lazy result")
        call = dask.delayed(operator.call, pure=False)
        held = dask.delayed(function, traverse=False)
        chunks = [
            array.from_delayed(
                call(held, shard.delayed()),
                shape=(np.nan if shard.n_rows is None else shard.n_rows, *like.shape[1:]),
                meta=like[:0],
            )
            for shard in self._shards
        ]
        return array.concatenate(chunks, allow_unknown_chunksizes=True)

    def first(self, read: Callable[[Any], Any] = lambda block: block) -> Any:
        """Return the first block as it was read.

        Parameters
        ----------
        read : callable, optional
            What to do with it; what that refuses is refused in the name of the shard.

        Returns
        -------
        object
            Anything that estimators take as X, or what ``read`` makes of it.
        """
        with named(name_of_shard(0, self._shards[0])):
            return read(self._shards[0].read())

    def views(self, conversion: Callable[[Any], Views] = Conversion()) -> ShardedViews:  # noqa: B008  (it is frozen)
        """Return the shards as views.

        Parameters
        ----------
        conversion : callable
            Makes views of a block.

        Returns
        -------
        Views
            The views, whose rows stay where they are.
        """
        return ShardedViews(Reader(self._shards, conversion))

    def sample(self, n_rows: int = 10_000) -> Any:
        """Return evenly spaced rows, in memory.

        They serve reports, and table transformers that are to be fitted.

        Parameters
        ----------
        n_rows : int, default=10_000
            Number of rows, at most.

        Returns
        -------
        Views or pandas.DataFrame
            The rows; a frame if the blocks are pandas frames.

        Examples
        --------
        >>> Shards([np.zeros((50, 2)), np.ones((50, 2))]).sample(10)
        Views(10 items; view0: 2 dense columns)
        """
        if not isinstance(self.first(), pd.DataFrame):
            return self.views().spread_sample(n_rows)[0]
        chosen = np.linspace(0, len(self) - 1, min(n_rows, len(self))).astype(np.int64)
        parts, start = [], 0
        for shard in self._shards:
            assert shard.n_rows is not None
            inside = chosen[(chosen >= start) & (chosen < start + shard.n_rows)] - start
            if len(inside):
                parts.append(shard.read().iloc[inside])
            start += shard.n_rows
        return pd.concat(parts, ignore_index=True)

    def store(self, folder: str | os.PathLike[str]) -> Shards:
        """Write the views of each shard to a folder.

        The form is one that is mapped into memory when it is read.

        Parameters
        ----------
        folder : path
            Where to write; made if it is not there. Names of columns are not kept.

        Returns
        -------
        Shards
            The shards in the folder, which are faster to read than text or compressed files.

        Examples
        --------
        >>> import tempfile
        >>> Shards([np.ones((20, 3)), np.ones((30, 3))]).store(tempfile.mkdtemp())
        Shards(2 shards, 50 rows)
        """
        os.makedirs(folder, exist_ok=True)
        files: dict[str, list[str]] = {}
        for number, shard in enumerate(self._shards):
            views = Conversion()(shard.read())
            for name in views.names:
                source = views.source(name)
                if source.lacks_rows or source.lengths is not None:
                    raise InvalidViewError(
                        f"Views that are stored must have all rows, and be matrices; {name!r} of shard {number} "
                        f"({shard.place}) is not; leave it as it is."
                    )
                path = os.path.join(folder, f"{number:05d}.{name}")
                files.setdefault(name, []).append(write_matrix(path, source.matrix))
        targets = self.targets_by_shard()
        stored = file_shards(files, None)
        return Shards._of([replace(shard, y=target) for shard, target in zip(stored, targets, strict=True)])

    def targets_by_shard(self) -> list[Any]:
        """Return the targets of each shard.

        Returns
        -------
        list
            Targets, None where there are none.
        """
        return [shard.targets() for shard in self._shards]


def as_shards(X: Any) -> Shards | None:
    """Return shards, or dask collections as shards; None for everything else."""
    if isinstance(X, Shards):
        return X
    collections = list(X.values()) if isinstance(X, Mapping) else [X]
    return Shards.from_dask(X) if collections and all(map(is_dask, collections)) else None


def _n_rows(block: Any) -> int | None:
    """Return the number of rows of a block in memory, if it says so."""
    if isinstance(block, Mapping):
        return next((_n_rows(view) for view in block.values() if view is not None), None)
    shape = getattr(block, "shape", None)
    return int(shape[0]) if shape else len(block) if isinstance(block, Views) else None
