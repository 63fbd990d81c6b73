"""Checks of single settings; each refusal is one sentence: what must hold, what was found, what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_whole(owner: str, name: str, value: Any, lower: int = 1, remedy: str = "correct it") -> None:
    """Refuse a setting that is not a whole number of at least ``lower``.

    Parameters
    ----------
    owner : str
        Class or function that the setting belongs to.
    name : str
        Name of the setting.
    value : object
        Its value.
    lower : int, default=1
        Smallest value allowed.
    remedy : str, default="correct it"
        Last words of the message: what to do.

    Examples
    --------
    >>> check_whole("LBFGS", "max_iter", 0)
    Traceback (most recent call last):
    ...
    ValueError: LBFGS needs a whole number max_iter >= 1; got 0; correct it.
    """
    kind: type[Exception] | None = None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        kind = TypeError
    elif value < lower:
        kind = ValueError
    if kind is not None:
        raise kind(f"{owner} needs a whole number {name} >= {lower}; got {value!r}; {remedy}.")


def check_real(
    owner: str, name: str, value: Any, lower: float = 0.0, inclusive: bool = False, remedy: str = "correct it"
) -> None:
    """Refuse a setting that is not a finite number above ``lower``.

    Parameters
    ----------
    owner : str
        Class or function that the setting belongs to.
    name : str
        Name of the setting.
    value : object
        Its value.
    lower : float, default=0.0
        Number that the value must exceed.
    inclusive : bool, default=False
        Whether the value may also be equal to ``lower``.
    remedy : str, default="correct it"
        Last words of the message: what to do.

    Examples
    --------
    >>> check_real("Stochastic", "learning_rate", "fast", remedy="0.002 is usual")
    Traceback (most recent call last):
    ...
    TypeError: Stochastic needs a number learning_rate > 0; got 'fast'; 0.002 is usual.
    """
    kind: type[Exception] | None = None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        kind = TypeError
    elif not np.isfinite(float(value)) or value < lower or (value == lower and not inclusive):
        kind = ValueError
    if kind is not None:
        sign = ">=" if inclusive else ">"
        raise kind(f"{owner} needs a number {name} {sign} {lower:g}; got {value!r}; {remedy}.")
