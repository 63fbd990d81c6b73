"""The only reader of user input: from whatever was passed as X to `Views`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.views.container import Views, as_matrix
from harmonium.views.source import Source

SINGLE = "view0"


@dataclass(frozen=True)
class Columns:
    """Columns of one matrix that make up a view, and their family.

    Parameters
    ----------
    columns : slice, list of int, or list of str
        Which columns; names need a data frame.
    family : Family, optional
        Default: inferred from the data.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> Columns(slice(0, 3), Bernoulli())
    Columns(columns=slice(0, 3, None), family=Bernoulli())
    """

    columns: Any
    family: Family | None = None


def families_given(views: Any, names: Sequence[str]) -> dict[str, Family | None]:
    """Family the user asked for, by view; None = infer. ``views`` is the estimator's parameter."""
    if isinstance(views, str):
        if views != "infer":
            raise ValueError(f"views must be 'infer', a mapping or a list; got {views!r}; pass {{name: family}}.")
        return dict.fromkeys(names)
    if isinstance(views, Family):
        views = [views] * len(names)
    if not isinstance(views, Mapping):
        if len(views) != len(names):
            raise ValueError(
                f"views must name a family for each of the {len(names)} views; got {len(views)}; "
                "use 'infer' for those that should be inferred."
            )
        views = dict(zip(names, views, strict=True))
    unknown = [str(name) for name in views if str(name) not in names]
    if unknown:
        raise InvalidViewError(
            f"views may only name views of the data ({', '.join(map(repr, names))}); got {unknown[0]!r}; correct the name."
        )
    return {name: _family_of(name, views.get(name)) for name in names}


def _family_of(name: str, entry: Any) -> Family | None:
    if isinstance(entry, Columns):
        entry = entry.family
    if entry is None or isinstance(entry, Family):
        return entry
    if (isinstance(entry, str) and entry == "infer") or _is_columns(entry):
        return None
    if isinstance(entry, type) and issubclass(entry, Family):
        raise TypeError(f"views[{name!r}] must be an instance; got the class {entry.__name__}; add parentheses.")
    raise TypeError(
        f"views[{name!r}] must be a family, columns, or 'infer'; got {entry!r}; for example Bernoulli() or slice(0, 100)."
    )


def _is_columns(entry: Any) -> bool:
    return isinstance(entry, slice | range | list | tuple | np.ndarray)


def is_collection(X: Any) -> bool:
    """Whether X already consists of several views (as opposed to one matrix)."""
    if isinstance(X, Views | Mapping) or hasattr(X, "mod") or hasattr(X, "obsm"):
        return True
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_two_dimensional(view) for view in X)


def _is_two_dimensional(view: Any) -> bool:
    if view is None or scipy.sparse.issparse(view):
        return True
    frame = nw.from_native(view, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) or getattr(view, "ndim", 0) == 2


def read_collection(X: Any) -> Views:
    """Views from a dict, a list, `Views`, AnnData (its X and numeric obsm) or MuData (a view per modality)."""
    if isinstance(X, Views):
        return X
    if isinstance(X, Mapping | list | tuple):
        return Views(X)
    if hasattr(X, "mod"):
        return _read_mudata(X)
    return Views({"X": X.X}, feature_names={"X": [str(name) for name in X.var_names]})


def _read_mudata(data: Any) -> Views:
    """Each modality is a view; a row that a modality lacks is missing there."""
    sources = {}
    position = {name: row for row, name in enumerate(data.obs_names)}
    for name, modality in data.mod.items():
        matrix, _ = as_matrix(name, modality.X)
        rows = np.full(data.n_obs, -1)
        rows[[position[observation] for observation in modality.obs_names]] = np.arange(modality.n_obs)
        if not scipy.sparse.issparse(matrix) and np.issubdtype(matrix.dtype, np.floating):
            lost = np.isnan(matrix).all(axis=1)
            rows[(rows >= 0) & lost[rows]] = -1
        sources[name] = Source(matrix, rows, [str(column) for column in modality.var_names])
    return Views._from_sources(sources)


def split_columns(matrix: Any, column_names: Sequence[str] | None, views: Any) -> Views:
    """One checked matrix as views: by the columns given in ``views``, or as a single view."""
    entries = views.items() if isinstance(views, Mapping) else []
    selections = {
        str(name): entry.columns if isinstance(entry, Columns) else entry
        for name, entry in entries
        if isinstance(entry, Columns) or _is_columns(entry)
    }
    n_columns = matrix.shape[1]
    if not selections:
        name = next((str(name) for name, _ in entries), SINGLE)
        return Views({name: matrix}, feature_names=None if column_names is None else {name: list(column_names)})
    taken = np.zeros(n_columns, dtype=int)
    parts, names = {}, {}
    for name, selection in selections.items():
        index = _column_index(name, selection, n_columns, column_names)
        taken[index] += 1
        contiguous = len(index) > 0 and np.array_equal(index, np.arange(index[0], index[0] + len(index)))
        parts[name] = matrix[:, index[0] : index[0] + len(index)] if contiguous else matrix[:, index]
        if column_names is not None:
            names[name] = [str(column_names[i]) for i in index]
    if (taken != 1).any():
        column = int(np.argmax(taken != 1))
        problem = "in no view" if taken[column] == 0 else "in several views"
        raise InvalidViewError(
            f"Each of the {n_columns} columns must belong to exactly one view; column {column} is {problem}; "
            "correct views=, or drop the column."
        )
    return Views(parts, feature_names=names or None)


def _column_index(name: str, selection: Any, n_columns: int, column_names: Sequence[str] | None) -> np.ndarray:
    if isinstance(selection, slice):
        return np.arange(n_columns)[selection]
    index = np.asarray(selection)
    if index.dtype == bool and index.shape == (n_columns,):
        return np.flatnonzero(index)
    if index.dtype.kind in "UO":
        known = {str(column): i for i, column in enumerate(column_names if column_names is not None else [])}
        lost = [str(column) for column in index if str(column) not in known]
        if lost:
            raise InvalidViewError(
                f"View {name!r} names the column {lost[0]!r}, which the data do not have; columns can only be named for "
                "a data frame that has them."
            )
        return np.array([known[str(column)] for column in index])
    if len(index) and (index.min() < -n_columns or index.max() >= n_columns):
        raise InvalidViewError(
            f"View {name!r} needs columns below {n_columns}; got {int(index.max())}; correct its columns."
        )
    return index.astype(np.int64) % max(n_columns, 1)
