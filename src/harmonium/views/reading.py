"""Views from collections of matrices, and from the columns of one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.parts import as_part, listed_names, named_parts, registered
from harmonium.core.validation import Setting, few_of, misspelt, shown
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.views.annotated import has_modalities, in_memory, is_annotated, names_of_observations
from harmonium.views.container import Views, as_matrix, empty_rows
from harmonium.views.feature_names import as_names
from harmonium.views.frames import is_frame
from harmonium.views.places import column_place
from harmonium.views.sequences import Sequences
from harmonium.views.sources.source import Source
from harmonium.views.sources.zeros import sparse_rows_of

SINGLE = "view0"


@dataclass(frozen=True)
class Columns:
    """Columns of one matrix that make up a view, and their family.

    Each column of the matrix has to belong to exactly one view; drop those that should belong to none.

    Parameters
    ----------
    columns : slice, list of int, list of str, or array of bool
        Numbers or names of the columns, or a mask of all columns. Names need a data frame.
    family : Family, optional
        Family of the view. By default it is inferred from the data.
    feature_names : sequence of str or fitted vectoriser, optional
        Names of the columns: a list, or what made the columns and has ``get_feature_names_out``. Data frames bring
        their own.

    See Also
    --------
    Views : Several views of the same items.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> Columns(slice(0, 3), Bernoulli())
    Columns(columns=slice(0, 3, None), family=Bernoulli())
    """

    columns: Any
    family: Family | None = None
    feature_names: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", as_names("Columns", self.feature_names))


class FamiliesOfViews(Setting):
    """The setting that gives the families of the views: "infer", a family, or a mapping or list of them."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse anything else, and whatever a family itself refuses."""
        if isinstance(value, str) and value == "infer":
            return
        value = as_part(Family, value)
        if isinstance(value, Family):
            value.check()
            return
        if not isinstance(value, Mapping | list | tuple):
            kind = ValueError if isinstance(value, str) else TypeError
            raise kind(
                f"{owner} needs {name} 'infer', a family, {listed_names(Family.role)}, or a mapping or list of them; "
                f"got {shown(value)}; pass for example {{'words': Bernoulli()}}."
            )
        for view, entry in value.items() if isinstance(value, Mapping) else enumerate(value):
            family = _family_of(str(view), entry)
            if family is not None:
                family.check()


def families_given(views: Any, names: Sequence[str]) -> dict[str, Family | None]:
    """Return the family that the user asked for, by view, or None where it is to be inferred.

    ``views`` is the parameter of the estimator.
    """
    if isinstance(views, str) and views == "infer":
        return dict.fromkeys(names)
    views = as_part(Family, views)
    if isinstance(views, str):
        raise ValueError(f"views must be 'infer', a mapping or a list; got {views!r}; pass {{name: family}}.")
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
            f"views may only name views of the data ({few_of(names)}); got {misspelt(unknown[0], names)}; correct the "
            "name."
        )
    by_text = {str(name): entry for name, entry in views.items()}
    return {name: _family_of(name, by_text.get(name)) for name in names}


def _family_of(name: str, entry: Any) -> Family | None:
    if isinstance(entry, Columns):
        entry = entry.family
    if (isinstance(entry, str) and entry == "infer") or _is_columns(entry):
        return None
    entry = as_part(Family, entry)
    if entry is None or isinstance(entry, Family):
        return entry
    if isinstance(entry, type) and issubclass(entry, Family):
        raise TypeError(f"views[{name!r}] must be an instance; got the class {entry.__name__}; add parentheses.")
    raise TypeError(
        f"views[{name!r}] must be a family, columns, 'infer', or one of {listed_names(Family.role)}; got "
        f"{_meant(entry)}; pass for example Bernoulli() or slice(0, 100)."
    )


def _meant(entry: Any) -> str:
    """Return what was given, with a name it may stand for; "binomial" is spelt well, but needs settings."""
    is_name = str(entry).casefold() in {name.casefold() for name in registered(Family.role)}
    return shown(entry) if is_name else misspelt(entry, named_parts(Family.role))


def _is_columns(entry: Any) -> bool:
    return isinstance(entry, slice | range | list | tuple | np.ndarray | pd.Index)


def read_collection(X: Any) -> Views | None:
    """Return the views of a dict, a list, `Views`, `Sequences`, AnnData (its X) or MuData (a view per modality).

    None if X does not consist of views, and may be one matrix.
    """
    if isinstance(X, Views):
        return X
    if isinstance(X, Sequences):
        return Views({SINGLE: X})
    if scipy.sparse.issparse(X):  # one kind of which is a dict
        return None
    if isinstance(X, Mapping) or (isinstance(X, list | tuple) and any(map(_is_two_dimensional, X))):
        return Views(X)
    if not is_annotated(X):
        return None
    return _read_mudata(in_memory(X)) if has_modalities(X) else Views.from_anndata(X)


def _is_two_dimensional(view: Any) -> bool:
    return scipy.sparse.issparse(view) or getattr(view, "ndim", 0) == 2 or is_frame(view) or is_annotated(view)


def _read_mudata(data: Any) -> Views:
    """Return the modalities as views; a row that a modality lacks is missing there."""
    if not data.obs_names.is_unique:
        raise InvalidViewError(
            "MuData needs names of observations that differ; some occur twice; call obs_names_make_unique() first."
        )
    sources = {}
    position = {name: row for row, name in enumerate(data.obs_names)}
    for name, modality in data.mod.items():
        matrix, columns, _ = as_matrix(name, modality)
        rows = np.full(data.n_obs, -1)
        rows[[position[observation] for observation in modality.obs_names]] = np.arange(modality.n_obs)
        rows[np.isin(rows, empty_rows(matrix))] = -1
        index, nonzeros = names_of_observations(data), sparse_rows_of(matrix)
        sources[name] = Source(matrix, rows, columns, index=index, nonzeros=nonzeros)
    return Views._from_sources(sources)


def columns_asked(views: Any) -> dict[str, Columns]:
    """Return the columns of one matrix that the user asked for, by view."""
    entries = views.items() if isinstance(views, Mapping) else []
    return {
        str(name): entry if isinstance(entry, Columns) else Columns(entry)
        for name, entry in entries
        if isinstance(entry, Columns) or _is_columns(entry)
    }


def split_columns(matrix: Any, column_names: Sequence[str] | None, views: Any, index: pd.Index | None = None) -> Views:
    """Return one checked matrix as views: by the columns given in ``views``, or as a single view.

    Every column has to belong to one view: to leave some out is to drop them from the matrix, as they would otherwise
    be lost in silence.
    """
    entries = views.items() if isinstance(views, Mapping) else []
    for name, entry in entries:
        _family_of(str(name), entry)  # refuses what is neither columns nor a family
    selections = columns_asked(views)
    n_columns = matrix.shape[1]
    if not selections:
        name = next((str(name) for name, _ in entries), SINGLE)
        named = None if column_names is None else {name: list(column_names)}
        return Views({name: matrix}, feature_names=named, index=index)
    taken = np.zeros(n_columns, dtype=int)
    parts, names = {}, {}
    for name, selection in selections.items():
        chosen = _column_index(name, selection.columns, n_columns, column_names)
        np.add.at(taken, chosen, 1)
        contiguous = len(chosen) > 0 and np.array_equal(chosen, np.arange(chosen[0], chosen[0] + len(chosen)))
        parts[name] = matrix[:, chosen[0] : chosen[0] + len(chosen)] if contiguous else matrix[:, chosen]
        if selection.feature_names is not None:
            names[name] = selection.feature_names
        elif column_names is not None:
            names[name] = [str(column_names[i]) for i in chosen]
    if (taken != 1).any():
        column = int(np.argmax(taken != 1))
        problem = "in no view" if taken[column] == 0 else f"there {taken[column]} times"
        raise InvalidViewError(
            f"Each of the {n_columns} columns must belong to exactly one view; "
            f"{column_place(column, column_names)} is {problem}; correct views=, or drop the column."
        )
    return Views(parts, feature_names=names or None, index=index)


def _column_index(name: str, selection: Any, n_columns: int, column_names: Sequence[str] | None) -> np.ndarray:
    if isinstance(selection, slice):
        return np.arange(n_columns)[selection]
    index = np.asarray(selection)
    if index.dtype == bool and index.shape == (n_columns,):
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.dtype.kind not in "iuUO" and len(index)):
        raise InvalidViewError(
            f"View {name!r} needs columns as a slice, a list of numbers or names, or a mask of all {n_columns}; got "
            f"{selection!r}; correct its columns."
        )
    if index.dtype.kind in "UO":
        known = {str(column): i for i, column in enumerate(column_names if column_names is not None else [])}
        lost = [str(column) for column in index if str(column) not in known]
        if lost:
            raise InvalidViewError(
                f"View {name!r} may only name columns of a data frame; the data have no column {lost[0]!r}; correct "
                "the name, or pass numbers of columns."
            )
        return np.array([known[str(column)] for column in index])
    outside = index[(index < -n_columns) | (index >= n_columns)]
    if len(outside):
        raise InvalidViewError(f"View {name!r} needs columns below {n_columns}; got {outside[0]}; correct its columns.")
    return index.astype(np.int64) % max(n_columns, 1)
