"""Tables in Parquet (extra ``arrow``)."""

from __future__ import annotations

from pathlib import Path

from harmonium.extras import require
from harmonium.files.base import Loaded, checked_frame, one_line, opened, refuse


def read_parquet(path: Path) -> Loaded:
    """Return a table in Parquet."""
    arrow, parquet = require("pyarrow", "Reading Parquet"), require("pyarrow.parquet", "Reading Parquet")
    with opened(path) as file:
        try:
            table = parquet.ParquetFile(file).read()
        except (arrow.ArrowException, ValueError, OSError) as error:
            refuse(path, "A Parquet file must be whole", f"is not ({one_line(error)})", "write it again", error)
    names = list(table.schema.names)
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        refuse(path, "Columns of a table must have different names", f"has {twice[:60]!r} twice", "rename one")
    frame = checked_frame(path, table.to_pandas().reset_index(drop=True))
    return Loaded(frame, frame)
