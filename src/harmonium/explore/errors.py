"""Refusals of requests, and notices of the library beside an answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from harmonium.exceptions import HarmoniumWarning


class BadRequest(ValueError):
    """A request that cannot be answered; the message is the sentence that the client gets.

    Parameters
    ----------
    message : str
        The sentence.
    status : int, default=422
        Status of the answer.
    """

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def collected_notices() -> Iterator[list[str]]:
    """Give a list that holds, at the end, the notices of the library."""
    notices: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notices
    notices += dict.fromkeys(
        str(warning.message) for warning in caught if issubclass(warning.category, HarmoniumWarning)
    )


@contextmanager
def answering() -> Iterator[list[str]]:
    """Give the list of notices; what the library refuses is a bad request, with the same sentence."""
    try:
        with collected_notices() as notices:
            yield notices
    except BadRequest:
        raise
    except (ValueError, TypeError) as error:
        raise BadRequest(" ".join(str(error).split())) from error
