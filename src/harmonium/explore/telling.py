"""What the library says while it answers: notices beside the answer, or a refusal; and tables as plain values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from harmonium.collection.columns import plain
from harmonium.exceptions import HarmoniumWarning
from harmonium.explore.reading import BadRequest


@contextmanager
def told() -> Iterator[list[str]]:
    """Give a list that holds, at the end, what the library had to tell."""
    notices: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notices
    notices += dict.fromkeys(
        str(warning.message) for warning in caught if issubclass(warning.category, HarmoniumWarning)
    )


@contextmanager
def refused() -> Iterator[None]:
    """Give a context in which what the library refuses is a bad request, with the same sentence."""
    try:
        yield
    except BadRequest:
        raise
    except (ValueError, TypeError) as error:
        raise BadRequest(" ".join(str(error).split())) from error


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values."""
    names = [str(name) for name in table.columns]
    columns = [table.iloc[:, number].tolist() for number in range(len(names))]
    return [{name: plain(value) for name, value in zip(names, row, strict=True)} for row in zip(*columns, strict=True)]
