"""Targets that are columns of the table itself: ``fit(frame, "rating")``."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from harmonium.tables.transformer import frame_of
from harmonium.views.frames import is_frame


def apart(X: Any, y: Any) -> tuple[Any, Any]:
    """Return X without the columns that y names, and these columns; both as they are if y names none.

    Parameters
    ----------
    X : object
        Views of items.
    y : object
        Targets, or the name (a list of names) of columns of X, which must then be a data frame.

    Returns
    -------
    X, y : object
        Views and targets.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = apart(pd.DataFrame({"price": [3, 4], "stars": [1, 5]}), "stars")
    >>> list(X.columns), y.tolist()
    (['price'], [1, 5])
    """
    if not isinstance(y, str) and not _is_names(X, y):
        return X, y
    if not is_frame(X):
        raise ValueError(
            f"y may name a column of X only if X is a data frame; got y={y!r} and X of type {type(X).__name__}; pass "
            "one label per row."
        )
    frame = frame_of(X)
    names = [y] if isinstance(y, str) else list(y)
    lost = [name for name in names if name not in frame.columns]
    if lost:
        raise ValueError(
            f"y must name a column of X, which has {', '.join(map(repr, frame.columns[:8]))}; got {lost[0]!r}; correct "
            "the name."
        )
    rest = frame.drop(names)
    # columns of Arrow do not know their names
    targets: Any = frame[y] if isinstance(y, str) else frame.select(names)
    native = nw.to_native(targets)
    return rest.to_native(), native if hasattr(native, "name") or not isinstance(y, str) else targets.to_pandas()


def _is_names(X: Any, y: Any) -> bool:
    """Tell whether y is a list of names of columns, and not one of labels."""
    if not isinstance(y, list) or not y or not all(isinstance(name, str) for name in y) or not is_frame(X):
        return False
    columns = list(X.columns) if hasattr(X, "columns") else []
    return len(set(y)) == len(y) and set(y) <= set(map(str, columns))
