"""Names of columns that a user gives: a list of them, or what made the columns and knows their names."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

from harmonium.exceptions import InvalidViewError


def as_names(owner: str, names: Any) -> list[str]:
    """Return names as text; a fitted vectoriser, or other transformer, is asked for its ``get_feature_names_out``.

    Parameters
    ----------
    owner : str
        What the columns belong to, in the user's words, as ``"View 'words'"``; the refusal begins with it.
    names : sequence of str, or object with ``get_feature_names_out``
        The names, or what knows them.

    Returns
    -------
    list of str
        The names.
    """
    if hasattr(names, "get_feature_names_out"):
        try:
            names = names.get_feature_names_out()
        except NotFittedError:
            raise InvalidViewError(
                f"{owner} needs names of its columns, or something fitted that knows them; got a "
                f"{type(names).__name__} that is not fitted; fit it first."
            ) from None
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise InvalidViewError(
            f"{owner} needs names of its columns, or something that has get_feature_names_out; got {names!r}; pass a "
            "list, or the vectoriser that made the columns."
        )
    return list(map(str, names))


def checked_names(owner: str, names: Any, n_columns: int) -> list[str]:
    """Return names as text; refuse any number of them that is not that of the columns."""
    listed = as_names(owner, names)
    if len(listed) != n_columns:
        raise InvalidViewError(
            f"{owner} needs one feature name per column, {n_columns}; got {len(listed)}; pass the names in the order "
            "of the columns."
        )
    return listed
