"""The column to predict, read as numbers, classes or labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.notices import notice
from harmonium.core.validation import few, few_of, misspelt, named
from harmonium.estimators.input.several_targets import kind_of
from harmonium.estimators.input.tags import fewest_rows
from harmonium.tables import Tags
from harmonium.tables.column import Column

Task = Literal["number", "class", "labels"]
TASKS: tuple[Task, ...] = ("number", "class", "labels")
# Labels that are predicted are at most this many: a convention.
_MOST_LABELS = 100
# Texts that name no class, whatever the other classes are.
_NO_CLASS = ("", "?")


@dataclass(frozen=True, eq=False)
class Target:
    """The column to predict.

    Attributes
    ----------
    task : {"number", "class", "labels"}
        What kind it is.
    y : Series or DataFrame
        Numbers, classes, or a column of 0 and 1 for each label, under the names of the columns.
    """

    task: Task
    y: Any


def read_target(frame: pd.DataFrame, name: str, task: str | None = None) -> Target:
    """Return a column as targets.

    Parameters
    ----------
    frame : DataFrame
        A table.
    name : str
        Its column to predict.
    task : {"number", "class", "labels"}, optional
        What the column holds. By default numbers of more than two values are numbers, also in texts such as "13%",
        lists and texts with separators are labels, and everything else is a class. Classes that are no numbers may be
        called "none" or "NA": only empty cells and "?" are missing among them.

    Returns
    -------
    Target
        Targets that estimators take; missing ones are None or NaN.

    Raises
    ------
    ValueError
        If there is no such column, or it does not suit the task.

    Examples
    --------
    >>> frame = pd.DataFrame({"stars": [1, 5, 3], "kind": ["a", "b", "a"]})
    >>> read_target(frame, "stars").task, read_target(frame, "kind").task
    ('number', 'class')
    """
    if name not in frame.columns:
        raise ValueError(
            f"The target must be a column of the table ({few_of(frame.columns)}); got "
            f"{misspelt(name, frame.columns)}; correct the name."
        )
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}; got {task!r}; leave it out to let the data tell.")
    column = Column(name, nw.from_native(frame[name], series_only=True))
    found = kind_of(column)
    chosen = task or ("labels" if found == "label" else found)
    classes = _classes(column) if chosen == "class" else None
    if not (column.n_observed if classes is None else classes.notna().any()):
        raise ValueError(f"The target must have values to learn from; column {name!r} is empty; choose another.")
    if chosen == "number":
        if column.numbers is None:
            raise ValueError(
                f"A target that is a number must have numbers; column {name!r} has none; try another task."
            )
        return Target("number", pd.Series(column.numbers, name=name))
    if classes is not None:
        _warn_of_odd_classes(column, classes)
        return Target("class", classes)
    reader = Tags(min_rows=fewest_rows(len(column)), max_features=_MOST_LABELS).bind(column)
    block = reader.read(column)[0]
    return Target("labels", _labels(scipy.sparse.csr_array(block.matrix), np.asarray(block.present), reader.tags_))


def _labels(matrix: scipy.sparse.csr_array, present: np.ndarray, names: list[str]) -> pd.DataFrame:
    """Return a column for each label, which is sparse unless the labels of some rows are unknown.

    Unknown cells are no zeros, and as sparse ones they would take eight bytes; 0, 1 and NaN go into two.
    """
    labels = matrix.astype(np.int8)
    if present.all():
        return pd.DataFrame.sparse.from_spmatrix(labels, columns=names)
    values = labels.toarray().astype(np.float16)
    values[~present] = np.nan
    return pd.DataFrame(values, columns=names)


def _classes(column: Column) -> pd.Series:
    """Return classes as they are.

    Whole numbers stay numbers, unless some are missing; other values are texts.
    "none", "-" and the like stand for missing values among inputs, and beside numbers, but may well be classes: only
    empty cells and question marks are missing.
    """
    if column.kind in ("number", "bool") and column.is_there.all() and column.is_whole():
        return pd.Series(column.series.to_list(), name=column.name)
    texts = column.texts.tolist()
    if column.numbers is None:
        for row, value in enumerate(column.values):
            if texts[row] is None and value is not None:
                text = str(value).strip()
                texts[row] = None if text in _NO_CLASS else text
    return pd.Series(texts, name=column.name, dtype=object)


def _warn_of_odd_classes(column: Column, classes: pd.Series) -> None:
    """Warn of classes that are spelled like missing values, as some may be such."""
    odd = classes[classes.notna() & pd.isna(column.texts)].value_counts()
    if len(odd):
        names = few(f"{named(name)} ({count:,} rows)" for name, count in odd.items())
        notice(
            f"Values of the target {column.name!r} that often mean that nothing is known are classes of their own: "
            f"{names}; leave their cells empty if they are missing."
        )
