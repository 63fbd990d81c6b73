"""`Views`: several views of the same items in one object that scikit-learn can slice by rows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.batch import Batch
from harmonium.core.notices import notice
from harmonium.core.validation import few, few_of, named
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.kernels.sparse.validation import check_real_dtype, checked_csr
from harmonium.views.annotated import (
    annotated_parts,
    has_modalities,
    in_memory,
    is_annotated,
    matrix_of,
    names_of_observations,
    names_of_variables,
)
from harmonium.views.feature_names import checked_names
from harmonium.views.frames import as_frame
from harmonium.views.index import counts_rows, is_shuffled_count, row_names, rows_in_order
from harmonium.views.places import cell_place, row_place
from harmonium.views.sequences import Sequences
from harmonium.views.sources.dense import dense_numbers, object_numbers
from harmonium.views.sources.source import Source
from harmonium.views.sources.zeros import sparse_rows_of

# a sparse matrix with a larger share of stored cells takes more memory than a dense one, whatever its type
_DENSE_FROM = 2 / 3
# results are computed in single precision, which squares must not overflow: it holds numbers up to 3e38
_LARGEST = 1e18
# Rows, and cells that are stored of them, that are read together and then cut into batches: for small batches, reading
# takes longer than cutting. They decide about memory, a few megabytes, and speed alone.
_ROWS_AHEAD, _CELLS_AHEAD = 1000, 2**18


class Views:
    """Several views of the same items, by name.

    Estimators take a dict or list of views as well, but the cross-validation of scikit-learn, which would count the
    views in place of the rows, needs them as `Views`: ``cross_val_score(model, Views(X), y)``. Slices of rows share the
    data.

    Parameters
    ----------
    views : mapping of str to matrix, or sequence of matrices
        Views by name, with one row per item: dense or SciPy sparse matrices, data frames or `Sequences`. The views of a
        sequence are called view0, view1 and so on. A row of nothing but NaN, or a cell that is NaN, is missing. Views
        that are None are left out. A series is a view of one column, and AnnData one of its X.
    present : mapping of str to array of bool, optional
        Which items have a view, by name: for sparse views, where rows of NaN are not practical.
    feature_names : mapping of str to sequence of str or fitted vectoriser, optional
        Names of the columns of a view, by name: a list, or what made the columns and has ``get_feature_names_out``.
        Data frames bring their own.
    index : sequence, optional
        Labels of the items. Default: the index of the first view that has one.

    Attributes
    ----------
    index : pandas.Index or None
        Labels of the items, None if they have none.

    See Also
    --------
    Sequences : A view whose items are ordered.
    Columns : Columns of one matrix that make up a view.

    Notes
    -----
    Rows go by labels where views have them: the index of pandas frames, and the names of the observations of AnnData.
    The same labels in another order are put in the order of the first view that has labels; other labels are refused.
    An index that counts 0, 1, 2, … holds no labels, and views without labels go by position.

    Examples
    --------
    >>> import numpy as np
    >>> both = Views({"words": np.eye(3), "colour": np.ones((3, 2))})
    >>> len(both), both.shape, both[np.array([0, 2])].shape
    (3, (3, 5), (2, 5))

    Counts of words do not know the words, but the vectoriser that made them does:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> counts = vectorizer.fit_transform(["sea and sky", "sky and rain"])
    >>> Views({"words": counts}, feature_names={"words": vectorizer}).source("words").columns
    ['and', 'rain', 'sea', 'sky']
    """

    #: the table that the views were read from, if they were (`harmonium.tables.Table`)
    table: Any = None

    def __init__(
        self,
        views: Mapping[str, Any] | Sequence[Any],
        present: Mapping[str, Any] | None = None,
        feature_names: Mapping[str, Any] | None = None,
        index: Any = None,
    ) -> None:
        if not isinstance(views, Mapping | list | tuple):
            raise TypeError(
                f"Views needs a mapping of name → matrix or a list of matrices; got {type(views).__name__}; "
                "put the matrix in a dict."
            )
        named = dict(views) if isinstance(views, Mapping) else {f"view{i}": view for i, view in enumerate(views)}
        if len({str(name) for name in named}) < len(named):
            raise InvalidViewError(f"Names of views must differ as text; got {_listed(named)}; rename one.")
        given = {str(name): view for name, view in named.items() if view is not None}
        for label, extra in (("present", present), ("feature_names", feature_names)):
            unknown = set(extra or {}) - set(given)
            if unknown:
                raise InvalidViewError(
                    f"{label} may only name views that are there ({_listed(given)}); got {_listed(unknown)}; "
                    "correct the names."
                )
        sources = {
            name: _source(name, view, (present or {}).get(name), (feature_names or {}).get(name))
            for name, view in given.items()
        }
        _check_lengths(sources)
        self._sources = _aligned(sources, None if index is None else pd.Index(index))
        _warn_of_shuffled_rows([name for name, view in given.items() if counts_rows(view)], self.index)

    @classmethod
    def _from_sources(cls, sources: dict[str, Source], table: Any = None) -> Views:
        """Return views of sources whose rows are those of the same items in the same order."""
        result = cls.__new__(cls)
        result._sources = sources
        result.table = table
        _check_lengths(sources)
        return result

    @classmethod
    def from_anndata(
        cls, data: Any, layers: Sequence[str] = ("X",), obsm: Sequence[str] = (), obs: Sequence[str] = ()
    ) -> Views:
        """Return parts of AnnData as views, each under its own key.

        Parameters
        ----------
        data : anndata.AnnData
            The data, in memory or backed by a file.
        layers : sequence of str, default=("X",)
            Keys of layers, each of which is a view. "X" is the matrix itself.
        obsm : sequence of str, default=()
            Keys of matrices of the observations, such as "protein_expression", each of which is a view.
        obs : sequence of str, default=()
            Columns of numbers that describe the observations; together they are the view "obs".

        Returns
        -------
        Views
            The views, with the names of variables and observations.

        Examples
        --------
        >>> import anndata
        >>> cells = anndata.AnnData(np.ones((3, 2)), obsm={"protein": np.eye(3)}, layers={"counts": np.ones((3, 2))})
        >>> Views.from_anndata(cells, layers=["counts"], obsm=["protein"]).names
        ['counts', 'protein']
        """
        data = in_memory(data)
        views, names = annotated_parts(data, layers, obsm, obs)
        return cls(views, feature_names=names, index=names_of_observations(data))

    def with_view(self, name: str, matrix: np.ndarray, columns: list[str] | None = None) -> Views:
        """Return these views and one more.

        Parameters
        ----------
        name : str
            Name of the new view.
        matrix : ndarray of shape (items, columns)
            Data of the new view. Rows of nothing but NaN are missing.
        columns : list of str, optional
            Names of the columns.

        Returns
        -------
        Views
            The views, which share their data with these.
        """
        rows = np.arange(len(matrix))
        rows[empty_rows(matrix)] = -1
        added = Source(matrix, rows, columns, index=self.index)
        return Views._from_sources({**self._sources, name: added}, self.table)

    def described(
        self,
        columns: Mapping[str, list[str]],
        features: Mapping[str, list[str]],
        families: Mapping[str, Family | None],
        table: Any,
        linear_only: Container[str] = (),
    ) -> Views:
        """Return these views with what the table they were read from knows of them.

        Parameters
        ----------
        columns : mapping of str to list of str
            Names of the columns of each view.
        features : mapping of str to list of str
            Names of all features of some views, where a family has several for each column.
        families : mapping of str to Family or None
            Families of the views.
        table : harmonium.tables.Table
            The table.
        linear_only : container of str, default=()
            Names of the views that are inputs of the linear part alone.

        Returns
        -------
        Views
            The views, which share their data with these.
        """
        sources = {
            name: replace(
                source,
                columns=columns.get(name),
                features=features.get(name),
                family=families.get(name),
                linear_only=name in linear_only,
            )
            for name, source in self._sources.items()
        }
        return Views._from_sources(sources, table)

    @property
    def index(self) -> pd.Index | None:
        """Labels of the items, None if they have none."""
        return next(iter(self._sources.values())).index

    @property
    def lacking(self) -> np.ndarray:
        """Mask of the items that lack every view."""
        return np.all([self._sources[name].rows < 0 for name in self.names], axis=0)

    @property
    def names(self) -> list[str]:
        """Names of the views that hidden units see."""
        return [name for name, source in self._sources.items() if not source.linear_only]

    @property
    def all_names(self) -> list[str]:
        """Names of all views, also of those that the linear part alone sees."""
        return list(self._sources)

    @property
    def linear_families(self) -> dict[str, Family]:
        """Families of the views that are inputs of the linear part alone."""
        return {
            name: source.family.restore(source.n_columns, {})
            for name, source in self._sources.items()
            if source.linear_only and source.family is not None
        }

    @property
    def shape(self) -> tuple[int, int]:
        """Number of items, and number of columns of all views."""
        return len(self), sum(source.n_columns for source in self._sources.values())

    def __len__(self) -> int:
        return next(iter(self._sources.values())).n_rows

    def __getitem__(self, rows: Any) -> Views:
        if isinstance(rows, str):
            raise TypeError(f"Views are indexed by rows; got {rows!r}; use source({rows!r}) for the data of one view.")
        if isinstance(rows, tuple):  # scikit-learn asks for X[rows, ...]
            rows = rows[0]
        rows = np.atleast_1d(np.asarray(rows)) if not isinstance(rows, slice) else rows
        return Views._from_sources({name: source.take(rows) for name, source in self._sources.items()}, self.table)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Several views are no single array, which is what was asked for; got Views; pass one matrix or data frame "
            "and tell an estimator by views= which columns make up a view."
        )

    def __iter__(self) -> Iterator[Views]:
        return (self[i] for i in range(len(self)))

    def source(self, name: str) -> Source:
        """Return the data of one view.

        Parameters
        ----------
        name : str
            Name of the view.

        Returns
        -------
        harmonium.views.sources.source.Source
            The data as they were given, and which rows are meant.
        """
        return self._sources[name]

    def is_sparse_throughout(self, name: str, family: Family) -> bool:
        """Tell whether batches of a view are sparse in all rows.

        Rows that lack the view are not, as inference fills them in.

        Parameters
        ----------
        name : str
            Name of the view, which may be none of these.
        family : Family
            Fitted family of the view.

        Returns
        -------
        bool
            True if no row becomes dense.
        """
        source = self._sources.get(name)
        return source is not None and source.is_sparse_for(family) and not source.lacks_rows

    def without(self, *names: str) -> Views:
        """Return all views but some.

        Parameters
        ----------
        *names : str
            Names of views to leave out; unknown ones are ignored.

        Returns
        -------
        Views
            The other views, which share their data with these.
        """
        kept = {name: source for name, source in self._sources.items() if name not in names}
        return Views._from_sources(kept, self.table)

    def batch(self, items: np.ndarray | slice, families: Mapping[str, Family]) -> Batch:
        """Return the statistics of some items, which models compute with.

        Parameters
        ----------
        items : ndarray of int, or slice
            Numbers of the items.
        families : mapping of str to Family
            Fitted families of all views of the model. A view that is none of these is missing for every item.

        Returns
        -------
        harmonium.core.batch.Batch
            Statistics in float32, by view; what the linear part alone sees is in its ``inputs``.
        """
        n_rows = len(self.source(self.names[0]).rows[items])
        views = {}
        for name, family in families.items():
            source = self._sources.get(name) or absent_source(len(self), family)
            views[name] = source.batch(items, family)
        inputs = {name: family for name, family in self.linear_families.items() if name not in families}
        return Batch(
            views, n_rows, inputs={name: self._sources[name].batch(items, family) for name, family in inputs.items()}
        )

    # ---- how to go over the items: views that are in shards do it shard by shard ------------------------------------
    def batches(self, pieces: Sequence[np.ndarray], families: Mapping[str, Family]) -> Iterator[Batch]:
        """Yield the statistics of some items, then of others, and so on.

        Parameters
        ----------
        pieces : sequence of ndarray of int
            Numbers of the items of each batch, all of them known before the first is read.
        families : mapping of str to Family
            Fitted families of all views of the model.

        Yields
        ------
        harmonium.core.batch.Batch
            What `batch` returns for each piece.
        """
        cells = sum(
            self._sources[name].cells_of_row(family) for name, family in families.items() if name in self._sources
        )
        most_rows = min(_ROWS_AHEAD, int(_CELLS_AHEAD / max(cells, 1.0)))
        for group in _together(pieces, most_rows):
            if len(group) == 1:
                yield self.batch(group[0], families)
                continue
            batch, first = self.batch(np.concatenate(group), families), 0
            for items in group:
                yield batch.part(first, first + len(items))
                first += len(items)

    def shuffled(self, items: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return items in an order for one epoch.

        Parameters
        ----------
        items : ndarray of int
            Numbers of the items.
        rng : numpy.random.Generator
            The only source of random numbers.

        Returns
        -------
        ndarray of int
            The same numbers, shuffled.
        """
        return rng.permutation(items)

    def in_memory(self) -> Iterable[tuple[int, Views]]:
        """Return all items in order as views that are in memory.

        Returns
        -------
        iterable of (int, Views)
            The number of the first item, and these views themselves; or one part after the other.
        """
        return [(0, self)]

    def when_read(self, check: Callable[[Views, str], None]) -> Views:
        """Return views that are checked when they are first read.

        Views in memory are read already, and checked at once.

        Parameters
        ----------
        check : callable
            Refuses views that are not as they should be; it is also told where they come from, if not from memory.

        Returns
        -------
        Views
            Views to go on with.
        """
        check(self, "")
        return self

    def partition(self, items: np.ndarray, n_parts: int) -> list[tuple[np.ndarray, Views]]:
        """Return some items in parts that can be sent to other processes one by one.

        Parameters
        ----------
        items : ndarray of int
            Numbers of the items, which rise.
        n_parts : int
            Number of parts; views that are in shards have a part for each shard.

        Returns
        -------
        list of (ndarray of int, Views)
            Numbers of the items of each part, and their views.
        """
        parts = np.array_split(items, min(n_parts, len(items)))
        return [(part, self[part].copied()) for part in parts]

    def copied(self) -> Views:
        """Return copies of these items without the matrices they are rows of.

        Returns
        -------
        Views
            Copies of the rows.
        """
        sources = {name: source.copied() for name, source in self._sources.items()}
        return Views._from_sources(sources, self.table)

    def close(self) -> None:
        """Let go of what was read from elsewhere, and would be read again."""

    def place(self, item: int) -> str:
        """Return an item in words, for messages.

        Parameters
        ----------
        item : int
            Number of the item.

        Returns
        -------
        str
            Such as "row 3".
        """
        return row_place(item, self.index)

    def spread_sample(self, n_rows: int) -> tuple[Views, np.ndarray | None]:
        """Return as many items as fit into memory, to choose settings by.

        Parameters
        ----------
        n_rows : int
            Number of items, at most, of views that are in shards.

        Returns
        -------
        views : Views
            These views themselves, or evenly spaced items of those that are in shards.
        items : ndarray of int, or None
            Numbers of the items; None for all.
        """
        return self, None

    def __repr__(self) -> str:
        parts = [f"{name}: {source.n_columns} {source.kind} columns" for name, source in self._sources.items()]
        return f"Views({len(self)} items; {', '.join(parts)})"


def _together(pieces: Sequence[np.ndarray], most_rows: int) -> Iterator[list[np.ndarray]]:
    """Yield pieces in groups of some rows at most; a piece that has more is a group of its own."""
    group: list[np.ndarray] = []
    n_rows = 0
    for items in pieces:
        if group and n_rows + len(items) > most_rows:
            yield group
            group, n_rows = [], 0
        group.append(items)
        n_rows += len(items)
    if group:
        yield group


def absent_source(n_rows: int, family: Family) -> Source:
    """Return the data of a view that no item has."""
    return Source(np.zeros((1, family.codec.n_columns), dtype=np.float32), np.full(n_rows, -1))


def _listed(names: Any) -> str:
    return few_of(sorted(map(str, names)))


def _source(name: str, view: Any, present: Any, feature_names: Any) -> Source:
    if isinstance(view, Source):
        return view
    lengths = None
    if isinstance(view, Sequences):
        matrix, columns, lengths, index = view.counts, view.feature_names, view.lengths, None
    else:
        matrix, columns, index = as_matrix(name, view)
    if feature_names is not None:
        n_columns = view.shape[1] if lengths is not None else matrix.shape[1]
        columns = checked_names(f"View {name!r}", feature_names, n_columns)
    rows = np.arange(matrix.shape[0])
    if present is not None:
        mask = np.asarray(present)
        if mask.dtype != bool or mask.shape != rows.shape:
            raise InvalidViewError(
                f"present[{name!r}] must be a boolean mask with one entry per item, {len(rows)}; got shape "
                f"{mask.shape} of {mask.dtype}; pass True where the item has the view."
            )
        if row_names(present) is not None and index is None:
            raise InvalidViewError(
                f"present[{name!r}] has labels of rows, and the view has none; got a mask whose order cannot be told; "
                "pass it as an array, in the order of the rows."
            )
        in_order = rows_in_order(f"present[{name!r}]", row_names(present), f"view {name!r}", index, InvalidViewError)
        rows = np.where(mask if in_order is None else mask[in_order], rows, -1)
    rows[empty_rows(matrix) if lengths is None else lengths == 0] = -1
    return Source(matrix, rows, columns, lengths, index, nonzeros=sparse_rows_of(matrix))


def _aligned(sources: dict[str, Source], index: pd.Index | None) -> dict[str, Source]:
    """Return sources whose items follow the index, or that of the first source that has one."""
    owner = "index="
    if index is None:
        labelled = [(name, source.index) for name, source in sources.items() if source.index is not None]
        if not labelled:
            return sources
        owner, index = f"view {labelled[0][0]!r}", labelled[0][1]
    n_rows = next(iter(sources.values())).n_rows
    if len(index) != n_rows:
        raise InvalidViewError(f"index must have a label for each of the {n_rows} rows; got {len(index)}; pass all.")
    aligned = {}
    for name, source in sources.items():
        rows = rows_in_order(f"View {name!r}", source.index, owner, index, InvalidViewError)
        aligned[name] = replace(source if rows is None else source.take(rows), index=index)
    return aligned


def _warn_of_shuffled_rows(counting: list[str], index: pd.Index | None) -> None:
    """Warn of frames that go by position beside others with the same numbers as labels, in another order."""
    if counting and index is not None and is_shuffled_count(index):
        notice(
            f"View {counting[0]!r} has no labels but an index that counts its rows, and goes by position, while other "
            "views have the same numbers in another order; sort their index if rows of the same number belong together."
        )


def empty_rows(matrix: np.ndarray | scipy.sparse.csr_array) -> np.ndarray:
    """Return the numbers of the rows of a dense matrix that are all NaN."""
    if scipy.sparse.issparse(matrix) or not np.issubdtype(matrix.dtype, np.floating):
        return np.arange(0)
    # looking at the first column is enough to rule nearly all rows out
    suspects = np.flatnonzero(np.isnan(matrix[:, 0]))
    return suspects[np.isnan(matrix[suspects]).all(axis=1)]


def as_matrix(name: str, view: Any) -> tuple[np.ndarray | scipy.sparse.csr_array, list[str] | None, pd.Index | None]:
    """Return a dense or CSR matrix of numbers, and names of its columns and rows if the input has them.

    Anything else is refused.
    """
    columns: list[str] | None = None
    frame = as_frame(name, view)
    index = row_names(view if frame is None else frame)
    if frame is not None:
        columns = [str(column) for column in frame.columns]
        view = _frame_values(name, frame)
    elif has_modalities(view):
        raise InvalidViewError(
            f"View {name!r} must be one matrix; got MuData, which holds several; pass one of its modalities, such as "
            f"mdata[{next(iter(view.mod), 'rna')!r}], or MuData alone as X."
        )
    elif is_annotated(view):
        columns, view = names_of_variables(view), matrix_of(view)
    matrix = _canonical(name, view) if scipy.sparse.issparse(view) else dense_numbers(name, view)
    if matrix.ndim != 2:
        raise InvalidViewError(
            f"View {name!r} must be a matrix with one row per item; got an array of shape {matrix.shape}; "
            "use reshape(-1, 1) for a single column."
        )
    check_real_dtype(f"View {name!r}", matrix.dtype)
    if matrix.shape[1] == 0:
        raise InvalidViewError(f"View {name!r} must have at least one column; got shape {matrix.shape}; leave it out.")
    _check_finite(name, matrix, columns, index)
    return matrix, columns, index


def is_matrix(frame: nw.DataFrame) -> bool:
    """Tell whether all columns of a frame are numbers or truth values."""
    plain = (dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
    return _has_sparse_columns(frame) or all(plain)


def check_frame(name: str, frame: nw.DataFrame) -> None:
    """Refuse columns that are not numbers; objects, which may be some, are looked at when they are read.

    A column without any value has no telling type.
    """
    if is_matrix(frame):
        return
    for column in frame.iter_columns():
        dtype = column.dtype
        # types that the library of the frame alone knows, such as long double, may be numbers as well
        is_one = dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown)
        if not (is_one or column.is_null().all()):
            raise InvalidViewError(
                f"View {name!r} must have numeric columns; column {str(column.name)!r} is {dtype}; "
                "pass the frame by itself, which reads it as a table, or read it with TableViews."
            )


def _has_sparse_columns(frame: nw.DataFrame) -> bool:
    native = frame.to_native()
    return isinstance(native, pd.DataFrame) and all(isinstance(dtype, pd.SparseDtype) for dtype in native.dtypes)


def _frame_values(name: str, frame: nw.DataFrame) -> Any:
    check_frame(name, frame)
    if not frame.columns:
        return np.empty((len(frame), 0))
    if _has_sparse_columns(frame):
        return _sparse_values(frame.to_native())
    # single precision is kept; nulls of any other type need a float to become NaN
    dtype = nw.Float32() if all(kind == nw.Float32 for kind in frame.schema.values()) else nw.Float64()
    return np.column_stack([_column_values(name, column, dtype) for column in frame.iter_columns()])


def _sparse_values(table: pd.DataFrame) -> Any:
    """Return a sparse matrix of columns that leave out zeros, and a dense one of those that leave out anything else."""
    if all(dtype.fill_value == 0 for dtype in table.dtypes):
        return table.sparse.to_coo()
    return np.column_stack([np.asarray(column) for _, column in table.items()])


def _column_values(name: str, column: nw.Series, dtype: nw.dtypes.DType) -> np.ndarray:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return column.cast(dtype).to_numpy()
    objects = np.empty((len(column), 1), dtype=object)
    objects[:, 0] = column.to_list()
    return object_numbers(name, objects, [str(column.name)], row_names(column))[:, 0]


def _canonical(name: str, view: Any) -> np.ndarray | scipy.sparse.csr_array:
    if view.ndim != 2:
        return np.empty(view.shape)  # refused for its shape
    matrix = checked_csr(f"View {name!r}", view)
    cells = matrix.shape[0] * matrix.shape[1]
    if cells and matrix.nnz > _DENSE_FROM * cells:
        return matrix.toarray()
    return matrix


def _check_finite(
    name: str, matrix: np.ndarray | scipy.sparse.csr_array, columns: list[str] | None, index: pd.Index | None
) -> None:
    if not np.issubdtype(matrix.dtype, np.floating):
        return
    if scipy.sparse.issparse(matrix):
        values = np.asarray(matrix.data)
        blocks = range(0, len(values), 4_000_000)
        # comparisons with NaN are false
        if not all((np.abs(values[first : first + 4_000_000]) <= _LARGEST).all() for first in blocks):
            raise InvalidViewError(
                f"View {name!r} is sparse and must hold finite values up to {_LARGEST:g}; found NaN, infinity or "
                "larger ones; mark missing rows with Views(..., present=...), or pass a dense array for missing cells."
            )
        return
    step = max(1, 4_000_000 // matrix.shape[1])
    for first in range(0, len(matrix), step):
        outside = np.abs(matrix[first : first + step]) > _LARGEST
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise InvalidViewError(
                f"View {name!r} must hold finite values up to {_LARGEST:g} (NaN marks a missing one); found "
                f"{matrix[first + row, column]:g} at {cell_place(first + int(row), int(column), columns, index)}; "
                "replace it or drop the row."
            )


def _check_lengths(sources: dict[str, Source]) -> None:
    if not sources:
        raise InvalidViewError("At least one view is needed; got none; pass a dict of name → matrix.")
    lengths = {name: source.n_rows for name, source in sources.items()}
    if len(set(lengths.values())) > 1:
        shown = few(f"{named(name)} has {length}" for name, length in lengths.items())
        raise InvalidViewError(
            f"All views must have one row per item, in the same order; {shown}; "
            "fill rows that lack a view with NaN, or mark them with Views(..., present=...)."
        )
