"""Search among the items of a model folder, by words, by values of columns, or by another item."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harmonium.cli.errors import OptionError
from harmonium.core.validation import misspelt
from harmonium.model_folder import ModelFolder


def search_items(
    folder: ModelFolder, words: str | None, where: list[str], like: int | None, n: int, columns: str | None
) -> pd.DataFrame:
    """Return the items that a search finds: their numbers, scores and columns.

    Parameters
    ----------
    folder : ModelFolder
        What is searched.
    words : str or None
        Words to search for.
    where : list of str
        COLUMN=VALUE to search for.
    like : int or None
        Number of an item to find others like.
    n : int
        Number of items.
    columns : str or None
        Names of columns to show, separated by commas; None for all.

    Returns
    -------
    DataFrame
        Columns row, score, and those of the items; one that is called so, too, has a mark "_" behind its name.
    """
    if (like is not None) == bool(words or where):
        raise OptionError(
            "A search takes words, --where COLUMN=VALUE, or --like ITEM; got none or both; give one of them."
        )
    if like is not None:
        results = folder.nearest(like, n)
    elif not where:
        results = folder.search(words, n)
    else:
        results = folder.search(_values(folder, words, where), n)
    wanted = folder.items.columns.tolist() if columns is None else [name.strip() for name in columns.split(",")]
    lacking = [name for name in wanted if name not in folder.items.columns]
    if lacking:
        columns_there = ", ".join(folder.items.columns)
        raise OptionError(
            f"--columns may name columns of the items ({columns_there}); got "
            f"{misspelt(lacking[0], folder.items.columns)}; correct the name."
        )
    names = _distinct_names(results.columns.tolist(), folder.items.columns.tolist())
    return results.join(folder.items[wanted].rename(columns=names), on="row")


def _distinct_names(own: list[str], columns: list[str]) -> dict[str, str]:
    """Return new names for columns of items that are called like the search's own."""
    names = {}
    for name in set(own) & set(columns):
        names[name] = name
        while names[name] in (*own, *columns):
            names[name] += "_"
    return names


def _values(folder: ModelFolder, words: str | None, where: list[str]) -> dict[str, Any]:
    """Return values of columns by name; words belong to the columns that know them."""
    values: dict[str, Any] = {}
    table = folder.model.fitted_.table
    if words is not None and table is not None:
        values = {column.name: column.said_in(words) for column in table.columns}
    for pair in where:
        name, mark, value = pair.partition("=")
        if not mark:
            raise OptionError(f"--where takes COLUMN=VALUE, as in place=Rioja; got {pair!r}; correct it.")
        values[name] = value
    return values
