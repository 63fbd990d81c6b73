"""Columns of the items as tensors: numbers, truth values, and texts as their bytes.

Every column is kept by what its values are. Durations are numbers of seconds. Whatever else is neither a number nor a
truth value is kept as text: categories and dates as they are written, lists as JSON. A column that mixes kinds is text,
and so is one of truth values of which some are missing. Models read from all of them what they read from the originals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from harmonium.exceptions import ModelFileError
from harmonium.model_folder.json_values import json_value
from harmonium.tables.column import as_text

Tensors = dict[str, np.ndarray]
_KINDS = ("number", "whole", "flag", "text", "list")


def packed_columns(frame: pd.DataFrame) -> tuple[list[dict[str, str]], Tensors]:
    """Return a description of the columns of a frame, and tensors that hold them.

    Parameters
    ----------
    frame : DataFrame
        Any columns.

    Returns
    -------
    description : list of dict
        Name and kind of each column.
    tensors : dict of str to ndarray
        What `unpacked_columns` makes a frame of.

    Examples
    --------
    >>> description, tensors = packed_columns(pd.DataFrame({"name": ["Ann", None], "age": [31, 45]}))
    >>> description
    [{'name': 'name', 'kind': 'text'}, {'name': 'age', 'kind': 'whole'}]
    >>> unpacked_columns(description, tensors, 2)["name"].tolist()
    ['Ann', None]
    """
    description: list[dict[str, str]] = []
    tensors: Tensors = {}
    for number, name in enumerate(frame.columns):
        kind, parts = _packed(frame.iloc[:, number])
        description.append({"name": str(name), "kind": kind})
        tensors |= {f"columns/{number}/{part}": value for part, value in parts.items()}
    return description, tensors


def unpacked_columns(description: Any, tensors: Mapping[str, np.ndarray], n_rows: int) -> pd.DataFrame:
    """Return the frame that `packed_columns` described; refuse, with a `ModelFileError`, what it does not write.

    Parameters
    ----------
    description : list of dict
        Name and kind of each column.
    tensors : mapping of str to ndarray
        The tensors, among others.
    n_rows : int
        Number of rows that every column must have.

    Returns
    -------
    DataFrame
        The columns; missing texts are None, missing numbers NaN.
    """
    try:
        columns = {
            str(entry["name"]): _unpacked(entry["kind"], f"columns/{number}/", tensors, n_rows)
            for number, entry in enumerate(description)
        }
        if len(columns) != len(description):
            raise ValueError("a name occurs twice")
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelFileError(
            f"A model folder must hold the columns that it describes; it does not ({error}); save it again."
        ) from error
    return pd.DataFrame(columns, index=pd.RangeIndex(n_rows))


def _packed(column: pd.Series) -> tuple[str, Tensors]:
    """Return the kind of a column and its tensors."""
    kind = column.dtype.kind
    if kind == "b" and not column.isna().any():
        return "flag", {"values": column.to_numpy(dtype=bool)}
    if kind in "iu" and not column.isna().any() and column.between(-(2**63), 2**63 - 1).all():
        return "whole", {"values": column.to_numpy(dtype=np.int64)}
    if kind in "iuf":
        return "number", {"values": column.to_numpy(dtype=np.float64, na_value=np.nan)}
    cells = column.tolist()
    values = [json_value(cell) for cell in cells]
    there = [cell for cell, value in zip(cells, values, strict=True) if value is not None]
    if there and all(isinstance(cell, timedelta | np.timedelta64) for cell in there):
        return "number", {"values": np.array([_seconds(cell) for cell in cells], dtype=np.float64)}
    if any(isinstance(value, list | dict) for value in values):
        return "list", _packed_texts([None if value is None else json.dumps(value) for value in values])
    return "text", _packed_texts([None if value is None else _text_of(value) for value in values])


def _seconds(cell: Any) -> float:
    """Return a duration in seconds, as readers of tables do; NaN if missing."""
    return pd.Timedelta(cell).total_seconds() if isinstance(cell, timedelta | np.timedelta64) else np.nan


def _text_of(value: Any) -> str:
    """Return a text as it is, and a number as readers of tables take it for a text."""
    return value if isinstance(value, str) else as_text(value)


def _packed_texts(texts: list[str | None]) -> Tensors:
    """Return texts as their bytes, one after the other, and where each ends; a missing one has no bytes."""
    # a lone surrogate, which a JSON file may hold, is no character
    encoded = [b"" if text is None else text.encode("utf-8", "replace") for text in texts]
    return {
        "bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ends": np.cumsum([len(text) for text in encoded], dtype=np.int64),
        "there": np.array([text is not None for text in texts], dtype=bool),
    }


def _unpacked(kind: Any, prefix: str, tensors: Mapping[str, np.ndarray], n_rows: int) -> Any:
    if kind not in _KINDS:
        raise ValueError(f"a column of kind {str(kind)[:40]!r}")
    if kind in ("text", "list"):
        texts = _unpacked_texts(tensors[prefix + "bytes"], tensors[prefix + "ends"], tensors[prefix + "there"], n_rows)
        read = [None if text is None else json.loads(text) for text in texts] if kind == "list" else texts
        return pd.Series(read, dtype=object)
    values = tensors[prefix + "values"]
    if values.shape != (n_rows,):
        raise ValueError(f"{values.shape} values for {n_rows} rows")
    return values


def _unpacked_texts(content: np.ndarray, ends: np.ndarray, there: np.ndarray, n_rows: int) -> list[str | None]:
    is_sound = ends.shape == there.shape == (n_rows,) and ends.dtype == np.int64 and content.dtype == np.uint8
    starts = np.concatenate([[0], ends[:-1]]) if n_rows else ends
    if not is_sound or (ends < starts).any() or (n_rows and ends[-1] != len(content)):
        raise ValueError("texts whose ends are not in order")
    whole = content.tobytes()
    return [
        whole[start:end].decode("utf-8") if is_there else None
        for start, end, is_there in zip(starts.tolist(), ends.tolist(), there.tolist(), strict=True)
    ]
