"""Tables of separated values: CSV and the like, in whatever encoding and with whatever separator they come."""

from __future__ import annotations

import codecs
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from harmonium.core.notices import notice
from harmonium.files.data_file import Loaded, checked_frame, one_line, opened, refuse

# Bytes that are looked at to find encoding and separator: a convention.
_SAMPLE = 1 << 20
_SEPARATORS = ",;\t|"
# Seconds that parsing takes, measured on tables of numbers and of texts, and from how many on they are announced.
_SECONDS_PER_CELL, _SECONDS_PER_BYTE, _LONG = 1.2e-6, 5e-8, 20.0
# Truth values as pandas knows them, and texts that are no numbers: whose spelling says more than their value, and whose
# exponents are so long that pandas ends the process.
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_CODE = r"[-+]?(?:0\d|\d{19})|[-+.\d]*[eE][-+]?\d{6}"
# The byte-order mark of UTF-8 as it looks where the rest of a file is none.
_BOM_AS_LETTERS = codecs.BOM_UTF8.decode("cp1252")
# Encodings by their byte-order marks.
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_csv(path: Path) -> Loaded:
    """Return a table of separated values.

    The first line names the columns. Separator and encoding are found by looking: a comma, semicolon, tabulator or bar;
    UTF-8, UTF-16 with its mark, or else Windows-1252, with a notice. Short rows lack their last values; rows that are
    longer than the first are refused. Empty cells alone are missing: what else stands for a missing value is decided
    where columns get their roles. Columns of plain numbers and of truth values are such; codes such as 007 are texts.
    """
    parts = list(csv_blocks(path, None, frozenset()))
    # a line that ends in a separator has a last column without a name, which is empty
    frame = parts[0] if parts else pd.DataFrame()
    kept = [number for number, name in enumerate(frame.columns) if name or not frame.iloc[:, number].isna().all()]
    frame = checked_frame(path, frame.iloc[:, kept])
    return Loaded(frame, frame)


def csv_blocks(path: Path, rows: int | None, texts: frozenset[str]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a table, at most so many at a time, or all; ``texts`` are left as they are spelled.

    A file that is not UTF-8 is read as Windows-1252.
    """
    survey = _surveyed(path)
    if survey.encoding == "cp1252":
        notice(f"{path} is not UTF-8 and is read as Windows-1252; save it as UTF-8 if letters look wrong.")
    if survey.seconds >= _LONG:
        size = f"{survey.n_lines:,} rows ({survey.n_bytes / 2**20:,.0f} MB of text)"
        notice(
            f"{path} has about {size}, and each look at all "
            f"of them takes about {survey.seconds / 60:.1f} minutes; save it as Parquet to read it faster."
        )
    yield from _parsed(path, survey.encoding, rows, texts)


class _Survey(NamedTuple):
    """The encoding of a file, and how much text it holds."""

    encoding: str
    n_bytes: int
    n_lines: int
    n_cells: int

    @property
    def seconds(self) -> float:
        """About how long it takes to parse."""
        return _SECONDS_PER_CELL * self.n_cells + _SECONDS_PER_BYTE * self.n_bytes


def _surveyed(path: Path) -> _Survey:
    """Return what one look at all bytes tells: the encoding is that of the mark, UTF-8, or else Windows-1252."""
    with opened(path) as file:
        piece = file.read(_SAMPLE)
        encoding = _encoding(piece)
        decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder(encoding)()
        heading = piece.partition(b"\n")[0]
        width = 1 + max(heading.count(separator.encode()) for separator in _SEPARATORS)
        n_bytes = n_lines = 0
        while True:
            n_bytes, n_lines = n_bytes + len(piece), n_lines + piece.count(b"\n")
            try:
                if decoder is not None:
                    decoder.decode(piece, final=not piece)
            except UnicodeDecodeError:
                encoding, decoder = "cp1252", None
            if not piece:
                return _Survey(encoding, n_bytes, n_lines, n_lines * width)
            piece = file.read(_SAMPLE)


def _encoding(sample: bytes) -> str:
    """Return the encoding that the mark of a file tells, UTF-8 if there is none."""
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if sample.startswith(mark)), "utf-8")


def _parsed(path: Path, encoding: str, rows: int | None, texts: frozenset[str]) -> Iterator[pd.DataFrame]:
    with opened(path) as file:
        # Windows-1252 leaves five bytes undefined, which nobody can read anyway
        errors = "replace" if encoding == "cp1252" else "strict"
        text = io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")
        first = text.readline(_SAMPLE)
        if not first.strip():
            refuse(path, "The first line of a table must name its columns", "has an empty one", "add the names")
        separator = max(_SEPARATORS, key=_outside_quotes(first).count)
        text.seek(0)
        heading = next(_read(path, text, separator, nrows=1, header=None, dtype=str))
        names = heading.iloc[0].fillna("").tolist()
        names[0] = names[0].removeprefix(_BOM_AS_LETTERS)
        twice = next((name for number, name in enumerate(names) if name and name in names[:number]), None)
        if twice is not None:
            refuse(path, "Columns of a table must have different names", f"has {twice[:60]!r} twice", "rename one")
        text.seek(0)
        width = len(names)
        options: dict[str, Any] = {"header": 0, "dtype": str}
        if rows is not None:
            # pandas cuts rows that are too long at the beginning of a block; one more column shows what they have
            options |= {"header": None, "skiprows": 1, "names": range(width + 1), "chunksize": rows}
        # an empty line of a single column is a missing value, that of several is nothing
        parts = _read(path, text, separator, skip_blank_lines=width > 1, **options)
        for frame in parts if width > 1 else _without_empty_end(parts):
            is_long = frame.shape[1] != width if rows is None else bool(frame[width].notna().any())
            if is_long:
                refuse(path, "Rows of a table must be as long as its first line", "has longer ones", "correct them")
            columns = [
                frame.iloc[:, number] if name in texts else _typed(frame.iloc[:, number])
                for number, name in enumerate(names)
            ]
            yield pd.concat(columns, axis=1).set_axis(names, axis=1)


def _typed(column: pd.Series) -> pd.Series:
    """Return a column of texts as numbers or truth values, if that is what all of them plainly are.

    Codes that begin with a zero, whole numbers that are too long to be told apart as numbers, and what has an exponent
    of six digits stay texts.
    """
    there = column.dropna()
    if not len(there):
        return column.astype(np.float64)
    if there.isin(list(_TRUTH)).all():
        values = column.map(_TRUTH)
        return values.astype(bool) if len(there) == len(column) else values.astype(object)
    if there.str.match(_CODE).any():
        return column
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column


def _without_empty_end(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield parts of a table of one column, without the empty lines at its end."""
    waiting: list[pd.DataFrame] = []
    for part in parts:
        filled = np.flatnonzero(part.iloc[:, 0].notna())
        if len(filled):
            end = int(filled[-1]) + 1
            yield pd.concat([*waiting, part.iloc[:end]], ignore_index=True) if waiting else part.iloc[:end]
            waiting, part = [], part.iloc[end:]
        waiting += [part] if len(part) else []


def _read(path: Path, text: IO[str], separator: str, **options: Any) -> Iterator[pd.DataFrame]:
    """Yield what pandas reads, in one piece or, with a ``chunksize``, in several; refuse what it cannot."""
    parts: Iterator[pd.DataFrame] | None = None
    while True:
        with _parser_errors(path):
            if parts is None:
                table = pd.read_csv(
                    text,
                    sep=separator,
                    index_col=False,
                    keep_default_na=False,
                    na_values=[""],
                    low_memory=False,
                    **options,
                )
                parts = iter([table] if isinstance(table, pd.DataFrame) else table)
            part = next(parts, None)
        if part is None:
            return
        yield part


@contextmanager
def _parser_errors(path: Path) -> Iterator[None]:
    """Give a context in which what pandas cannot read is refused in one sentence."""
    try:
        with warnings.catch_warnings():
            # columns of mixed types are looked at again where they get their roles
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            # rows that are too long would be cut
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except pd.errors.ParserWarning as error:
        refuse(path, "Rows of a table must be as long as its first line", "has longer ones", "correct them", error)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError, MemoryError) as error:
        reason = ValueError(str(error).replace("Error tokenizing data. C error: ", ""))  # which says where
        refuse(path, "A table must be one that can be read", f"cannot ({one_line(reason)})", "correct it", error)


def _outside_quotes(line: str) -> str:
    """Return a line without what stands in quotation marks."""
    return "".join(line.split('"')[::2])
