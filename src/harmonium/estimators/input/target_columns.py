"""Targets that X holds itself, as columns of a table or of ``obs`` of AnnData: ``fit(frame, "rating")``."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from harmonium.core.notices import notice
from harmonium.core.validation import few_of, misspelt
from harmonium.views import Shards
from harmonium.views.annotated import is_annotated
from harmonium.views.sharding.lazy import is_dask


def check_order(X: Any, y: Any) -> None:
    """Refuse targets in the place of items: a name, or one dimension, before a table or matrix.

    Parameters
    ----------
    X, y : object
        Items and targets, as a user passed them.
    """
    is_target = isinstance(X, str) or len(getattr(X, "shape", ())) == 1 or _are_labels(X)
    if is_target and len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1:
        raise ValueError(
            f"Items must come before targets; got {type(X).__name__} of one dimension as X and a table as y; swap the "
            "two, as in fit(X, y)."
        )


def _are_labels(X: Any) -> bool:
    """Tell whether a list holds labels: numbers, or names of one word that come again and again; texts do not."""
    if not isinstance(X, list | tuple) or not X or not all(isinstance(one, str | int | float) for one in X):
        return False
    if not all(isinstance(one, str) for one in X):
        return True
    return len(set(X)) <= len(X) / 2 and not any(" " in one for one in X)


def from_obs(X: Any, y: Any) -> Any:
    """Return the columns of ``obs`` that y names if X is AnnData or MuData; y as it is for everything else.

    Parameters
    ----------
    X : object
        Items, as a user passed them.
    y : object
        Targets, or the name (a list of names) of columns of ``X.obs``.

    Returns
    -------
    object
        Targets.
    """
    if not is_annotated(X):
        return y
    known = list(X.obs.columns)
    if isinstance(y, str) and y not in known:
        raise ValueError(
            f"y must name a column of obs, which has {few_of(known)}; got {misspelt(y, known)}; correct the name."
        )
    is_several = isinstance(y, list) and 0 < len(y) != len(X.obs) and all(name in known for name in y)
    return X.obs[y] if isinstance(y, str) or is_several else y


def set_apart(data: Any, y: Any, is_fit: bool = False) -> tuple[Any, Any, tuple[str, ...]]:
    """Return data without the columns that y names, these columns, and their names as texts.

    Parameters
    ----------
    data : Shards, narwhals.DataFrame or object
        Items, as `harmonium.estimators.input.read_input.as_data` returns them.
    y : object
        Targets, or the name (a list of names) of columns of the data, which must then be a data frame.
    is_fit : bool, default=False
        Whether a model is to learn from the data, so that a target among their columns is worth a notice.

    Returns
    -------
    data, y : object
        Items and targets; both as they are if y names no columns.
    names : tuple of str
        Names of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y, names = set_apart(nw.from_native(pd.DataFrame({"price": [3, 4], "stars": [1, 5]})), "stars")
    >>> X.columns, y.tolist(), names
    (['price'], [1, 5], ('stars',))
    """
    if isinstance(data, Shards):
        return _of_shards(data, y)
    if not isinstance(data, nw.DataFrame):
        if isinstance(y, str):
            raise ValueError(
                f"y may name a column of X only if X is a data frame; got y={y!r} and X of type {type(data).__name__}; "
                "pass one label per row."
            )
        return data, y, ()
    frame, names = data, _names_in(y, data)
    if not names:
        name = getattr(y, "name", None)
        if is_fit and isinstance(name, str) and name in frame.columns:
            notice(
                f"y is called {name!r}, as a column of X is, which is used to predict it; pass y={name!r} to set that "
                "column apart, or rename y."
            )
        return frame, y, ()
    lost = [name for name in names if name not in frame.columns]
    if lost:
        raise ValueError(
            f"y must name columns of X, which has {few_of(frame.columns)}; got "
            f"{misspelt(lost[0], frame.columns)}; correct the name."
        )
    targets: Any = frame.get_column(names[0]) if len(names) == 1 else frame.select(names)
    native = nw.to_native(targets)
    # columns of Arrow do not know their names
    known = native if hasattr(native, "name") or len(names) > 1 else targets.to_pandas()
    return frame.drop(names), known, tuple(map(str, names))


def _of_shards(shards: Shards, y: Any) -> tuple[Shards, Any, tuple[str, ...]]:
    """Return shards and their targets, given, named, or brought by the shards, and the names that y holds."""
    if isinstance(y, str) or (isinstance(y, list) and y and all(isinstance(name, str) for name in y)):
        shards = shards.with_target(y)
        return shards, shards.targets(), (y,) if isinstance(y, str) else tuple(y)
    if isinstance(y, Shards):
        return shards, y.targets(), ()
    if is_dask(y):
        return shards, y.compute(), ()
    return shards, shards.targets() if y is None else y, ()


def _names_in(y: Any, frame: nw.DataFrame) -> list[Any]:
    """Return the names of columns that y holds; none if y holds labels."""
    if isinstance(y, str) or (isinstance(y, int | tuple) and y in frame.columns):
        return [y]
    if not isinstance(y, list | tuple) or not y or len(y) == len(frame):
        return []
    return list(dict.fromkeys(y)) if any(name in frame.columns for name in y) else []
