"""Targets: the values to be predicted, row by row, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Kind = Literal["class", "number", "label"]
#: kinds of targets in words
KINDS: dict[Kind, str] = {"class": "classes", "number": "numbers", "label": "several labels at once"}
# Cells that are looked at together: for memory only.
_CELLS_AT_ONCE = 2**20


@dataclass(frozen=True)
class Targets:
    """What is to be predicted, row by row.

    Attributes
    ----------
    stored : ndarray of shape (rows, columns)
        Class numbers (-1 where they are unknown) or numbers (NaN where they are unknown), as the head takes them.
        Labels are zeros and ones, as such numbers, or as int8 (-1 where they are unknown) in an eighth of the memory.
    weight : ndarray of shape (rows,)
        Weight of each row: how often it counts, in losses, errors and probabilities.
    emphasis : ndarray of shape (rows,), optional
        By how much more its loss counts while a model is trained, and nowhere else: weights of classes.
    offset : ndarray of shape (rows, outputs), optional
        What is added to the scores of the topics before the loss is taken: those of a linear part.
    """

    stored: np.ndarray
    weight: np.ndarray
    emphasis: np.ndarray | None = None
    offset: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """Class numbers (-1 where they are unknown), numbers, or zeros and ones (both NaN where they are unknown)."""
        return _numbers(self.stored)

    def column(self, number: int) -> np.ndarray:
        """Return the values of one column."""
        return _numbers(self.stored[:, number])

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the values of some rows at a time, at least once."""
        size = max(1, _CELLS_AT_ONCE // self.stored.shape[1])
        for first in range(0, max(len(self.stored), 1), size):
            yield _numbers(self.stored[first : first + size])

    @property
    def loss_weight(self) -> np.ndarray:
        """Weight of each row's loss while a model is trained."""
        return self.weight if self.emphasis is None else self.weight * self.emphasis

    @property
    def known(self) -> np.ndarray:
        """Mask of the rows that have a target at all."""
        unknown = self.stored < 0 if np.issubdtype(self.stored.dtype, np.integer) else np.isnan(self.stored)
        return np.asarray(~unknown.all(axis=1))

    @property
    def counting(self) -> np.ndarray:
        """Mask of the rows that have a target and a weight above zero."""
        return np.asarray(self.known & (self.weight > 0))

    def as_rows(self) -> Targets:
        """Return the same targets with weights that tell how many rows there are, of one or more on average.

        Weights may say how often a row counts, or be shares of all rows that add up to one, which say nothing of how
        much is known.
        """
        mean = float(self.weight[self.counting].mean()) if self.counting.any() else 1.0
        return self if mean >= 1 else replace(self, weight=self.weight / mean)

    def take(self, rows: np.ndarray | slice) -> Targets:
        """Return some of the rows."""
        given = (self.emphasis, self.offset)
        return Targets(self.stored[rows], self.weight[rows], *(None if part is None else part[rows] for part in given))

    @classmethod
    def joined(cls, parts: Sequence[Targets]) -> Targets:
        """Return the rows of several targets, one after the other; offsets belong to one model and are left out."""
        emphasis = None
        if any(part.emphasis is not None for part in parts):
            emphasis = np.concatenate([part.loss_weight / np.where(part.weight, part.weight, 1) for part in parts])
        values, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("stored", "weight"))
        return cls(values, weight, emphasis)


def _numbers(stored: np.ndarray) -> np.ndarray:
    """Return targets as heads compute with them: labels that are stored in int8 as 0, 1 and NaN."""
    if stored.dtype != np.int8:
        return stored
    values = stored.astype(np.float64)
    values[stored < 0] = np.nan
    return values


@dataclass(frozen=True, eq=False)
class TargetSpec:
    """What the values of targets stand for.

    Attributes
    ----------
    kind : {"class", "number", "label"}
        Whether they are classes, numbers, or several labels that an item has or lacks.
    classes : list of ndarray
        Classes of each column; [0, 1] for each label; empty for numbers.
    one_column : bool
        Whether y had one dimension, so that predictions have one too.
    n_columns : int
        Number of columns.
    names : tuple of str, optional
        Names of the columns, if y has any; for one column of tags, the tags.
    separator : str, optional
        Mark between tags, empty for lists. None: y is no column of tags.
    tag_column : str, optional
        Name of the column of tags, if it has one.
    """

    kind: Kind
    classes: list[np.ndarray]
    one_column: bool = True
    n_columns: int = 1
    names: tuple[str, ...] | None = None
    separator: str | None = None
    tag_column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that y had."""
        if self.separator is None:
            return self.names or ()
        return () if self.tag_column is None else (self.tag_column,)

    @property
    def n_classes(self) -> list[int]:
        """Number of classes of each column."""
        return [len(classes) for classes in self.classes]


@dataclass(frozen=True, eq=False)
class Labels:
    """What the user wants predicted: targets in numbers, and what they stand for.

    Attributes
    ----------
    meaning : TargetSpec
        What the values stand for.
    targets : Targets
        The values, row by row.
    order : ndarray of int, optional
        Numbers of the classes of the only column from the lowest to the highest, if y itself puts them in order.
    """

    meaning: TargetSpec
    targets: Targets
    order: np.ndarray | None = None
