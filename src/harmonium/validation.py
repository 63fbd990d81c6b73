"""Checks of single settings: each refusal is one sentence that says what must hold, what was got, what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_whole(owner: str, name: str, value: Any, lower: int = 1, remedy: str = "correct it") -> None:
    """Refuse what is not a whole number from ``lower`` up.

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
    """Refuse what is not a finite number above ``lower`` (or equal to it, if ``inclusive``).

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
