"""Tables of separated values: CSV and the like, in whatever encoding and with whatever separator they come."""

from __future__ import annotations

import codecs
import io
import warnings
from pathlib import Path
from typing import IO

import pandas as pd

from harmonium.files.base import Loaded, checked_frame, one_line, opened, refuse
from harmonium.notices import notice

# What is looked at to find encoding and separator: a convention.
_SAMPLE = 1 << 20
_SEPARATORS = ",;\t|"
# Encodings by the mark at the beginning of a file.
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_csv(path: Path) -> Loaded:
    """Return a table of separated values.

    The first line names the columns. Separator and encoding are found by looking: a comma, semicolon, tabulator or bar;
    UTF-8, UTF-16 with its mark, or else Windows-1252, with a notice. Short rows lack their last values; rows that are
    longer than the first are refused. Empty cells alone are missing: what else stands for a missing value is decided
    where columns get their roles.
    """
    with opened(path) as file:
        encoding = _encoding(file.read(_SAMPLE))
    try:
        frame = _parsed(path, encoding)
    except UnicodeDecodeError:
        notice(f"{path} is not UTF-8 and is read as Windows-1252; save it as UTF-8 if letters look wrong.")
        frame = _parsed(path, "cp1252")
    return _loaded(path, frame)


def _loaded(path: Path, frame: pd.DataFrame) -> Loaded:
    # a line that ends in a separator has a last column without a name, which is empty
    kept = [place for place, name in enumerate(frame.columns) if name or not frame.iloc[:, place].isna().all()]
    frame = checked_frame(path, frame.iloc[:, kept])
    return Loaded(frame, frame)


def _encoding(sample: bytes) -> str:
    """Return the encoding that the mark of a file tells, UTF-8 if there is none."""
    return next((encoding for mark, encoding in _MARKS.items() if sample.startswith(mark)), "utf-8")


def _parsed(path: Path, encoding: str) -> pd.DataFrame:
    with opened(path) as file:
        # Windows-1252 leaves five bytes undefined, which nobody can read anyway
        errors = "replace" if encoding == "cp1252" else "strict"
        text = io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")
        first = text.readline(_SAMPLE)
        if not first.strip():
            refuse(path, "The first line of a table must name its columns", "has an empty one", "add the names")
        separator = max(_SEPARATORS, key=_outside_quotes(first).count)
        text.seek(0)
        names = _read(path, text, separator, nrows=1, header=None).iloc[0].fillna("").astype(str).tolist()
        twice = next((name for place, name in enumerate(names) if name and name in names[:place]), None)
        if twice is not None:
            refuse(path, "Columns of a table must have different names", f"has {twice[:60]!r} twice", "rename one")
        text.seek(0)
        frame = _read(path, text, separator, header=0)
    if frame.shape[1] != len(names):
        refuse(path, "Rows of a table must be as long as its first line", "has longer ones", "correct them")
    return frame.set_axis(names, axis=1)


def _read(path: Path, text: IO[str], separator: str, **options: object) -> pd.DataFrame:
    """Return what pandas reads; refuse, in one sentence, what it cannot."""
    try:
        with warnings.catch_warnings():
            # columns of mixed types are looked at again where they get their roles
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            # rows that are too long would be cut
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                text, sep=separator, index_col=False, keep_default_na=False, na_values=[""], low_memory=False, **options
            )
    except UnicodeDecodeError:
        raise
    except pd.errors.ParserWarning as error:
        refuse(path, "Rows of a table must be as long as its first line", "has longer ones", "correct them", error)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError, MemoryError) as error:
        refuse(path, "A table must be one that can be read", f"cannot ({one_line(error)})", "correct it", error)


def _outside_quotes(line: str) -> str:
    """Return a line without what stands in quotation marks."""
    return "".join(line.split('"')[::2])
