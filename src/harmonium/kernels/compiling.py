"""The one way in which loops are compiled: when they are first called, and Numba is not even imported before."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from harmonium.kernels.interrupts import Function, first_cause, shielded, watch

_lock = threading.Lock()
_cached: list[Any] = []


class Kernel:
    """A function that is compiled when it is first called, and that Ctrl-C does not cut short.

    Other kernels know by ``_numba_type_`` what they call, and by ``targetoptions`` and ``py_func`` what they inline.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._options = options
        self._dispatcher: Any = None

    # one Python function and no more, as steps of training with small batches consist of dozens of such calls
    @shielded
    def __call__(self, *arguments: Any) -> Any:
        """Run the function; Ctrl-C takes effect when it has returned."""
        began = not watch.active and watch.begin()
        try:
            result = (self._dispatcher or self.dispatcher)(*arguments)
        except OSError:  # kernels touch no files: what they were compiled to cannot be read or written any more
            for cached in _cached:
                cached._cache.disable()
            result = self.dispatcher(*arguments)
        except SystemError as error:
            # the handler of another signal, such as an alarm, raised this while Python arrays were made of the results
            raise first_cause(error) from None
        finally:
            if began:
                watch.end()
        if watch.waiting:
            watch.deliver()
        return result

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of the function; the function itself where NUMBA_DISABLE_JIT is set."""
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
        return cast(Function, Kernel(function, options))

    return decorate


def inlined(function: Function) -> Function:
    """Let kernels take a function over into their own code, so that loops around it can be vectorised."""
    return cast(Function, Kernel(function, {"inline": "always"}))


class Emitted:
    """A function that writes instructions for the compiler itself, which no loop could be made to give."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        self._type: Any = None

    @property
    def _numba_type_(self) -> Any:
        with _lock:
            if self._type is None:
                from numba.core.registry import cpu_target
                from numba.extending import intrinsic

                made = intrinsic(self._write)
                cpu_target.typing_context.refresh()
                self._type = cpu_target.typing_context.resolve_value_type(made)
        return self._type


def emitted(function: Callable[..., Any]) -> Any:
    """Make a function of `numba.extending.intrinsic` that kernels can call, when they first call it."""
    return Emitted(function)


@contextmanager
def announced(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever something has to be compiled that was not kept: that takes seconds.

    Parameters
    ----------
    tell : callable
        Called without arguments before each compilation, on the thread that needs the kernel.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            tell()

        def on_end(self, _: object) -> None:
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
