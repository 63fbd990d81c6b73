"""What a benchmark found, as data: the one schema of ``results/NAME.json``.

A stored result is a JSON object with these fields, all of them required:

benchmark : name of the benchmark
title     : heading of the result
date      : day of the run, YYYY-MM-DD
commit    : of the run, with "+" behind it if sources differed from it; "" where it is not known
sources   : digests of the code that the benchmark imports, by package; empty where they are not known
seconds   : of the whole run; null where they are not known
peak_mb   : memory of the largest process; null where it is not known
seeds     : repetitions with seeds, splits or folds of their own; null if there is one
values    : file beside the result with the value of each repetition, one a line; "" if there are none
machine   : processor, cores, memory_gb
versions  : version of Python and of each package, by name
settings  : what the benchmark was run with, by name
remarks   : texts that people wrote about this run; a new run begins without any
parts     : what the run found, in the order in which it is read (below)
history   : texts that people wrote about how the protocol came about, such as what was changed after test results had
            been seen; a new run keeps them

A part is an object with a ``kind``:

text    : ``text``, a paragraph or list of Markdown
heading : ``text``
table   : ``name``, unique in the result; ``columns``, an object from the name of each column to its format or null;
          ``rows``, a list of records with a cell for each column
figure  : ``file``, the name of a picture beside the result; ``caption``

A cell is null, a string, a number, a record of numbers by name, or a list of strings and numbers. A format is one of
Python's format strings: ``{:.3f}`` for numbers, ``{median:.2f} ({largest:.2f})`` for records. The record of ``mean``
and ``spread`` is shown as "mean ± spread", both by the format of a number; the values that they sum up are lines of
``results/NAME.csv``. Numbers without a format have three decimals, or three digits if they are very small or large.
"""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "results"
FIELDS: dict[str, Any] = {
    "benchmark": str,
    "title": str,
    "date": str,
    "commit": str,
    "sources": dict,
    "seconds": (int, float, type(None)),
    "peak_mb": (int, float, type(None)),
    "seeds": (int, type(None)),
    "values": str,
    "machine": dict,
    "versions": dict,
    "settings": dict,
    "remarks": list,
    "parts": list,
    "history": list,
}
PARTS: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "heading": {"text": str},
    "table": {"name": str, "columns": dict, "rows": list},
    "figure": {"file": str, "caption": str},
}
DIGITS = 6  # significant ones that are kept of a measurement
WIDTH = 120  # of a line of JSON


# what results lack that were made before it was recorded
UNKNOWN: dict[str, Any] = {"peak_mb": None, "seeds": None, "values": ""}
VALUES = ["table", "row", "column", "repetition", "value"]  # columns of NAME.csv


class InvalidResult(ValueError):
    """A stored result does not follow the schema."""


class Measured(dict[str, float]):
    """Mean and spread of the values of several seeds, splits or folds, which it remembers."""

    def __init__(self, values: Iterable[float], spread: float) -> None:
        self.each = [float(value) for value in values]
        super().__init__(mean=float(np.mean(self.each)), spread=spread)


class Result:
    """Text, tables and figures of one run, in the order in which they are read.

    Attributes
    ----------
    parts : list of dict
        What the run found, as it is stored.
    values : list of list
        Every value that a cell of a table sums up: table, row, column, number of the repetition, value.
    """

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.values: list[list[Any]] = []

    def text(self, text: str) -> None:
        """Add a paragraph or list of Markdown."""
        self.parts.append({"kind": "text", "text": text})

    def heading(self, text: str) -> None:
        """Add a heading."""
        self.parts.append({"kind": "heading", "text": text})

    def table(
        self,
        name: str,
        columns: Iterable[str] | Mapping[str, str | None],
        rows: Iterable[Sequence[Any] | Mapping[str, Any]],
    ) -> None:
        """Add a table.

        Parameters
        ----------
        name : str
            By which the README finds it.
        columns : list of str, or dict from str to str or None
            Names of the columns, with the formats of their cells where the standard one will not do.
        rows : list of lists or of dicts
            Cells by place or by name of the column. Not-a-number is stored as null.
        """
        formats = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)
        records = []
        for row in rows:
            named = row if isinstance(row, Mapping) else dict(zip(formats, row, strict=True))
            records.append({column: plain(named[column]) for column in formats})
            self.values += [
                [name, row_name(records[-1]), column, number, plain(value)]
                for column in formats
                if isinstance(cell := named[column], Measured)
                for number, value in enumerate(cell.each)
            ]
        self.parts.append({"kind": "table", "name": name, "columns": formats, "rows": records})

    def figure(self, file: str, caption: str) -> None:
        """Add a picture that the run has written to its folder."""
        self.parts.append({"kind": "figure", "file": file, "caption": caption})


def row_name(record: Mapping[str, Any]) -> str:
    """Return what tells a row of a table from others: its texts and whole numbers before the first measurement."""
    cells = itertools.takewhile(lambda cell: isinstance(cell, str | int), record.values())
    return ", ".join(map(str, cells))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: no NumPy, no not-a-number, floats of a few significant digits."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"A result holds numbers and text, got {value!r}; turn it into one of them.")


def stored(
    name: str, title: str, result: Result, settings: Mapping[str, Any], history: list[str], made: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the result of a run that has just ended as it is stored.

    ``made`` has its commit, sources, seconds, peak memory and seeds.
    """
    from benchmarks.environment import machine, versions

    return {
        "benchmark": name,
        "title": title,
        "date": datetime.date.today().isoformat(),
        **UNKNOWN,
        **plain(made),
        "values": f"{name}.csv" if result.values else "",
        "machine": machine(),
        "versions": versions(),
        "settings": plain(settings),
        "remarks": [],
        "parts": result.parts,
        "history": history,
    }


def names(folder: Path | None = None) -> list[str]:
    """Return the names of the benchmarks with a result in a folder (`FOLDER`)."""
    return sorted(path.stem for path in (folder or FOLDER).glob("*.json"))


def read(name: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the stored result of a benchmark in a folder (`FOLDER`), if it follows the schema."""
    path = (folder or FOLDER) / f"{name}.json"
    if not path.exists():
        raise InvalidResult(f"There is no result {path.name}; `python -m benchmarks run {name}` makes it.")
    try:
        result = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise InvalidResult(f"{path.name} is not valid JSON: {error}.") from error
    try:
        result = {**UNKNOWN, **result} if isinstance(result, dict) else result
        validate(result)
        _require(result["benchmark"] == name, f"'benchmark' must be {name!r} like the file")
    except InvalidResult as error:
        raise InvalidResult(f"{path.name}: {error}") from error
    return result


def write(result: dict[str, Any], folder: Path | None = None) -> Path:
    """Store a result that follows the schema in a folder (`FOLDER`), and return where."""
    validate(result)
    path = (folder or FOLDER) / f"{result['benchmark']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_encoded({field: result[field] for field in FIELDS}) + "\n")
    return path


def write_values(result: Mapping[str, Any], values: Iterable[Iterable[Any]], folder: Path | None = None) -> None:
    """Store the values that a result sums up in a folder (`FOLDER`), if there are any."""
    if result["values"]:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([VALUES, *values])
        ((folder or FOLDER) / result["values"]).write_text(text.getvalue())


def read_values(result: Mapping[str, Any], folder: Path | None = None) -> dict[tuple[str, str, str], list[float]]:
    """Return the values that a stored result sums up, by table, name of the row and column."""
    found: dict[tuple[str, str, str], list[float]] = {}
    if result["values"]:
        with ((folder or FOLDER) / result["values"]).open(newline="") as file:
            for line in csv.DictReader(file):
                key = (line["table"], line["row"], line["column"])
                found.setdefault(key, []).append(float(line["value"] or "nan"))
    return found


def tables(result: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tables of a result by name."""
    return {part["name"]: part for part in result["parts"] if part["kind"] == "table"}


# ---- the schema ------------------------------------------------------------------------------------------------------
def validate(result: Any) -> None:
    """Raise `InvalidResult` with one sentence if a result does not follow the schema."""
    _require_fields(result, FIELDS, "A result")
    _require(re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]), f"'date' must be YYYY-MM-DD, got {result['date']!r}")
    for key in ("processor", "cores", "memory_gb"):
        _require(key in result["machine"], f"'machine' must have {key!r}")
    for version in result["versions"].values():
        _require(isinstance(version, str), f"'versions' must hold strings, got {version!r}")
    for text in (*result["remarks"], *result["history"]):
        _require(isinstance(text, str), f"remarks and history must be texts, got {text!r}")
    for part in result["parts"]:
        _validate_part(part)
    table_names = [part["name"] for part in result["parts"] if part["kind"] == "table"]
    _require(len(set(table_names)) == len(table_names), f"tables must have different names, got {table_names}")


def _validate_part(part: Any) -> None:
    kind = part.get("kind") if isinstance(part, dict) else None
    _require(kind in PARTS, f"a part must be of the kinds {', '.join(PARTS)}, got {kind!r}")
    _require_fields(part, {"kind": str, **PARTS[kind]}, f"A {kind}")
    if kind != "table":
        return
    where = f"table {part['name']!r}"
    for column, form in part["columns"].items():
        _require(form is None or isinstance(form, str), f"{where}: the format of {column!r} must be text or null")
    for row in part["rows"]:
        _require(isinstance(row, dict) and list(row) == list(part["columns"]), f"{where}: a row lacks a column: {row}")
        for column, cell in row.items():
            _require(_is_cell(cell, part["columns"][column]), f"{where}: {cell!r} is no cell of {column!r}")


def _is_cell(cell: Any, form: str | None) -> bool:
    if isinstance(cell, dict):
        measured = all(_is_number(value) for value in cell.values())
        return measured and (set(cell) == {"mean", "spread"} or form is not None)
    if isinstance(cell, list):
        return all(isinstance(item, str) or _is_number(item) for item in cell)
    return cell is None or isinstance(cell, str) or _is_number(cell)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require_fields(value: Any, fields: Mapping[str, Any], what: str) -> None:
    _require(isinstance(value, dict), f"{what} must be an object, got {value!r}")
    _require(set(value) == set(fields), f"{what} must have the fields {', '.join(fields)}; got {', '.join(value)}")
    for name, kind in fields.items():
        wanted = getattr(kind, "__name__", "number or null")
        _require(isinstance(value[name], kind), f"{name!r} must be of type {wanted}, got {value[name]!r}")


def _require(holds: object, sentence: str) -> None:
    if not holds:
        raise InvalidResult(f"{sentence}.")


def _encoded(value: Any, indent: int = 0) -> str:
    """JSON in which what fits into a line, such as a row of a table, is one line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) + indent <= WIDTH or not value or not isinstance(value, dict | list):
        return line
    space = " " * (indent + 1)
    if isinstance(value, dict):
        inner = [f"{json.dumps(key, ensure_ascii=False)}: {_encoded(item, indent + 1)}" for key, item in value.items()]
    else:
        inner = [_encoded(item, indent + 1) for item in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n{space}" + f",\n{space}".join(inner) + f"\n{' ' * indent}{right}"
