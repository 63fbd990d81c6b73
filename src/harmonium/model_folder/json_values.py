"""Cells and tables as values that JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def json_value(value: Any) -> Any:
    """Return a cell as JSON can hold it: a text, a number, a truth value, a list of them, or None.

    Parameters
    ----------
    value : object
        A cell of a frame.

    Returns
    -------
    object
        What ``json.dumps`` takes, NaN and infinity as None.

    Examples
    --------
    >>> json_value(np.float32(0.5)), json_value(float("nan")), json_value(["a", np.int64(2)])
    (0.5, None, ['a', 2])
    """
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [json_value(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    return str(value)


def json_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values.

    Parameters
    ----------
    table : DataFrame
        The table.

    Returns
    -------
    list of dict
        A dict for each row, which ``json.dumps`` takes, with all digits of its numbers.

    Examples
    --------
    >>> json_records(pd.DataFrame({"x": [1e-12, np.nan], "y": ["a", None]}))
    [{'x': 1e-12, 'y': 'a'}, {'x': None, 'y': None}]
    """
    names = [str(name) for name in table.columns]
    columns = [table.iloc[:, number].tolist() for number in range(len(names))]
    return [
        {name: json_value(value) for name, value in zip(names, row, strict=True)} for row in zip(*columns, strict=True)
    ]
