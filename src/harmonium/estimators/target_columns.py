"""Targets that are columns of the table itself: ``fit(frame, "rating")``."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from harmonium.notices import notice
from harmonium.tables.transformer import frame_of
from harmonium.views import Shards
from harmonium.views.frames import is_frame
from harmonium.views.sharding.lazy import is_dask
from harmonium.views.shards import as_shards


def split_target(X: Any, y: Any, is_fit: bool = False) -> tuple[Any, Any]:
    """Return X without the columns that y names, and these columns; both as they are if y names none.

    Parameters
    ----------
    X : object
        Views of items.
    y : object
        Targets, or the name (a list of names) of columns of X, which must then be a data frame.
    is_fit : bool, default=False
        Whether a model is to learn from X, so that a target among its columns is worth a notice.

    Returns
    -------
    X, y : object
        Views and targets.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = split_target(pd.DataFrame({"price": [3, 4], "stars": [1, 5]}), "stars")
    >>> list(X.columns), y.tolist()
    (['price'], [1, 5])
    """
    return split_target_by_name(X, y, is_fit)[:2]


def split_target_by_name(X: Any, y: Any, is_fit: bool = False) -> tuple[Any, Any, tuple[str, ...]]:
    """Return what `split_target` returns, and the names of the columns that were set apart, as texts.

    Examples
    --------
    >>> import pandas as pd
    >>> split_target_by_name(pd.DataFrame({"price": [3, 4], "stars": [1, 5]}), "stars")[2]
    ('stars',)
    """
    shards = as_shards(X)
    if shards is not None:
        return _of_shards(shards, y)
    if not is_frame(X):
        if isinstance(y, str):
            raise ValueError(
                f"y may name a column of X only if X is a data frame; got y={y!r} and X of type {type(X).__name__}; "
                "pass one label per row."
            )
        return X, y, ()
    frame = frame_of(X)
    names = _names_in(y, frame)
    if not names:
        name = getattr(y, "name", None)
        if is_fit and isinstance(name, str) and name in frame.columns:
            notice(
                f"y is called {name!r}, as a column of X is, which is used to predict it; pass y={name!r} to set that "
                "column apart, or rename y."
            )
        return frame.to_native(), y, ()
    lost = [name for name in names if name not in frame.columns]
    if lost:
        raise ValueError(
            f"y must name columns of X, which has {', '.join(map(repr, frame.columns[:8]))}; got {lost[0]!r}; correct "
            "the name."
        )
    targets: Any = frame[names[0]] if len(names) == 1 else frame.select(names)
    native = nw.to_native(targets)
    # columns of Arrow do not know their names
    known = native if hasattr(native, "name") or len(names) > 1 else targets.to_pandas()
    return frame.drop(names).to_native(), known, tuple(map(str, names))


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
