"""Results: tables for people at a terminal, CSV or JSON for everybody else, files by their ending."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:  # pandas and the rest of the library take seconds to import
    import pandas as pd

# Rows that are shown at a terminal, and letters of a cell: conventions.
_ROWS = 20
_LETTERS = 60


def put_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def put_frame(frame: pd.DataFrame, output: Path | None, as_json: bool) -> None:
    """Write a table: to a file, as JSON, as a table at a terminal, or else as CSV.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is left out.
    output : Path or None
        File whose ending says the format; None for stdout.
    as_json : bool
        Whether to print a list of JSON objects.
    """
    put_frames([frame], output, as_json)


def put_frames(frames: Iterable[pd.DataFrame], output: Path | None, as_json: bool) -> None:
    """Write a table that comes in parts, each before the next is made.

    Parameters
    ----------
    frames : iterable of DataFrame
        Rows of the table, some at a time; their index is left out.
    output : Path or None
        File whose ending says the format, which is there when all is written; None for stdout.
    as_json : bool
        Whether to print a list of JSON objects.
    """
    if output is not None:
        from harmonium.cli.frame_files import write_frames

        echo(f"{write_frames(frames, output):,} rows written to {output}.")
    elif as_json:
        put_json_list(frames)
    elif sys.stdout.isatty():
        Console().print(_first_rows(frames))
    else:
        for number, frame in enumerate(frames):
            frame.to_csv(sys.stdout, index=False, header=number == 0)


def put_json_list(frames: Iterable[pd.DataFrame]) -> None:
    """Print the rows of a table as one list of JSON objects, part by part."""
    from harmonium.model_folder.json_values import json_records

    between = "[\n"
    for frame in frames:
        for record in json_records(frame):
            text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
            sys.stdout.write(between + "  " + text.replace("\n", "\n  "))
            between = ",\n"
    sys.stdout.write("\n]\n" if between == ",\n" else "[]\n")


def _first_rows(frames: Iterable[pd.DataFrame]) -> Table:
    """Return the first rows of a table that comes in parts, and how many there are."""
    first, n_rows = None, 0
    for frame in frames:
        first = frame if first is None else first
        n_rows += len(frame)
    return Table() if first is None else shown(first, n_rows=n_rows)


def put_items(items: pd.DataFrame, as_json: bool, passage_of: list[str], note: str) -> None:
    """Print items with their scores: JSON, a table at a terminal whose longest column gets the room, or CSV.

    Parameters
    ----------
    items : DataFrame
        The items; a column ``passage`` has passages or None.
    as_json : bool
        Whether to print a list of JSON objects.
    passage_of : list of str
        Columns that a terminal does not show, as the passage stands for them.
    note : str
        What is said below the table at a terminal.
    """
    if as_json or not sys.stdout.isatty():
        if "passage" in items:
            items = items.assign(passage=[None if one is None else str(one) for one in items["passage"]])
        put_frame(items, None, as_json)
        return
    console = Console()
    items = items.drop(columns=passage_of)
    texts = [name for name in items.columns if items[name].dtype == object]
    longest = max(texts, key=lambda name: items[name].astype(str).str.len().mean(), default=None)
    room = max(20, console.width - 12 * items.shape[1])
    table = Table()
    for name in items.columns:
        table.add_column(escape(str(name)), justify="right" if items[name].dtype.kind in "iuf" else "left")
    for row in items.itertuples(index=False):
        pairs = zip(items.columns, row, strict=True)
        table.add_row(*(_item_cell(value, room if name == longest else 24) for name, value in pairs))
    console.print(table)
    echo(note)


def _item_cell(value: Any, most: int) -> str | Text:
    """Return a value as text for a cell; of a passage all, with what matched in bold."""
    from harmonium.model_folder.passages import Passage

    if not isinstance(value, Passage):
        return cell(value, most)
    text = Text(value.text)
    for begin, end in value.matches:
        text.stylize("bold yellow", begin, end)
    return text


def shown(frame: pd.DataFrame, title: str | None = None, most: int = _ROWS, n_rows: int | None = None) -> Table:
    """Return a table for a terminal: the first rows, long texts cut.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is left out.
    title : str, optional
        What stands above it.
    most : int, default=20
        Number of rows that are shown.
    n_rows : int, optional
        Number of all rows, if there are more than in ``frame``.

    Returns
    -------
    rich.table.Table
        The table.
    """
    table = Table(title=title and escape(title), title_justify="left")
    for name in frame.columns:
        table.add_column(escape(str(name)), justify="right" if frame[name].dtype.kind in "iuf" else "left")
    for row in frame.head(most).itertuples(index=False):
        table.add_row(*(cell(value) for value in row))
    there = len(frame) if n_rows is None else n_rows
    if there > most:
        table.caption = f"{most} of {there:,} rows; --output FILE writes all."
    return table


def cell(value: Any, most: int = _LETTERS) -> str:
    """Return a value as text for a cell, without marks that a terminal would obey."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return escape(plain if len(plain) <= most else plain[: most - 1] + "…")


def echo(sentence: str) -> None:
    """Print a sentence on stderr."""
    Console(stderr=True).print(sentence, markup=False, highlight=False, soft_wrap=True)
