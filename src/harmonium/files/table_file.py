"""Tables in files that are read some rows at a time: CSV and the like, JSON lines, Parquet.

A file is read through once before its rows are used, so that a column has one type in all blocks, whatever its values
in a block look like, and a damaged file is refused before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from harmonium.files.data_file import endings, refuse
from harmonium.files.json_tables import jsonl_blocks
from harmonium.files.parquet_tables import is_parquet_folder, parquet_blocks, parquet_files
from harmonium.files.text_tables import csv_blocks

#: rows of a block: for memory only
BLOCK_ROWS = 10_000
#: bytes from which on a file is streamed: a table takes several times as much memory as disk. A convention.
STREAMED_FROM = 256 * 2**20
# How much larger a table is than its file, where that is compressed: a convention.
_PACKED = 4

# from a path, a number of rows, and columns that are texts whatever they look like
Blocks = Callable[[Path, int, frozenset[str]], Iterator[pd.DataFrame]]
_FORMATS: dict[str, Blocks] = {
    ".csv": csv_blocks,
    ".tsv": csv_blocks,
    ".jsonl": jsonl_blocks,
    ".ndjson": jsonl_blocks,
    ".parquet": parquet_blocks,
}


def is_streamable(path: Path) -> bool:
    """Tell whether a file, or folder, is one that can be read some rows at a time."""
    return endings(path)[0] in _FORMATS or is_parquet_folder(path)


def is_large(path: Path) -> bool:
    """Tell whether a table takes so much memory that it had better stay in its file."""
    if not is_streamable(path) or not path.exists():
        return False
    files = parquet_files(path) if path.is_dir() else [path]
    size = sum(file.stat().st_size for file in files)
    is_packed = path.is_dir() or endings(path)[0] == ".parquet" or bool(endings(path)[1])
    return size * (_PACKED if is_packed else 1) >= STREAMED_FROM


@dataclass(frozen=True)
class TableFile:
    """A table that stays in its file, and is read some rows at a time.

    Attributes
    ----------
    path : Path
        The file, or a folder of Parquet files.
    n_rows : int
        Number of rows.
    types : dict of str to str
        What the values of each column are, in all rows: "whole" or other numbers ("number"), truth values ("flag", or
        "truth" if some are missing), or "any".
    rows : int
        Largest number of rows of a block.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wines.csv")
    ...     _ = path.write_text("name,price\\nRioja,12\\nMosel,9.5\\nDao,7\\n")
    ...     table = TableFile.surveyed(path, rows=2)
    ...     table.n_rows, table.types, [block["price"].tolist() for block in table.blocks()]
    (3, {'name': 'any', 'price': 'number'}, [[12.0, 9.5], [7.0]])
    """

    path: Path
    n_rows: int
    types: dict[str, str]
    rows: int = BLOCK_ROWS
    _only: list[pd.DataFrame] = field(default_factory=list, repr=False)

    @classmethod
    def surveyed(cls, path: Path, rows: int | None = None) -> TableFile:
        """Return a table after one look at all of its rows.

        Parameters
        ----------
        path : Path
            The file, or a folder of Parquet files.
        rows : int, optional
            Largest number of rows of a block. Default: 10,000.

        Returns
        -------
        TableFile
            The table.

        Raises
        ------
        DataFileError
            If the file is missing or damaged.
        """
        read, rows = _reader(path), rows or BLOCK_ROWS
        n_rows, first = 0, None
        seen: dict[str, set[str]] = {}
        for block_number, block in enumerate(read(path, rows, frozenset())):
            n_rows += len(block)
            first = block if block_number == 0 else None  # one block need not be read again
            for number, name in enumerate(block.columns):
                seen.setdefault(name, set()).add(_type_of(block.iloc[:, number]))
        if not n_rows or not seen:
            refuse(path, "A table must have at least one row and one column", f"has {n_rows} rows", "see to it")
        types = {name: _common(kinds) for name, kinds in seen.items() if name or kinds != {"nothing"}}
        if "" in types and list(block.columns).count("") > 1:
            refuse(path, "Columns of a table must have different names", "has '' twice", "rename one")
        if first is not None:
            return cls(path, n_rows, types, rows, [_conformed(first, types)])
        return cls(path, n_rows, types, rows)

    def blocks(self) -> Iterator[pd.DataFrame]:
        """Yield the rows, block by block, with all columns in the same order and of the same types."""
        if self._only:
            yield from self._only
            return
        texts = frozenset(name for name, kind in self.types.items() if kind == "any")
        for block in _reader(self.path)(self.path, self.rows, texts):
            yield _conformed(block, self.types)

    def spelled_blocks(self) -> Iterator[pd.DataFrame]:
        """Yield the rows, block by block, with cells as they are spelled where the format has no types.

        So what numbers look like is decided by who learned it, and not anew for each file.
        """
        read = _reader(self.path)
        if read is not csv_blocks:
            yield from self.blocks()
            return
        for block in read(self.path, self.rows, frozenset(self.types)):
            yield block[list(self.types)].reset_index(drop=True)


def _reader(path: Path) -> Blocks:
    return parquet_blocks if path.is_dir() else _FORMATS[endings(path)[0]]


def _type_of(column: pd.Series) -> str:
    """Return what the values of a column of a block are."""
    if column.dtype.kind == "f" and column.isna().all():
        return "nothing"
    kinds = {"i": "whole", "u": "whole", "f": "number", "b": "flag"}
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in kinds:
        return kinds[column.dtype.kind]
    values = column.dropna()
    if not len(values):
        return "nothing"
    return "truth" if column.dtype == object and values.map(type).eq(bool).all() else "any"


def _common(kinds: set[str]) -> str:
    """Return what values are that are of several types in different blocks."""
    types = kinds - {"nothing"}
    if types == {"whole"}:
        return "whole" if "nothing" not in kinds else "number"
    if types <= {"whole", "number"}:
        return "number" if types else "any"
    if types <= {"flag", "truth"}:
        return "flag" if kinds == {"flag"} else "truth"
    return "any"


def _conformed(block: pd.DataFrame, types: dict[str, str]) -> pd.DataFrame:
    """Return a block with all columns, in one order and of the types that they have in all rows."""
    columns = {}
    for name, kind in types.items():
        column = block[name] if name in block.columns else pd.Series([None] * len(block), dtype=object)
        if kind == "number":
            column = pd.to_numeric(column).astype(np.float64)
        elif kind in ("any", "truth") and column.dtype.kind in "iufbO":
            column = column.astype(object).where(column.notna(), None)
        columns[name] = column.reset_index(drop=True)
    return pd.DataFrame(columns)
