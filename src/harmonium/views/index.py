"""Alignment of rows of two inputs: by the names in their index, or by position.

One rule for views of the same items and for what is predicted of them. Where both sides name their rows, rows go by
name: the same names in another order are put in order, other names are refused. Where either side has no names, rows go
by position.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium.views.annotated import is_annotated, names_of_observations


def row_names(data: Any) -> pd.Index | None:
    """Return the names of the rows of a pandas frame or Series, `Views`, AnnData or MuData; None if they have none.

    An index that counts 0, 1, 2, … is made up by pandas, or AnnData, and names nothing.

    Parameters
    ----------
    data : object
        Anything that a user may pass, also a narwhals frame.

    Returns
    -------
    Index or None
        The names.

    Examples
    --------
    >>> row_names(pd.Series([3, 4], index=["a", "b"])).tolist()
    ['a', 'b']
    >>> row_names(pd.Series([3, 4])) is None
    True
    """
    native = data.to_native() if isinstance(data, nw.DataFrame | nw.Series) else data
    if is_annotated(native):
        return names_of_observations(native)
    index = getattr(native, "index", None)
    # a column or a method may have that name
    return index if isinstance(index, pd.Index) and not counts_rows(native) else None


def counts_rows(data: Any) -> bool:
    """Tell whether the index of something is one that pandas made up, which counts 0, 1, 2, …"""
    index = getattr(data, "index", None)
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def is_shuffled_count(names: pd.Index) -> bool:
    """Tell whether names are 0, 1, 2, … in another order, as those of a frame whose rows were shuffled.

    Examples
    --------
    >>> is_shuffled_count(pd.Index([2, 0, 1])), is_shuffled_count(pd.Index([3, 4, 5]))
    (True, False)
    >>> is_shuffled_count(pd.Index([0, 1, 2]))
    False
    """
    count = np.arange(len(names))
    is_count = names.dtype.kind in "iu" and np.array_equal(np.sort(names), count)
    return is_count and not np.array_equal(names, count)


def rows_in_order(
    what: str, names: pd.Index | None, of: str, order: pd.Index | None, error: type[ValueError] = ValueError
) -> np.ndarray | None:
    """Return which rows to take, one after the other, to bring named rows into an order.

    Inputs of different lengths are left to whoever compares lengths.

    Parameters
    ----------
    what : str
        What the rows are of, in the user's words, as ``"y"`` or ``"View 'words'"``; the refusal begins with it.
    names : Index or None
        Names of the rows, as `row_names` returns them.
    of : str
        What has the order, in the user's words, as ``"X"``.
    order : Index or None
        The same names in the order that is wanted.
    error : type, default=ValueError
        Class of the refusal.

    Returns
    -------
    ndarray of int, or None
        Numbers of rows; None if all stand where they should, or go by position.

    Examples
    --------
    >>> rows_in_order("y", pd.Index(["b", "a"]), "X", pd.Index(["a", "b"])).tolist()
    [1, 0]
    >>> rows_in_order("y", pd.Index(["b", "c"]), "X", pd.Index(["a", "b"]))
    Traceback (most recent call last):
    ...
    ValueError: y must name the same rows as X; its index lacks 'a'; pass the same items, or reset its index to go ...
    """
    if names is None or order is None or len(names) != len(order) or names.equals(order):
        return None
    for index, side in ((names, what), (order, of)):
        if not index.is_unique:
            [twice] = index[index.duplicated()][:1].tolist()
            raise error(
                f"{what} must name the same rows as {of}, in the same order or each of them once; {twice!r} is twice "
                f"in the index of {side}; make the names unique, or reset the index to go by position."
            )
    rows = names.get_indexer(order)
    if (rows < 0).any():
        [lost] = order[rows < 0][:1].tolist()
        raise error(
            f"{what} must name the same rows as {of}; its index lacks {lost!r}; pass the same items, or reset its "
            "index to go by position."
        )
    return np.asarray(rows)
