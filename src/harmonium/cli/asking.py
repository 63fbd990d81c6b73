"""What commands ask a model: rows of new files, items by words and columns, explanations."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harmonium.cli.printing import cell, put_json
from harmonium.cli.refusing import Refusal
from harmonium.exceptions import HarmoniumWarning
from harmonium.files import TableFile, in_blocks, read_data
from harmonium.files.pictures import pictures_of
from harmonium.model_folder import ModelFolder
from harmonium.notices import notice
from harmonium.persist import load_model

# What a table says of cells that it cannot read, and the columns in it; blocks are to be counted together.
_UNREAD = "Values of a kind that the training data do not have count as missing: "
# letters of the longest bar on each side of the line
_BAR = 8
_UNREAD_COLUMN = re.compile(r"(?P<column>.+?) \((?P<rows>\d+) rows\)(?:, |\.$)")


def new_blocks(model: Any, data: Path, pictures: Path | None) -> Iterator[Any]:
    """Yield the rows of a file as a model takes them, some at a time if its format lets them be read so.

    Parameters
    ----------
    model : estimator
        A fitted model.
    data : Path
        The file, or a folder of Parquet files.
    pictures : Path or None
        Where pictures lie; None for the folder of the file.

    Yields
    ------
    object
        Columns of a table that the model knows, with pictures in place of their files, or views.
    """
    table = getattr(model, "fitted_", None) and model.fitted_.table
    if table is None or not in_blocks(data):
        loaded = read_data(data)
        if table is not None and loaded.is_table:
            yield _columns(table, loaded.X, data, pictures)
        elif table is None and loaded.named_after_file and len(model.fitted_.input_names) == 1:
            (view,) = model.fitted_.input_names
            yield loaded.like(view, model.families_[view].n_columns)
        else:
            yield loaded.X
        return
    for block in TableFile.surveyed(data).blocks():
        yield _columns(table, block, data, pictures)


def answered(ask: Callable[[Any], pd.DataFrame], blocks: Iterable[Any]) -> Iterator[pd.DataFrame]:
    """Yield the answers about one block after the other; a notice that differs in its numbers alone is given once.

    How many values count as missing is told after the last block, of all blocks together.

    Parameters
    ----------
    ask : callable
        Takes a block of rows and returns a table; a column ``row`` counts them from 0.
    blocks : iterable
        Blocks of rows.

    Yields
    ------
    DataFrame
        The answers, in which rows are counted through.
    """
    told: set[str] = set()
    unread: Counter[str] = Counter()
    first = 0
    for block in blocks:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HarmoniumWarning)
            answer = ask(block)
        for message in (str(one.message) for one in caught if issubclass(one.category, HarmoniumWarning)):
            kind = re.sub(r"[\d,.]+", "", message)
            if message.startswith(_UNREAD):
                unread.update(_unread_rows(message))
            elif kind not in told:
                told.add(kind)
                notice(message)
        if "row" in answer.columns:
            answer = answer.assign(row=answer["row"] + first)
        first += len(block) if isinstance(block, pd.DataFrame) else 0  # other data come in one block
        yield answer
    if unread:
        notice(_UNREAD + ", ".join(f"{column} ({rows} rows)" for column, rows in unread.items()) + ".")


def _unread_rows(message: str) -> dict[str, int]:
    """Return how many rows of each column a notice says are missing."""
    return {found["column"]: int(found["rows"]) for found in _UNREAD_COLUMN.finditer(message[len(_UNREAD) :])}


def _new_row(model: Any, data: Path, row: int, pictures: Path | None) -> Any:
    """Return one row of a file as views; no later ones are read."""
    first = 0
    for block in new_blocks(model, data, pictures):
        n_rows = len(block) if isinstance(block, pd.DataFrame) else len(model.as_views(block))
        if row < first + n_rows:
            return model.as_views(block)[row - first : row - first + 1]
        first += n_rows
    raise Refusal(f"--row must be a number below {first:,}, the rows of {data}; got {row}; the first is 0.")


def _columns(table: Any, frame: pd.DataFrame, data: Path, pictures: Path | None) -> pd.DataFrame:
    """Return the columns that a model knows, with pictures in place of their files."""
    frame = frame[[column.name for column in table.columns if column.name in frame.columns]].copy()
    if frame.shape[1] == 0:
        names = ", ".join(repr(column.name) for column in table.columns)
        raise Refusal(
            f"The data must have some of the columns that the model knows ({names}); {data} has none of them."
        )
    for column in table.columns:
        if column.reader.takes_pictures and column.name in frame.columns:
            images = pictures_of(frame[column.name], pictures or data.absolute().parent)
            frame[column.name] = pd.Series(images, dtype=object)
    return frame


def found_items(
    folder: ModelFolder, words: str | None, where: list[str], like: int | None, n: int, columns: str | None
) -> pd.DataFrame:
    """Return the items that are found: their numbers, scores and columns.

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
        raise Refusal("A search takes words, --where COLUMN=VALUE, or --like ITEM; got none or both; give one of them.")
    if like is not None:
        found = folder.nearest(like, n)
    elif not where:
        found = folder.search(words, n)
    else:
        found = folder.search(_values(folder, words, where), n)
    wanted = folder.items.columns.tolist() if columns is None else [name.strip() for name in columns.split(",")]
    lacking = [name for name in wanted if name not in folder.items.columns]
    if lacking:
        known = ", ".join(folder.items.columns)
        raise Refusal(f"--columns may name columns of the items ({known}); got {lacking[0]!r}; correct the name.")
    names = _told_apart(found.columns.tolist(), folder.items.columns.tolist())
    return found.join(folder.items[wanted].rename(columns=names), on="row")


def _told_apart(own: list[str], columns: list[str]) -> dict[str, str]:
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
        values = {column.name: column.reader.said_in(words) for column in table.columns}
    for pair in where:
        name, mark, value = pair.partition("=")
        if not mark:
            raise Refusal(f"--where takes COLUMN=VALUE, as in place=Rioja; got {pair!r}; correct it.")
        values[name] = value
    return values


def print_explanation(
    model: Path, data: Path | None, row: int, output: str | None, n: int, pictures: Path | None, as_json: bool
) -> None:
    """Print what moved the prediction of a row.

    Parameters
    ----------
    model : Path
        The model folder.
    data : Path or None
        File with new rows; None for the items of the folder.
    row : int
        Number of the row.
    output : str or None
        Class, label or number to explain; None for what is predicted.
    n : int
        Number of topics and features shown.
    pictures : Path or None
        Where pictures lie.
    as_json : bool
        Whether to print JSON.
    """
    if data is None:
        folder = ModelFolder.open(model)
        why, estimator = folder.explain(row), folder.model
    else:
        estimator = load_model(model)
        if not hasattr(estimator, "explain"):
            raise Refusal("An explanation needs a model with a target; this one was fitted without; fit it with one.")
        why = estimator.explain(_new_row(estimator, data, row, pictures))[0]
    if as_json:
        put_json(why.to_dict(output, n))
        return
    console = Console()
    number = why.number_of(output)
    console.print(
        f"Score of [bold]{escape(why.outputs[number])}[/bold]: {why.scores[number]:.4g}. The average item has "
        f"{why.base[number]:.4g}; what follows adds the rest, {why.scores[number] - why.base[number]:+.4g}.",
        highlight=False,
    )
    views, features, units = (why.table(output, by) for by in ("view", "feature", "topic"))
    if len(views) > 1:
        console.print(_bars("By column", views.rename(columns={"view": "column"}), ["column"], n))
    shown = ["column", "feature"] if len(views) > 1 else ["feature"]
    console.print(_bars("By feature", features.rename(columns={"view": "column"}), shown, n))
    units = units[units["total"] != 0].rename(columns={"label": "topic"})
    units["through"] = [_words(why.table(output, unit=unit)) for unit in units["unit"]]
    units["present"] = units["unit"].str.startswith("topic_")  # other units come last, as what a row has not does
    console.print(_bars("By topic", units, ["topic", "through"], n))


def _words(table: pd.DataFrame) -> str:
    """Return the first features of a table with what they add."""
    pairs = zip(table["feature"][:5], table["total"][:5], strict=True)
    return ", ".join(f"{feature} {total:+.3f}" for feature, total in pairs)


def _bars(title: str, parts: pd.DataFrame, names: list[str], n: int) -> Table:
    """Return a table of what some parts add, with bars to the left of a line if it is negative, else to the right.

    The first n parts that are present stand before all others of them, and those that are not after these.
    """
    present, absent = parts[parts["present"]], parts[~parts["present"]]
    listed = [*present[:n][[*names, "total"]].to_numpy(), *absent[:n][[*names, "total"]].to_numpy()]
    left = [*present["total"][n:], *absent["total"][n:]]
    if left:
        listed.insert(min(n, len(present)), [f"{len(left)} others", *[""] * (len(names) - 1), sum(left)])
    most = max((abs(row[-1]) for row in listed), default=0.0) or 1.0
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name)
    table.add_column("adds", justify="right")
    table.add_column("", no_wrap=True)
    for *own, total in listed:
        bar = "█" * round(_BAR * abs(total) / most)
        drawn = f"{bar if total < 0 else '':>{_BAR}}│{bar if total > 0 else '':<{_BAR}}"
        table.add_row(*(cell(name, 90) for name in own), f"{total:+.4f}", drawn)
    return table
