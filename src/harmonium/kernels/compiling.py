"""The one way in which loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from harmonium.kernels.interrupts import Function, whole


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function when it is first called, without the interpreter lock.

    What was compiled is kept for the next process where Numba finds a folder that can be written to (beside the code,
    in the user's cache, or in NUMBA_CACHE_DIR); elsewhere every process compiles for itself. Compiled functions may
    call each other, and are not cut short by Ctrl-C.

    Parameters
    ----------
    **options : Any
        Further options of `numba.njit`.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Function) -> Function:
        try:
            kernel = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            kernel = njit(nogil=True, **options)(function)
        call = whole(kernel)
        if hasattr(
            kernel, "_numba_type_"
        ):  # by which other kernels know what they call; none if NUMBA_DISABLE_JIT is set
            call._numba_type_ = kernel._numba_type_
        return call

    return decorate
