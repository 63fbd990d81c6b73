"""Rows of new files, block by block, and tables of what a model says about them."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from harmonium.cli.carried import Carried
from harmonium.cli.errors import OptionError
from harmonium.core.notices import notice
from harmonium.core.validation import few_of
from harmonium.estimators.input import known_views
from harmonium.exceptions import HarmoniumWarning
from harmonium.files import TableFile, is_streamable, read_data
from harmonium.tables.pictures import pictures_of

# What a table says of cells that it cannot read, and the columns in it; blocks are to be counted together.
_UNREAD = "Values of a kind that the training data do not have count as missing: "
_UNREAD_COLUMN = re.compile(r"(?P<column>.+?) \((?P<rows>\d+) rows\)(?:, |\.$)")


def new_blocks(model: Any, data: Path, pictures: Path | None, carried: Carried | None = None) -> Iterator[Any]:
    """Yield the rows of a file as a model takes them, some at a time if its format lets them be read so.

    Parameters
    ----------
    model : estimator
        A fitted model.
    data : Path
        The file, or a folder of Parquet files.
    pictures : Path or None
        Where pictures lie; None for the folder of the file.
    carried : Carried, optional
        Takes the columns of each block before the model does.

    Yields
    ------
    object
        Columns of a table that the model knows, with pictures in place of their files, or views.
    """
    if not hasattr(model, "fitted_"):
        raise OptionError(
            f"A model that is asked about a file must have views; this one is {type(model).__name__}; use "
            "harmonium.load in Python."
        )
    table = model.fitted_.table
    if table is None or not is_streamable(data):
        loaded = read_data(data)
        if carried is not None:
            carried.take(pd.DataFrame(loaded.X) if loaded.is_table else None)
        if table is not None and loaded.is_table:
            yield _columns(table, loaded.X, data, pictures)
        elif table is None and loaded.named_after_file and len(model.fitted_.input_names) == 1:
            (view,) = model.fitted_.input_names
            yield loaded.like(view, model.families_[view].codec.n_columns)
        else:
            yield loaded.X
        return
    for block in TableFile.surveyed(data).spelled_blocks():
        if carried is not None:
            carried.take(block)
        yield _columns(table, block, data, pictures)


def answer_blocks(ask: Callable[[Any], pd.DataFrame], blocks: Iterable[Any]) -> Iterator[pd.DataFrame]:
    """Yield the answers about one block after the other; a notice that differs in its numbers alone is given once.

    A notice after the last block says how many values of all blocks together count as missing.

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
    given_notices: set[str] = set()
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
            elif kind not in given_notices:
                given_notices.add(kind)
                notice(message)
        if "row" in answer.columns:
            answer = answer.assign(row=answer["row"] + first)
        first += len(block) if isinstance(block, pd.DataFrame) else 0  # other data come in one block
        yield answer
    if unread:
        notice(_UNREAD + ", ".join(f"{column} ({rows} rows)" for column, rows in unread.items()) + ".")


def _unread_rows(message: str) -> dict[str, int]:
    """Return how many rows of each column a notice says are missing."""
    return {match["column"]: int(match["rows"]) for match in _UNREAD_COLUMN.finditer(message[len(_UNREAD) :])}


def new_row(model: Any, data: Path, row: int, pictures: Path | None) -> Any:
    """Return one row of a file as views; no later ones are read."""
    first = 0
    for block in new_blocks(model, data, pictures):
        n_rows = len(block) if isinstance(block, pd.DataFrame) else len(known_views(model, block))
        if row < first + n_rows:
            return known_views(model, block)[row - first : row - first + 1]
        first += n_rows
    raise OptionError(f"--row must be a number below {first:,}, the rows of {data}; got {row}; the first is 0.")


def carried_by(model: Any, keep: str | None) -> Carried:
    """Return what carries columns of new rows to the answers of a model."""
    fitted = getattr(model, "fitted_", None)
    columns = () if fitted is None or fitted.table is None else fitted.table.columns
    targets = () if fitted is None or fitted.meaning is None else fitted.meaning.columns
    return Carried(keep, [*(column.name for column in columns if column.is_used), *targets])


def _columns(table: Any, frame: pd.DataFrame, data: Path, pictures: Path | None) -> pd.DataFrame:
    """Return the columns that a model knows, with pictures in place of their files."""
    frame = frame[[column.name for column in table.columns if column.name in frame.columns]].copy()
    if frame.shape[1] == 0:
        names = few_of(column.name for column in table.columns)
        raise OptionError(
            f"The data must have some of the columns that the model knows ({names}); {data} has none of them."
        )
    for column in table.columns:
        if column.reader.takes_pictures and column.name in frame.columns:
            images = pictures_of(frame[column.name], pictures or data.absolute().parent)
            frame[column.name] = pd.Series(images, dtype=object)
    return frame
