"""The protocol of a role: what a column of a table stands for, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from harmonium.core.parts import Part
from harmonium.families import Family
from harmonium.tables.column import Column

# the largest number that a view may hold
_LARGEST = 1e18


@dataclass(frozen=True)
class Block:
    """Some columns of a view, read from one column of a table.

    Attributes
    ----------
    matrix : ndarray or scipy.sparse.csr_array
        A row for each row of the table; NaN is missing.
    columns : list of str
        Names of the columns of the matrix.
    family : Family, optional
        Family of the view; None leaves it to what the data look like. Blocks of one view have the same.
    view : str, optional
        View that the block shares with others. By default it is a view by itself, named after the column.
    features : list of str, optional
        Names of the features, where the family has several for each column.
    present : ndarray of bool, optional
        Which rows have the view, for sparse matrices.
    linear_only : bool, default=False
        Whether the linear part of a head alone sees the view. Such a view is sparse and its family has no constants.
    """

    matrix: np.ndarray | scipy.sparse.csr_array
    columns: list[str]
    family: Family | None = None
    view: str | None = None
    features: list[str] | None = None
    present: np.ndarray | None = None
    linear_only: bool = False


class Reader(Part):
    """Base of readers: what a column stands for, and how it joins a view.

    A subclass, whose name is the role in a word, names what it has ``learned`` and defines `suits`, `bind` and `read`.

    Attributes
    ----------
    learned : mapping of str to type
        Attributes that `bind` sets and files keep.
    added : mapping of str to object
        Those of them that files of older versions lack, and what they are then.
    names_some : bool
        Whether a value names some of many things, as words and tags do, so that what a query does not name is unknown
        rather than absent.
    reads_texts : bool
        Whether values are texts and features are their words.
    takes_pictures : bool
        Whether values are pictures, which tables in files only name.
    forgives_texts : bool
        Whether texts are read as something else, numbers or times, of which a few that cannot be count as missing.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> from harmonium.tables import Flag
    >>> column = Column("paid", nw.from_native(pd.Series(["yes", "no", "yes"]), series_only=True))
    >>> Flag.suits(column), Flag().bind(column).read(column)[0].matrix.ravel().tolist()
    (True, [1.0, 0.0, 1.0])
    """

    role = "column"
    #: attributes that `bind` sets and files keep
    learned: ClassVar[Mapping[str, type]] = {}
    #: those that files of older versions lack, and what they are then
    added: ClassVar[Mapping[str, Any]] = {}
    #: whether a value names some of many things, so that what it does not name may be unknown rather than absent
    names_some: ClassVar[bool] = False
    #: whether values are texts and features are their words
    reads_texts: ClassVar[bool] = False
    #: whether values are pictures, which tables in files only name
    takes_pictures: ClassVar[bool] = False
    #: whether texts are read as something else, of which a few that cannot be count as missing
    forgives_texts: ClassVar[bool] = False

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether a column looks like this role.

        Roles are asked in the order of `harmonium.tables.ROLES`.

        Parameters
        ----------
        column : Column
            A column of the training data.

        Returns
        -------
        bool
            True if it does.
        """
        raise NotImplementedError

    def bind(self, column: Column) -> Self:
        """Return a copy that has learned what it needs from the training data.

        Parameters
        ----------
        column : Column
            A column of the training data.

        Returns
        -------
        Reader
            The copy.

        Raises
        ------
        InvalidViewError
            If the column cannot be read in this role.
        """
        raise NotImplementedError

    def opened(self, column: Column) -> Column:
        """Return a column with the content of files in place of their names.

        Parameters
        ----------
        column : Column
            The column.

        Returns
        -------
        Column
            By default the same, as only pictures may be named.
        """
        return column

    def read(self, column: Column) -> list[Block]:
        """Return what a column adds to views.

        Parameters
        ----------
        column : Column
            The same column of the training data or of new data.

        Returns
        -------
        list of Block
            As many as for the training data, of the same columns.
        """
        raise NotImplementedError

    def said_in(self, text: str) -> Any:
        """Return what a text that somebody searches for says about the column.

        Parameters
        ----------
        text : str
            A few words.

        Returns
        -------
        object
            A value of the column; None if the text says nothing about it.
        """
        return None

    def strange(self, column: Column, blocks: list[Block]) -> int:
        """Count the values that the training data do not have, which are missing.

        Parameters
        ----------
        column : Column
            The same column of new data.
        blocks : list of Block
            What `read` made of it.

        Returns
        -------
        int
            Number of rows.
        """
        return int((lacking_rows(column, blocks) & column.is_there).sum())

    @classmethod
    def word(cls) -> str:
        """Return the role in a word, by which users ask for it.

        Returns
        -------
        str
            The name of the class in small letters.
        """
        return cls.__name__.lower()

    @property
    def note(self) -> str:
        """What has been decided about the column, in a few words."""
        return ""

    def facts(self) -> dict[str, Any]:
        """Return what has been learned.

        Returns
        -------
        dict
            Numbers, texts, and lists of them, by name.
        """
        return {name: getattr(self, name) for name in self.learned}

    def restore(self, facts: Mapping[str, Any]) -> Self:
        """Return a copy that knows what was learned.

        Parameters
        ----------
        facts : mapping
            What `facts` returned.

        Returns
        -------
        Reader
            The copy.

        Raises
        ------
        ValueError
            If something is missing, unknown or of the wrong kind.
        """
        facts = {**self.added, **facts}
        if set(facts) != set(self.learned) or not all(isinstance(facts[name], self.learned[name]) for name in facts):
            raise ValueError(f"{type(self).__name__} learns {', '.join(self.learned) or 'nothing'}")
        if not _is_finite(facts):
            raise ValueError(f"{type(self).__name__} learns finite numbers")
        return self.with_fitted(**facts)


def _is_finite(fact: Any) -> bool:
    """Tell whether all numbers in what was learned are such as data may hold."""
    if isinstance(fact, Mapping | list | tuple):
        return all(map(_is_finite, fact.values() if isinstance(fact, Mapping) else fact))
    return not isinstance(fact, float) or abs(fact) <= _LARGEST


def lacking_rows(column: Column, blocks: list[Block]) -> np.ndarray:
    """Tell which rows a column adds nothing to views for, by what was read of it."""
    if not blocks:
        return ~column.is_there
    lacking = np.ones(len(column), dtype=bool)
    for block in blocks:
        missing = np.isnan(block.matrix).all(axis=1) if block.present is None else ~block.present
        lacking &= missing
    return lacking
