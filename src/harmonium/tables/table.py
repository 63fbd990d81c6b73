"""A table that has been learned: what each column stands for, and how rows become views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone

from harmonium.core.notices import notice
from harmonium.core.parameters import RESERVED
from harmonium.core.parts import as_part, listed_names, named_parts
from harmonium.core.validation import few, few_of, misspelt, named
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.features.encoders import as_encoder
from harmonium.tables.base import Block, Reader, lacking_rows
from harmonium.tables.column import Column
from harmonium.tables.embedding import Embed, Embedding, Encoders, check_columns
from harmonium.tables.overview import Overview
from harmonium.tables.roles.categories import CATEGORIES, Category, Date, Tags
from harmonium.tables.roles.drop import Drop
from harmonium.tables.roles.image import Image
from harmonium.tables.roles.measure import Measure
from harmonium.tables.roles.name import Name
from harmonium.tables.roles.numbers import COUNTS, FLAGS, NUMBERS, Count, Flag, Number, Vector
from harmonium.tables.roles.sequence import Sequence
from harmonium.tables.roles.words import Words
from harmonium.views import Views
from harmonium.views.index import row_names

#: roles in the order in which a column is tried: the first that suits it is taken
ROLES: tuple[type[Reader], ...] = (
    *(Drop, Flag, Date, Vector, Measure, Tags, Category, Count, Number, Name, Words),
    *(Image, Sequence),
)


@dataclass(frozen=True)
class TableColumn:
    """What has been learned of one column.

    Attributes
    ----------
    name : str
        Name of the column.
    reader : Reader
        How it is read.
    view : str
        Name of the view that it makes by itself, if it does.
    missing : float
        Share of the training rows without a value.
    embedding : Embedding, optional
        The embedding that it brings beside what its role reads.
    """

    name: str
    reader: Reader
    view: str
    missing: float
    embedding: Embedding | None = None

    @property
    def is_used(self) -> bool:
        """Whether anything is read of it."""
        return self.embedding is not None or not isinstance(self.reader, Drop)

    def read(self, column: Column) -> list[Block]:
        """Return what the column adds to views, of the training data or of new ones."""
        opened = self.reader.opened(column)
        return self.reader.read(opened) + ([] if self.embedding is None else [self.embedding.read(opened)])

    def with_encoder(self, encoder: Any) -> TableColumn:
        """Return a copy that is embedded by an encoder; the same for None."""
        if encoder is None or self.embedding is None:
            return self
        return replace(self, embedding=self.embedding.with_encoder(self.name, as_encoder(encoder)))

    def said_in(self, text: str) -> Any:
        """Return what a text that somebody searches for says about the column; None if nothing.

        An embedding of texts takes any of them.
        """
        said = self.reader.said_in(text)
        is_taken = self.embedding is not None and not self.embedding.of_pictures and self.embedding.takes_new
        return text if said is None and is_taken else said

    def empty_blocks(self) -> list[Block]:
        """Return what the column adds to views for a row without a value."""
        return self.read(_empty(self.name, 1))


@dataclass(frozen=True)
class Table:
    """What has been learned of a table; never changed.

    Parameters
    ----------
    columns : tuple of TableColumn
        What has been learned of each column, in order.

    Examples
    --------
    >>> frame = nw.from_native(pd.DataFrame({"price": [3.0, 5.5, 4.0], "place": ["Rome", "Oslo", "Rome"]}))
    >>> table, views = Table.learn(columns_of(frame), roles={"place": "category"})
    >>> views.names, table.features
    (['numbers', 'categories'], {'numbers': ['price'], 'categories': ['place=Rome']})
    """

    columns: tuple[TableColumn, ...]

    @classmethod
    def learn(
        cls,
        columns: list[Column],
        index: pd.Index | None = None,
        roles: Mapping[str, Any] | None = None,
        remainder: str = "infer",
        embed: Embed | None = None,
        encoders: Encoders | None = None,
    ) -> tuple[Table, Views]:
        """Return what can be learned of a frame, and its views.

        Parameters
        ----------
        columns : list of Column
            Columns of the training data.
        index : Index, optional
            Names of the rows.
        roles : mapping of str to str or Reader, optional
            Roles of some columns.
        remainder : {"infer", "drop"}, default="infer"
            Role of the others.
        embed : mapping of str to object, or object, optional
            Encoders of some columns, or one of all columns of texts.
        encoders : Encoders, optional
            What has been made of them before.

        Returns
        -------
        table : Table
            What has been learned.
        views : Views
            The views, which know the table.
        """
        names = [column.name for column in columns]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidViewError(
                f"A table needs columns of different names, also as text; {twice[0]!r} occurs twice; rename one."
            )
        asked = {str(name): role for name, role in (roles or {}).items()}
        for name in asked:
            if name not in names:
                raise InvalidViewError(
                    f"roles may only name columns of the table ({few_of(names)}); got {misspelt(name, names)}; "
                    "correct the name."
                )
        learned: list[TableColumn] = []
        blocks: dict[str, list[Block]] = {}
        taken = {*RESERVED, NUMBERS, CATEGORIES, FLAGS, COUNTS}
        readers = {column.name: _bound(column, asked.get(column.name, remainder)) for column in columns}
        made_by = (encoders or Encoders()).by_column(embed, readers)
        for column in columns:
            reader, view = readers[column.name], _untaken(column.name.replace(".", "_"), taken)
            embedding = None
            if column.name in made_by:
                embedding = Embedding.made_by(made_by[column.name], _untaken(f"{view}_embedding", taken), reader)
            found = TableColumn(column.name, reader, view, 0.0, embedding)
            read = found.read(column)
            learned.append(replace(found, missing=float(lacking_rows(column, read).mean())))
            for block in read:
                blocks.setdefault(block.view or view, []).append(block)
        table = cls(tuple(learned))
        table._tell_left_out([name for name in names if asked.get(name, remainder) == "infer"])
        return table, _views(blocks, index, table)

    def _tell_left_out(self, inferred: list[str]) -> None:
        """Tell which columns are left out though nobody asked for it, or refuse if that leaves none."""
        silent = [column for column in self.columns if not column.is_used]
        if len(silent) == len(self.columns):
            raise InvalidViewError(
                f"A table needs at least one column that tells something; all are left out ({_reasons(silent)}); pass "
                "more rows, or the roles of columns as TableViews(roles=...)."
            )
        unasked = [column for column in silent if column.name in inferred]
        if unasked:
            notice(f"Columns left out of the model: {_reasons(unasked)}; pass TableViews(roles=...) to keep one.")

    def read(self, frame: nw.DataFrame, is_new: bool = True) -> Views:
        """Return the views of a frame that has some of the columns.

        Parameters
        ----------
        frame : narwhals.DataFrame
            The same columns in any order; what lacks is missing.
        is_new : bool, default=True
            Whether it is other data than the table was learned from, so that strange values are told.

        Returns
        -------
        Views
            The views, which know the table.
        """
        there = {column.name: column for column in columns_of(frame)}
        self._tell_differences(there)
        blocks: dict[str, list[Block]] = {}
        strange: list[str] = []
        for column in self.columns:
            data = there[column.name] if column.name in there else _empty(column.name, len(frame))
            read = column.read(data)
            n_strange = column.reader.strange(data, read) if is_new else 0
            if n_strange:
                strange.append(f"{column.name!r} ({n_strange} rows)")
            for block in read:
                blocks.setdefault(block.view or column.view, []).append(block)
        if strange:
            notice(f"Values of a kind that the training data do not have count as missing: {', '.join(strange)}.")
        return _views(blocks, row_names(frame), self)

    def _tell_differences(self, there: Mapping[str, Column]) -> None:
        """Tell which columns lack and which are new; refuse a frame that has none of the columns."""
        known = [column.name for column in self.columns]
        used = [column.name for column in self.columns if column.is_used]
        lacking = [name for name in used if name not in there]
        if len(lacking) == len(used):
            raise InvalidViewError(
                f"The table must have some of the columns that the model was fitted on ({few_of(used)}); got "
                f"{few_of(list(there))}; pass the same columns."
            )
        if lacking:
            notice(f"The model was fitted on columns that the table lacks, which count as missing: {few_of(lacking)}.")
        new = [name for name in there if name not in known]
        if new:
            notice(f"Columns that the model was not fitted on are not used: {few_of(new)}.")

    def reads_like(self, other: Table) -> bool:
        """Tell whether another table reads the same columns in the same way.

        It may lack some of the embeddings.

        Parameters
        ----------
        other : Table
            The other table.

        Returns
        -------
        bool
            True if both have learned the same.
        """
        mine, theirs = (
            [(column.name, column.view, type(column.reader), column.reader.facts()) for column in table.columns]
            for table in (self, other)
        )
        mine_made, theirs_made = (
            {name: embedding.facts() for name, embedding in table.embeddings.items()} for table in (self, other)
        )
        return mine == theirs and theirs_made.items() <= mine_made.items()

    @property
    def embeddings(self) -> dict[str, Embedding]:
        """The embeddings of columns, by their names."""
        return {column.name: column.embedding for column in self.columns if column.embedding is not None}

    def without_unready(self) -> tuple[Self, list[str]]:
        """Return a copy without embeddings whose encoders are not here.

        Returns
        -------
        table : Table
            The copy.
        names : list of str
            Names of those encoders.
        """
        lacking = {name: entry.identity.name for name, entry in self.embeddings.items() if not entry.takes_new}
        columns = (replace(entry, embedding=None) if entry.name in lacking else entry for entry in self.columns)
        return replace(self, columns=tuple(columns)), sorted(set(lacking.values()))

    def with_encoders(self, encoders: Embed) -> Self:
        """Return a copy whose columns are embedded by encoders that are passed.

        Parameters
        ----------
        encoders : mapping of str to object, or object
            Encoders by column, or one for all columns that are embedded: what `TableViews` takes as ``embed``.

        Returns
        -------
        Table
            The copy.

        Raises
        ------
        InvalidViewError
            If one of them is not the one that the table was learned with, or a column has no embedding.
        """
        names = list(self.embeddings)
        if not names:
            raise InvalidViewError("Encoders belong to columns with an embedding; the model has none; leave them out.")
        if not isinstance(encoders, Mapping):
            encoders = dict.fromkeys(names, as_encoder(encoders))
        check_columns(encoders, names)
        return replace(self, columns=tuple(column.with_encoder(encoders.get(column.name)) for column in self.columns))

    @property
    def features(self) -> dict[str, list[str]]:
        """Names of the features of each view."""
        result: dict[str, list[str]] = {}
        for column in self.columns:
            for block in column.empty_blocks():
                result.setdefault(block.view or column.view, []).extend(block.features or block.columns)
        return result

    @property
    def linear_only(self) -> set[str]:
        """Names of the views that the linear part of a head alone sees."""
        blocks = [block for column in self.columns for block in column.empty_blocks()]
        return {block.view for block in blocks if block.linear_only and block.view is not None}

    @property
    def origins(self) -> dict[str, list[str]]:
        """Names of the columns that the features of each view come from."""
        result: dict[str, list[str]] = {}
        for column in self.columns:
            for block in column.empty_blocks():
                names = [column.name] * len(block.features or block.columns)
                result.setdefault(block.view or column.view, []).extend(names)
        return result

    def summary(self, families: Mapping[str, Family]) -> pd.DataFrame:
        """Return what was decided about each column.

        Parameters
        ----------
        families : mapping of str to Family
            Families of the views.

        Returns
        -------
        DataFrame
            A row for each column: its role, view and family, number of features, share missing, and a note.
        """
        rows = []
        for column in self.columns:
            blocks = column.empty_blocks()
            names = list(dict.fromkeys(block.view or column.view for block in blocks))
            rows.append(
                {
                    "column": column.name,
                    "role": column.reader.word(),
                    "view": ", ".join(names),
                    "family": ", ".join(type(families[name]).__name__ for name in names if name in families),
                    "features": sum(len(block.features or block.columns) for block in blocks),
                    "missing": round(column.missing, 4),
                    "note": _note(column),
                }
            )
        return Overview(pd.DataFrame(rows).set_index("column"))


def reader_of(name: str, role: Any) -> Reader:
    """Return the reader that a user asks for by a word or by an instance."""
    reader = as_part(Reader, role)
    if not isinstance(reader, Reader):
        raise ValueError(
            f"roles[{name!r}] must be 'infer', {listed_names(Reader.role)}, or a reader such as Words(); "
            f"got {misspelt(role, named_parts(Reader.role))}; correct it."
        )
    reader.check()
    return reader


def _bound(column: Column, role: Any) -> Reader:
    """Return the reader that was asked for, or the first that suits a column, with all that it has learned.

    What cannot be read in the role that suits it best is left out.
    """
    if not (isinstance(role, str) and role == "infer"):
        return reader_of(column.name, role).bind(column)
    reader = next((role() for role in ROLES if role.suits(column)), Drop())
    try:
        return reader.bind(column)
    except InvalidViewError:
        return Drop().with_fitted(reason_="nothing in it repeats")


def columns_of(frame: nw.DataFrame) -> list[Column]:
    """Return the columns of a frame, each of which remembers what was read from it."""
    return [Column(str(series.name), series) for series in frame.iter_columns()]


def _untaken(view: str, taken: set[str]) -> str:
    """Return a name that no other view has, and take it."""
    while view in taken:
        view += "_"
    taken.add(view)
    return view


def _note(column: TableColumn) -> str:
    """Return what has been decided about a column, in a few words."""
    embedded = "" if column.embedding is None else f"embedded by {column.embedding.identity.name}"
    return ", ".join(note for note in (column.reader.note, embedded) if note)


def _empty(name: str, n_rows: int) -> Column:
    """Return a column without any value."""
    return Column(name, nw.from_native(pd.Series([None] * n_rows, dtype=object), series_only=True))


def _views(blocks: Mapping[str, list[Block]], index: pd.Index | None, table: Table) -> Views:
    """Return views from the blocks that make them up."""
    matrices, columns, features, families, present = {}, {}, {}, {}, {}
    for view, parts in blocks.items():
        matrices[view] = parts[0].matrix if len(parts) == 1 else np.hstack([part.matrix for part in parts])
        columns[view] = parts[0].columns if len(parts) == 1 else [name for part in parts for name in part.columns]
        family = parts[0].family
        if family is not None and "n_categories" in family.settings:
            family = clone(family).set_params(n_categories=[len(part.features or ()) for part in parts])
        families[view] = family
        if any(part.features is not None for part in parts):
            features[view] = [name for part in parts for name in part.features or part.columns]
        if scipy.sparse.issparse(parts[0].matrix) and parts[0].present is not None:
            present[view] = parts[0].present
    linear_only = {view for view, parts in blocks.items() if parts[0].linear_only}
    return Views(matrices, present=present, index=index).described(columns, features, families, table, linear_only)


def _reasons(columns: list[TableColumn]) -> str:
    return few(f"{named(column.name)} ({column.reader.note})" for column in columns)
