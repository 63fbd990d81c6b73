"""Locations in a view, in the user's own names: the one module that words rows, columns and cells."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def row_place(row: int, index: pd.Index | None) -> str:
    """Return a row in words: its number, and its label if rows have labels.

    Examples
    --------
    >>> row_place(17, None)
    'row 17'
    >>> row_place(1, pd.Index(["patient_3", "patient_4"]))
    "row 1 (label 'patient_4')"
    """
    if index is None:
        return f"row {row}"
    [label] = index[row : row + 1].tolist()
    return f"row {row} (label {label!r})"


def column_place(column: int, columns: Sequence[str] | None) -> str:
    """Return a column in words: its name, or its number if columns have no names.

    Examples
    --------
    >>> column_place(1, ["age", "height"]), column_place(1, None)
    ("column 'height'", 'column 1')
    """
    return f"column {column}" if columns is None else f"column {str(columns[column])!r}"


def cell_place(row: int, column: int, columns: Sequence[str] | None, index: pd.Index | None) -> str:
    """Return a cell in words.

    Examples
    --------
    >>> cell_place(3, 0, ["age"], None)
    "row 3, column 'age'"
    """
    return f"{row_place(row, index)}, {column_place(column, columns)}"
