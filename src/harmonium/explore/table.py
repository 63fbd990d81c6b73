"""The items as a table: rows that match filters, a lasso and words, in the order of a column, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from harmonium.explore.errors import BadRequest
from harmonium.explore.filters import inside, matching
from harmonium.explore.values import Values, pixel_coordinates
from harmonium.model_folder.json_values import json_value


def matching_rows(
    values: Values, where: Mapping[str, str], lasso: Sequence[tuple[float, float]] | None, words: str
) -> np.ndarray:
    """Return the numbers of the items that match all of some filters.

    Parameters
    ----------
    values : Values
        Columns and topics of the items.
    where : mapping of str to str
        Filters as `matching` takes them, by ``"column:NAME"`` or ``"topic:NUMBER"``.
    lasso : sequence of (x, y) or None
        Corners of a polygon on the map, in places from 0 to 65535, that items must lie in.
    words : str
        Words that must all occur in one or another column, whatever their case.

    Returns
    -------
    ndarray of int
        Numbers of the items.
    """
    items = values.folder.items
    found = np.ones(len(items), dtype=bool)
    for by, wanted in where.items():
        try:
            found &= matching(values[by], values.series(by), wanted)
        except ValueError as error:
            raise BadRequest(str(error)) from error
    if lasso is not None:
        pixels = pixel_coordinates(values.folder.map)
        found &= inside(np.array(lasso, dtype=np.float64), np.stack([pixels["x"], pixels["y"]], axis=1))
    for word in words.casefold().split():
        has = np.zeros(len(items), dtype=bool)
        for name in items.columns:
            has |= _texts(items[name]).str.contains(word, regex=False).to_numpy(dtype=bool)
        found &= has
    return np.flatnonzero(found)


def _texts(values: pd.Series) -> pd.Series:
    return values.where(values.notna(), "").astype(str).str.casefold()


def ordered(values: Values, rows: np.ndarray, sort: str | None) -> np.ndarray:
    """Return rows in the order of a column or topic, downwards if there is a minus before its name.

    Rows without a value come last.
    """
    if not sort:
        return rows
    by = sort.removeprefix("-")
    if by not in values:
        raise BadRequest(f"sort must be a column or topic, as in sort=column:{values.folder.items.columns[0]}.")
    column = values[by]
    if column.numbers is not None:
        keys = column.numbers[rows]
    else:  # texts by the alphabet
        texts = values.series(by).iloc[rows].map(lambda value: str(json_value(value)).casefold())
        keys = pd.factorize(texts, sort=True)[0].astype(np.float64)
    keys = np.where(column.is_there[rows], keys, np.nan)
    return np.asarray(rows[np.argsort(-keys if sort[0] == "-" else keys, kind="stable")])  # NaN last


def table_page(values: Values, rows: np.ndarray, offset: int, n: int) -> dict[str, Any]:
    """Return some of the rows with all of their columns."""
    items = values.folder.items
    page = items.iloc[rows[offset : offset + n]]
    names = page.columns.tolist()
    return {
        "total": len(rows),
        "offset": offset,
        "columns": names,
        "rows": [
            {"row": int(row), "values": {name: json_value(cell) for name, cell in zip(names, cells, strict=True)}}
            for row, cells in zip(rows[offset : offset + n], page.itertuples(index=False, name=None), strict=True)
        ],
    }


def table_csv(values: Values, rows: np.ndarray) -> str:
    """Return the rows as a CSV file, the number of the item first; lists are written as JSON spells them."""
    frame = values.folder.items.iloc[rows]
    written = frame.map(lambda cell: json_value(cell) if isinstance(cell, list | tuple | dict) else cell)
    return str(written.to_csv(index_label="row"))
