"""Deferred handling of Ctrl-C: always a `KeyboardInterrupt`, and never in the middle of what must be whole.

Python runs the handler of a signal between two instructions of the main thread, wherever that is. Three places are bad:

- in a compiled kernel that makes Python arrays of its results: the exception becomes a `SystemError`, which is an
  `Exception` that others catch (a cross-validation goes on with scores of NaN); or while a kernel is compiled, which
  can leave the compiler unable to compile anything else;
- in a finaliser or the callback of a weak reference, where Python prints the exception and drops it;
- while locks, limits or threads are half taken or half given back, or parameters half updated.

So while something is computed, the handler of the process is wrapped: it looks at the stack, and in such a place the
signal is deferred until the place is left, a moment later. The handler that was there before decides what a signal
means (for the usual one, of Python and of Jupyter, it is `KeyboardInterrupt`).
"""

from __future__ import annotations

import signal
import sys
import threading
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_shielded: set[CodeType] = set()


def shielded(function: Function) -> Function:
    """Defer signals while the function runs; at its end it has to deliver what is pending (`SigintHandler.deliver`)."""
    _shielded.add(function.__code__)
    return function


class _Sections(threading.local):
    """Number of `uninterrupted` sections the thread is in, and whether the first of them installed the handler."""

    depth = 0
    installed = False


_sections = _Sections()


def _must_defer(frame: FrameType | None, allowed: int = 0) -> bool:
    """Tell whether an exception would be bad in this frame, or in one that called it."""
    while frame is not None:
        code = frame.f_code
        if code in _shielded or code.co_name == "__del__" or code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return _sections.depth > allowed


class SigintHandler:
    """The wrapped handler of Ctrl-C.

    Attributes
    ----------
    active : bool
        Whether the handler is wrapped at present.
    pending : bool
        Whether a signal waits to be delivered.
    """

    active = False
    pending = False

    def __init__(self) -> None:
        self._handler: Callable[[int, FrameType | None], Any] = signal.default_int_handler
        self._owner = 0

    def install(self) -> bool:
        """Wrap the handler, if this is the main thread and nobody has done it; who gets True has to `uninstall` it."""
        if self.active or threading.current_thread() is not threading.main_thread():
            return False
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # ignored, or left to the system: no exception will come
            return False
        if handler != self._receive:  # it still is where the exception of another signal kept it from being put back
            self._handler, self._owner = handler, threading.get_ident()
            signal.signal(signal.SIGINT, self._receive)
        self.active = True
        return True

    def uninstall(self) -> None:
        """Put the handler back, and hand it the pending signal."""
        self.active = False
        signal.signal(signal.SIGINT, self._handler)
        if self.pending:
            self.pending = False
            self._handler(signal.SIGINT, sys._getframe(1))

    def deliver(self, allowed: int = 0) -> None:
        """Hand the pending signal to the handler, unless the caller stands in a place where it has to be deferred on.

        Up to ``allowed`` sections that are `uninterrupted` do not count, as the caller knows of them.
        """
        frame = sys._getframe(1)
        if threading.get_ident() == self._owner and not _must_defer(frame.f_back, allowed):
            self.pending = False
            self._handler(signal.SIGINT, frame)

    def reset_after_fork(self) -> None:
        """Put the handler back in a forked process, if the thread that installed this one does not live there."""
        if self.active and threading.get_ident() != self._owner:
            self.active = self.pending = False
            signal.signal(signal.SIGINT, self._handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if _must_defer(frame):
            self.pending = True
        else:
            self._handler(number, frame)


sigint = SigintHandler()


class _Uninterrupted:
    @shielded
    def __enter__(self) -> None:
        if not _sections.depth:
            _sections.installed = sigint.install()
        _sections.depth += 1

    @shielded
    def __exit__(self, *_: object) -> None:
        _sections.depth -= 1
        if not _sections.depth and _sections.installed:
            sigint.uninstall()
        elif sigint.pending:
            sigint.deliver()


#: a context for steps that belong together, such as the update of all parameters: Ctrl-C takes effect at its end
uninterrupted = _Uninterrupted()


def root_cause(error: BaseException) -> BaseException:
    """Return what a `SystemError` of the interpreter was raised from, if it was raised from anything."""
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return error
