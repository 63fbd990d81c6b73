"""Just-in-time compilation of loops when they are first called; Numba is not even imported before.

All kernels are compiled by the decorators of this module.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from harmonium.kernels.runtime.interrupts import Function, root_cause, shielded, sigint

_lock = threading.Lock()
_cached: list[Any] = []


class Kernel:
    """A function that is compiled when it is first called, and that Ctrl-C does not cut short.

    Numba finds by ``_numba_type_`` what other kernels call, and by ``targetoptions`` and ``py_func`` what they inline.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._options = options
        self._dispatcher: Any = None

    # one Python function and no more, as steps of training with small batches consist of dozens of such calls
    @shielded
    def __call__(self, *arguments: Any) -> Any:
        """Run the function; Ctrl-C takes effect when it has returned."""
        installed = not sigint.active and sigint.install()
        try:
            result = (self._dispatcher or self.dispatcher)(*arguments)
        except OSError:  # kernels touch no files: what they were compiled to cannot be read or written any more
            for cached in _cached:
                cached._cache.disable()
            result = self.dispatcher(*arguments)
        except SystemError as error:
            # the handler of another signal, such as an alarm, raised this while Python arrays were made of the results
            raise root_cause(error) from None
        finally:
            if installed:
                sigint.uninstall()
        if sigint.pending:
            sigint.deliver()
        return result

    @property
    def dispatcher(self) -> Any:
        """Dispatcher of Numba; the function itself where NUMBA_DISABLE_JIT is set."""
        with _lock:
            if self._dispatcher is None:
                self._dispatcher = _dispatcher(self.__wrapped__, self._options)  # type: ignore[attr-defined]
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    @property
    def targetoptions(self) -> dict[str, Any]:
        """Options of the compiler."""
        return cast(dict[str, Any], self.dispatcher.targetoptions)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function that is compiled."""
        return cast(Callable[..., Any], self.dispatcher.py_func)


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    from numba import njit

    try:
        dispatcher = njit(nogil=True, cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return njit(nogil=True, **options)(function)
    if dispatcher is not function:
        _cached.append(dispatcher)
    return dispatcher


def jit(**options: Any) -> Callable[[Function], Function]:
    """Compile a function when it is first called, without the interpreter lock.

    The machine code is cached for the next process where Numba finds a folder that can be written to (beside the code,
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
        return cast(Function, Kernel(function, options))

    return decorate


def inline(function: Function) -> Function:
    """Inline a function into the kernels that call it, so that loops around it can be vectorised."""
    return cast(Function, Kernel(function, {"inline": "always"}))


class _Intrinsic:
    """A function that emits LLVM instructions, where no loop could be made to give them."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        self._type: Any = None

    @property
    def _numba_type_(self) -> Any:
        with _lock:
            if self._type is None:
                from numba import extending
                from numba.core.registry import cpu_target

                made = extending.intrinsic(self._write)
                cpu_target.typing_context.refresh()
                self._type = cpu_target.typing_context.resolve_value_type(made)
        return self._type


def intrinsic(function: Callable[..., Any]) -> Any:
    """Make a function an intrinsic (`numba.extending.intrinsic`) when a kernel first calls it."""
    return _Intrinsic(function)


@contextmanager
def on_compile(callback: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever a kernel has to be compiled that is not in the cache: that takes seconds.

    Parameters
    ----------
    callback : callable
        Called without arguments before each compilation, on the thread that needs the kernel.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            callback()

        def on_end(self, _: object) -> None:
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
