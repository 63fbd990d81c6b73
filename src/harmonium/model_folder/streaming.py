"""Tables that stay in their files: a sample of their rows in memory, and all rows as shards on disk.

Roles, words and levels are learned from evenly spaced rows, all of them if they are few. Then every row becomes views
once, block by block, in files beside the folder that is made; training reads these.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium.core.validation import few_of, shown
from harmonium.files import TableFile
from harmonium.model_folder.fit import unfinished_path
from harmonium.tables import Table
from harmonium.views import Shards, Views

#: rows that roles and words are learned from, and that a folder keeps with their cells: a convention
KEPT_ROWS = 50_000
#: name of the column that tells where in the data an item comes from
DATA_ROW = "data_row"


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table in a file, and what is in memory of it.

    Attributes
    ----------
    file : TableFile
        The table.
    sample : DataFrame
        Evenly spaced rows with all columns.
    rows : ndarray of int64
        Their numbers.
    target : DataFrame or None
        One column, of all rows.
    """

    file: TableFile
    sample: pd.DataFrame
    rows: np.ndarray
    target: pd.DataFrame | None

    @classmethod
    def opened(cls, path: Path, target: str | None, kept: int | None = None) -> StreamedTable:
        """Return a table after a look at all of its rows.

        Parameters
        ----------
        path : Path
            Its file, or a folder of Parquet files.
        target : str or None
            Column of which all rows are wanted in memory.
        kept : int, optional
            Number of rows of the sample, at most. Default: 50,000.

        Returns
        -------
        StreamedTable
            The table.
        """
        file = TableFile.surveyed(path)
        if target is not None and target not in file.types:
            raise ValueError(
                f"The target must be a column of the table ({few_of(file.types)}); got {shown(target)}; correct the "
                "name."
            )
        targets: list[pd.DataFrame] = []
        step = -(-file.n_rows // (kept or KEPT_ROWS))
        parts, first = [], 0
        for block in file.blocks():
            parts.append(block.iloc[np.arange(-first % step, len(block), step)])
            first += len(block)
            if target is not None:
                targets.append(block[[target]])
        sample, rows = pd.concat(parts, ignore_index=True), np.arange(0, file.n_rows, step)
        return cls(file, sample, rows, pd.concat(targets, ignore_index=True) if targets else None)

    @property
    def items(self) -> pd.DataFrame:
        """The rows of the sample, with their numbers in the data if these are not the same."""
        if len(self.rows) == self.file.n_rows:
            return self.sample
        name = DATA_ROW
        while name in self.sample.columns:
            name += "_"
        return pd.concat([pd.Series(self.rows, name=name), self.sample], axis=1)

    def views(self, table: Table, folder: str | os.PathLike[str]) -> Views:
        """Return the views of all rows, which are written beside the folder that is to be made.

        Parameters
        ----------
        table : Table
            What was learned from the sample.
        folder : path
            The model folder; `fit_folder` removes what lies beside it once that is there.

        Returns
        -------
        Views
            The views, whose rows are read from the disk.
        """
        blocks = unfinished_path(folder) / "blocks"
        shutil.rmtree(blocks, ignore_errors=True)
        return Shards.stored(self._read(table), blocks).views()

    def _read(self, table: Table) -> Iterator[Views]:
        names = [column.name for column in table.columns]
        for block in self.file.blocks():
            yield table.read(nw.from_native(block[names], eager_only=True), is_new=False)
