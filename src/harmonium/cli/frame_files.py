"""Files of tables that come in parts, written as they come. The file appears when it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from harmonium.cli.errors import OptionError
from harmonium.core.extras import require
from harmonium.model_folder.json_values import json_records
from harmonium.storage.replacing import replace_file


def write_frames(frames: Iterable[pd.DataFrame], output: Path) -> int:
    """Write a table to a file in one step, and return its number of rows.

    Parameters
    ----------
    frames : iterable of DataFrame
        Rows of the table, some at a time; each is written before the next is asked for.
    output : Path
        The file, whose ending says the format. Until all is written, what was there stays.

    Returns
    -------
    int
        Number of rows.
    """
    writers = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
    ending = output.suffix.lower()
    if ending not in writers:
        raise OptionError(f"--output must end in .csv, .jsonl or .parquet; got {output.name!r}; choose one of them.")
    counted = _Counted(frames)
    replace_file(output, writers[ending](counted))
    return counted.n_rows


class _Counted:
    """Parts of a table, and how many rows they had."""

    def __init__(self, frames: Iterable[pd.DataFrame]) -> None:
        self._frames, self.n_rows = frames, 0

    def __iter__(self) -> Iterator[pd.DataFrame]:
        for frame in self._frames:
            self.n_rows += len(frame)
            yield frame


def _csv(frames: Iterable[pd.DataFrame]) -> Iterator[bytes]:
    for number, frame in enumerate(frames):
        yield frame.to_csv(index=False, header=number == 0).encode()


def _jsonl(frames: Iterable[pd.DataFrame]) -> Iterator[bytes]:
    for frame in frames:
        for record in json_records(frame):
            yield (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _parquet(frames: Iterable[pd.DataFrame]) -> Iterator[bytes]:
    arrow = require("pyarrow", "Writing Parquet", instead="choose .csv")
    parquet = require("pyarrow.parquet", "Writing Parquet", instead="choose .csv")
    sink, writer = _Sink(), None
    for frame in frames:
        if writer is None:
            schema = _known_types(arrow, arrow.Schema.from_pandas(frame, preserve_index=False))
            writer = parquet.ParquetWriter(arrow.PythonFile(sink, "w"), schema)
        writer.write_table(arrow.Table.from_pandas(frame, schema=writer.schema, preserve_index=False))
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


def _known_types(arrow: Any, schema: Any) -> Any:
    """Return types of columns: texts for those without values in the first rows.

    Numbers know their type without any value; what does not are lists of labels, and texts.
    """
    texts, lists = arrow.string(), arrow.list_(arrow.string())
    for number, column in enumerate(schema):
        is_list = arrow.types.is_list(column.type)
        if arrow.types.is_null(column.type.value_type if is_list else column.type):
            schema = schema.set(number, column.with_type(lists if is_list else texts))
    return schema


class _Sink:
    """A file that hands on what is written to it."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, content: Any) -> int:
        """Keep some bytes until they are taken."""
        self._parts.append(bytes(content))
        self._size += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing, as nothing is held back."""

    def close(self) -> None:
        """Do nothing, as the rest is still to be taken."""

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content
