"""`Views`: several views of the same items in one object that scikit-learn can slice by rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from narwhals.exceptions import DuplicateError

from harmonium.batch import Batch
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.kernels.compressed import check_real, compressed_rows
from harmonium.views.sequences import Sequences
from harmonium.views.source import Source

# a sparse matrix with a larger share of stored cells takes more memory than a dense one, whatever its type
_DENSE_FROM = 2 / 3
# results are computed in single precision, which squares must not overflow: it holds numbers up to 3e38
_LARGEST = 1e18


class Views:
    """Several views of the same items, by name.

    Slices of rows share the data, so the cross-validation of scikit-learn works as usual.

    Parameters
    ----------
    views : mapping of str to matrix, or sequence of matrices
        Views by name, with one row per item: dense or SciPy sparse matrices, data frames or `Sequences`. The views of a
        sequence are called view0, view1 and so on. A row of nothing but NaN, or a cell that is NaN, is missing. Views
        that are None are left out.
    present : mapping of str to array of bool, optional
        Which items have a view, by name: for sparse views, where rows of NaN are not practical.
    feature_names : mapping of str to sequence of str, optional
        Names of the columns of a view, by name. Data frames bring their own.

    See Also
    --------
    Sequences : A view whose items are ordered.
    Columns : Columns of one matrix that make up a view.

    Examples
    --------
    >>> import numpy as np
    >>> both = Views({"words": np.eye(3), "colour": np.ones((3, 2))})
    >>> len(both), both.shape, both[np.array([0, 2])].shape
    (3, (3, 5), (2, 5))
    """

    def __init__(
        self,
        views: Mapping[str, Any] | Sequence[Any],
        present: Mapping[str, Any] | None = None,
        feature_names: Mapping[str, Sequence[str]] | None = None,
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
        self._sources = {
            name: _source(name, view, (present or {}).get(name), (feature_names or {}).get(name))
            for name, view in given.items()
        }
        _check_lengths(self._sources)

    @classmethod
    def _from_sources(cls, sources: dict[str, Source]) -> Views:
        result = cls.__new__(cls)
        result._sources = sources
        _check_lengths(sources)
        return result

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
        return Views._from_sources({**self._sources, name: Source(matrix, rows, columns)})

    @property
    def names(self) -> list[str]:
        """Names of the views."""
        return list(self._sources)

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
        return Views._from_sources({name: source.take(rows) for name, source in self._sources.items()})

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
        harmonium.views.source.Source
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
        return Views._from_sources({name: source for name, source in self._sources.items() if name not in names})

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
        harmonium.batch.Batch
            Statistics in float32, by view.
        """
        n_rows = len(self.source(self.names[0]).rows[items])
        views = {}
        for name, family in families.items():
            source = self._sources.get(name) or absent_source(len(self), family)
            views[name] = source.batch(items, family)
        return Batch(views, n_rows)

    def __repr__(self) -> str:
        parts = [f"{name}: {source.n_columns} {source.kind} columns" for name, source in self._sources.items()]
        return f"Views({len(self)} items; {', '.join(parts)})"


def absent_source(n_rows: int, family: Family) -> Source:
    """Return the data of a view that no item has."""
    return Source(np.zeros((1, family.n_columns), dtype=np.float32), np.full(n_rows, -1))


def _listed(names: Any) -> str:
    return ", ".join(repr(str(name)) for name in sorted(names, key=str)) or "none"


def _source(name: str, view: Any, present: Any, feature_names: Any) -> Source:
    if isinstance(view, Source):
        return view
    lengths = None
    if isinstance(view, Sequences):
        matrix, columns, lengths = view.counts, view.feature_names, view.lengths
    else:
        matrix, columns = as_matrix(name, view)
    if feature_names is not None:
        columns = [str(column) for column in feature_names]
        n_columns = view.shape[1] if isinstance(view, Sequences) else matrix.shape[1]
        if len(columns) != n_columns:
            raise InvalidViewError(
                f"View {name!r} needs one feature name per column, {n_columns}; got {len(columns)}; "
                "pass the names in the order of the columns."
            )
    rows = np.arange(matrix.shape[0])
    if present is not None:
        mask = np.asarray(present)
        if mask.dtype != bool or mask.shape != rows.shape:
            raise InvalidViewError(
                f"present[{name!r}] must be a boolean mask with one entry per item, {len(rows)}; got shape "
                f"{mask.shape} of {mask.dtype}; pass True where the item has the view."
            )
        rows = np.where(mask, rows, -1)
    rows[empty_rows(matrix) if lengths is None else lengths == 0] = -1
    return Source(matrix, rows, columns, lengths)


def empty_rows(matrix: np.ndarray | scipy.sparse.csr_array) -> np.ndarray:
    """Return the numbers of the rows of a dense matrix that are all NaN."""
    if scipy.sparse.issparse(matrix) or not np.issubdtype(matrix.dtype, np.floating):
        return np.arange(0)
    # looking at the first column is enough to rule nearly all rows out
    suspects = np.flatnonzero(np.isnan(matrix[:, 0]))
    return suspects[np.isnan(matrix[suspects]).all(axis=1)]


def as_matrix(name: str, view: Any) -> tuple[np.ndarray | scipy.sparse.csr_array, list[str] | None]:
    """Return a dense or CSR matrix of numbers, and column names if the input has them; refuse anything else."""
    columns: list[str] | None = None
    frame = as_frame(name, view)
    if frame is not None:
        columns = [str(column) for column in frame.columns]
        view = _frame_values(name, frame)
    matrix = _canonical(name, view) if scipy.sparse.issparse(view) else _dense(name, view)
    if matrix.ndim != 2:
        raise InvalidViewError(
            f"View {name!r} must be a matrix with one row per item; got an array of shape {matrix.shape}; "
            "use reshape(-1, 1) for a single column."
        )
    check_real(f"View {name!r}", matrix.dtype)
    if matrix.shape[1] == 0:
        raise InvalidViewError(f"View {name!r} must have at least one column; got shape {matrix.shape}; leave it out.")
    _check_finite(name, matrix)
    return matrix, columns


def as_frame(name: str, view: Any) -> nw.DataFrame | None:
    """Return a data frame of any library (pandas, polars, …) as a narwhals frame; None if it is something else."""
    if isinstance(view, np.ndarray) or scipy.sparse.issparse(view):
        return None  # the common case, which is decided quickly
    try:
        frame = nw.from_native(view, eager_only=True, pass_through=True)
    except DuplicateError:
        raise InvalidViewError(
            f"View {name!r} must have columns of different names; some occur twice; rename them."
        ) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def check_frame(name: str, frame: nw.DataFrame) -> None:
    """Refuse columns that are not numbers."""
    for column, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean or _has_sparse_columns(frame)):
            raise InvalidViewError(
                f"View {name!r} must have numeric columns; column {column!r} is {dtype}; "
                "turn categories into integer codes and pass Categorical() for them as a view of their own."
            )


def _has_sparse_columns(frame: nw.DataFrame) -> bool:
    native = frame.to_native()
    return isinstance(native, pd.DataFrame) and all(isinstance(dtype, pd.SparseDtype) for dtype in native.dtypes)


def _frame_values(name: str, frame: nw.DataFrame) -> Any:
    check_frame(name, frame)
    if not frame.columns:
        return np.empty((len(frame), 0))
    if _has_sparse_columns(frame):
        return frame.to_native().sparse.to_coo()
    # single precision is kept; nulls of any other type need a float to become NaN
    dtype = nw.Float32() if all(kind == nw.Float32 for kind in frame.schema.values()) else nw.Float64()
    return np.column_stack([column.cast(dtype).to_numpy() for column in frame.iter_columns()])


def _dense(name: str, view: Any) -> np.ndarray:
    if isinstance(view, np.ma.MaskedArray):
        return np.ma.filled(view.astype(np.float64), np.nan)
    try:
        matrix = np.asarray(view)
        return matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix
    except ValueError:  # rows of different lengths
        raise InvalidViewError(
            f"View {name!r} must be a matrix with as many values in each row; got rows of different lengths; "
            "pass an array, a sparse matrix or a data frame."
        ) from None


def _canonical(name: str, view: Any) -> np.ndarray | scipy.sparse.csr_array:
    if view.ndim != 2:
        return np.empty(view.shape)  # refused for its shape
    matrix = compressed_rows(f"View {name!r}", view)
    cells = matrix.shape[0] * matrix.shape[1]
    if cells and matrix.nnz > _DENSE_FROM * cells:
        return matrix.toarray()
    return matrix


def _check_finite(name: str, matrix: np.ndarray | scipy.sparse.csr_array) -> None:
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
                f"{matrix[first + row, column]:g} at row {first + row}, column {column}; replace it or drop the row."
            )


def _check_lengths(sources: dict[str, Source]) -> None:
    if not sources:
        raise InvalidViewError("At least one view is needed; got none; pass a dict of name → matrix.")
    lengths = {name: source.n_rows for name, source in sources.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InvalidViewError(
            f"All views must have one row per item, in the same order; {shown}; "
            "fill rows that lack a view with NaN, or mark them with Views(..., present=...)."
        )
