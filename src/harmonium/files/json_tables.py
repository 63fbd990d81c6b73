"""Tables of JSON: an object in each line, or one list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pandas as pd

from harmonium.files.data_file import Loaded, checked_frame, one_line, opened, refuse

# whole numbers of more digits fit no column of numbers, and become texts
_LARGEST = 2**63 - 1


class _Twice(ValueError):
    """An object that has a key twice."""


def read_jsonl(path: Path) -> Loaded:
    """Return a table with an object in each line; keys that an object lacks are missing."""
    with opened(path) as file:
        return _loaded(path, list(_lines(path, file)))


def read_json(path: Path) -> Loaded:
    """Return a table that is one list of objects."""
    with opened(path) as file:
        rows = _value(path, file.read(), "it")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        refuse(
            path, "A table in JSON must be a list of objects", "is something else", "use .jsonl for one object a line"
        )
    return _loaded(path, rows)


def jsonl_blocks(path: Path, rows: int, texts: frozenset[str]) -> Iterator[pd.DataFrame]:
    """Yield the objects of a file, at most so many at a time; their values say by themselves what are texts."""
    with opened(path) as file:
        lines = _lines(path, file)
        while some := list(islice(lines, rows)):
            yield _frame(some)


def _loaded(path: Path, rows: list[dict[str, Any]]) -> Loaded:
    if not rows:
        refuse(path, "A table must have at least one row and one column", "has no rows", "see to it")
    frame = checked_frame(path, _frame(rows))
    return Loaded(frame, frame)


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([{str(key): _cell(value) for key, value in row.items()} for row in rows])


def _lines(path: Path, file: IO[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        row = _value(path, line, f"line {number}")
        if not isinstance(row, dict):
            refuse(
                path, "Every line of a .jsonl file must be a JSON object", f"has none in line {number}", "correct it"
            )
        yield row


def _value(path: Path, content: bytes, where: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object)
    except _Twice as error:
        refuse(path, "An object must have each key once", f"has {error} twice in {where}", "rename one", error)
    except UnicodeDecodeError as error:
        refuse(path, "JSON must be in UTF-8", f"is not in {where}", "save it as UTF-8", error)
    except (ValueError, RecursionError) as error:
        refuse(path, "JSON must be valid", f"is not in {where} ({one_line(error)})", "correct it", error)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(repr(next(name for name in names if names.count(name) > 1)[:60]))
    return row


def _cell(value: Any) -> Any:
    """Return a value as a column can hold it."""
    return str(value) if isinstance(value, int) and abs(value) > _LARGEST else value
