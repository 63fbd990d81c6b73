"""The one way in which loops are compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from numba import njit

from harmonium.kernels.interrupts import Function, whole

_cached: list[Any] = []


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function when it is first called, without the interpreter lock.

    What was compiled is kept for the next process where Numba finds a folder that can be written to (beside the code,
    in the user's cache, or in NUMBA_CACHE_DIR). Elsewhere, and once a disk is full, every process compiles for itself.
    Compiled functions may call each other, and are not cut short by Ctrl-C.

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
            _cached.append(kernel)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            kernel = njit(nogil=True, **options)(function)

        @functools.wraps(function)
        def run(*arguments: Any) -> Any:
            try:
                return kernel(*arguments)
            except OSError:  # kernels touch no files: what they were compiled to cannot be read or written any more
                _do_without_cache()
                return kernel(*arguments)

        call = whole(run)
        if hasattr(kernel, "_numba_type_"):  # by which other kernels know what they call; NUMBA_DISABLE_JIT leaves none
            vars(call)["_numba_type_"] = kernel._numba_type_
        return cast(Function, call)

    return decorate


def _do_without_cache() -> None:
    for kernel in _cached:
        kernel._cache.disable()
