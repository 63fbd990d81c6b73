"""Warnings that point at the user's own line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from harmonium.exceptions import HarmoniumWarning, shortened

# scikit-learn wraps methods, and a warning that points there helps nobody
_INSIDE = ("harmonium", "sklearn")


_said: ContextVar[set[str] | None] = ContextVar("_said", default=None)


@contextmanager
def each_notice_once(said: set[str] | None = None) -> Iterator[None]:
    """Give a context, a call that looks at the same data several times, in which no notice is repeated.

    Several calls that keep what was ``said`` repeat none either.
    """
    token = _said.set(set() if said is None else said)
    try:
        yield
    finally:
        _said.reset(token)


def notice(message: str) -> None:
    """Warn the user of something worth knowing that does not stop the call.

    Parameters
    ----------
    message : str
        One sentence: what happened, and what to do about it.
    """
    said = _said.get()
    if said is not None and message in said:
        return
    if said is not None:
        said.add(message)
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(str(shortened(message)), HarmoniumWarning, stacklevel=level)
