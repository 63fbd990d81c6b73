"""Warnings that point at the user's own line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

from harmonium.exceptions import HarmoniumWarning

# scikit-learn wraps methods, and a warning that points there helps nobody
_INSIDE = ("harmonium", "sklearn")


def notice(message: str) -> None:
    """Warn the user of something worth knowing that does not stop the call.

    Parameters
    ----------
    message : str
        One sentence: what happened, and what to do about it.
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HarmoniumWarning, stacklevel=level)
