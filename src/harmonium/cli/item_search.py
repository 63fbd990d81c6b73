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
        Columns row, score, passage if words are looked for in texts, and those of the items; one that is called so,
        too, has a mark "_" behind its name.
    """
    if (like is not None) == bool(words or where):
        raise OptionError(
            "A search takes words, --where COLUMN=VALUE, or --like ITEM; got none or both; give one of them."
        )
    if like is not None:
        results = folder.nearest(like, n)
    else:
        query = _values(folder, words, where) if where else words
        results = folder.search(query, n)
        if words is not None and folder.text_columns:
            results["passage"] = pd.Series(folder.passages(query, results["row"]), dtype=object)
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


def score_in_words(folder: ModelFolder, words: str | None, like: int | None) -> str:
    """Return a sentence that says what the score of a search is.

    Parameters
    ----------
    folder : ModelFolder
        What is searched.
    words : str or None
        Words that were searched for.
    like : int or None
        Number of the item that others should be like.

    Returns
    -------
    str
        The sentence.
    """
    if words is not None and folder.text_columns:
        return (
            "The score is 1 at most: half is for the passage (all words, close together, none denied), a quarter for "
            "the rare words of the search in the whole item, a quarter for the same topics."
        )
    if like is not None and folder.has_words:
        return "The score is 1 at most: half is for the same topics, half for the same rare words."
    return "The score is 1 at most: the cosine of the topics of the search and of the item."


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
