"""What the library says while it answers: notices beside the answer, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

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
