"""Columns of new rows that stand beside what a model says about them: what names the rows, and what is asked for."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd

from harmonium.cli.errors import OptionError
from harmonium.core.validation import misspelt
from harmonium.tables import Drop
from harmonium.tables.column import Column
from harmonium.tables.strings.naming import is_id_name


class Carried:
    """Columns that are carried from a file to the answers about its rows.

    Rows are named by the columns that identify them, or else by their numbers, from 0.

    Parameters
    ----------
    keep : str or None
        Names of more columns, separated by commas; None for no others.
    used : iterable of str, default=()
        Columns that the model reads or predicts: they name rows only if they are called like an identifier.

    Examples
    --------
    >>> carried = Carried("place")
    >>> carried.take(pd.DataFrame({"id": ["a", "b"], "place": ["Porto", "Split"], "price": [80, 75]}))
    >>> carried.beside(pd.DataFrame({"prediction": [4.5, 3.0]})).columns.tolist()
    ['id', 'place', 'prediction']
    """

    def __init__(self, keep: str | None = None, used: Iterable[str] = ()) -> None:
        self._keep = [] if keep is None else [name.strip() for name in keep.split(",")]
        self._used = set(used)
        self._names: list[str] | None = None
        self._block = pd.DataFrame()
        self._has_id = False

    def take(self, block: pd.DataFrame | None) -> None:
        """Take the next rows of the file; None for those of a file that has no columns."""
        if block is None:
            if self._keep:
                raise OptionError("--keep carries columns of a table; the data have none; leave it out.")
            block = pd.DataFrame()
        if self._names is None:
            lacking = [name for name in self._keep if name not in block.columns]
            if lacking:
                names = ", ".join(map(str, block.columns))
                raise OptionError(
                    f"--keep may name columns of the data ({names}); got {misspelt(lacking[0], block.columns)}; "
                    "correct the name."
                )
            naming = [name for name in block.columns if self._names_rows(block[name])]
            self._has_id = bool(naming)
            self._names = list(dict.fromkeys([*naming, *self._keep]))
        self._block = block[self._names]

    def beside(self, answer: pd.DataFrame) -> pd.DataFrame:
        """Return the answers about the rows that were taken, with the columns that are carried before them."""
        carried = self._block.reset_index(drop=True)
        if not self._has_id:
            carried.insert(0, "row", range(len(answer)), allow_duplicates=True)
        clashing = {name: f"{name}_" for name in carried.columns if name in answer.columns}
        return carried.rename(columns=clashing).join(answer)

    def _names_rows(self, cells: pd.Series) -> bool:
        """Tell whether a column identifies rows."""
        if cells.isna().any() or not cells.map(lambda cell: isinstance(cell, str | int)).all() or not cells.is_unique:
            return False
        if is_id_name(str(cells.name)):
            return True
        column = Column(str(cells.name), nw.from_native(cells, series_only=True))
        return cells.name not in self._used and Drop().bind(column).note == "an identifier"
