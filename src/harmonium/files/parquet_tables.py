"""Tables in Parquet (extra ``arrow``): a file, or a folder of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from harmonium.core.extras import require
from harmonium.files.data_file import DataFileError, Loaded, checked_frame, one_line, opened, refuse


def read_parquet(path: Path) -> Loaded:
    """Return a table in Parquet."""
    parts = list(_frames(path, 100_000))
    frame = checked_frame(path, pd.concat(parts, ignore_index=True) if parts else pd.DataFrame())
    return Loaded(frame, frame)


def parquet_blocks(path: Path, rows: int, texts: frozenset[str]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a table, at most so many at a time; files say by themselves which columns are texts."""
    for frame in _frames(path, rows):
        if len(frame):
            yield frame.set_axis([str(name) for name in frame.columns], axis=1)


def _frame(batch: Any) -> pd.DataFrame:
    """Return rows with all columns, also those that were an index in pandas.

    An index without a name, which files call ``__index_level_0__``, is left out.
    """
    frame = batch.to_pandas()
    stored = set(batch.schema.names) - set(map(str, frame.columns))
    named = [level for level, name in enumerate(frame.index.names) if name is not None and str(name) in stored]
    return frame.reset_index(level=named).reset_index(drop=True)


def is_parquet_folder(path: Path) -> bool:
    """Tell whether a path is a folder with Parquet files."""
    return path.is_dir() and any(path.glob("*.parquet"))


def parquet_files(path: Path) -> list[Path]:
    """Return the files of a folder, sorted by name, or the file itself."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _frames(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    parquet = require("pyarrow.parquet", "Reading Parquet")
    first: list[str] | None = None
    for part in parquet_files(path):
        with opened(part) as file:
            try:
                table = parquet.ParquetFile(file)
                names = list(table.schema_arrow.names)
                _check_names(part, names, first)
                first = first or names
                for batch in table.iter_batches(rows):
                    yield _frame(batch)
            except DataFileError:
                raise
            except Exception as error:  # foreign bytes fail in ways that neither Arrow nor pandas lists
                refuse(part, "A Parquet file must be whole", f"is not ({one_line(error)})", "write it again", error)


def _check_names(path: Path, names: list[str], first: list[str] | None) -> None:
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        refuse(path, "Columns of a table must have different names", f"has {twice[:60]!r} twice", "rename one")
    if first is not None and set(names) != set(first):
        strange = next(iter(sorted(set(names) ^ set(first))))
        refuse(path, "All files of a folder must have the same columns", f"differs in {strange[:60]!r}", "correct it")
