"""Ctrl-C while something is computed: always a `KeyboardInterrupt`, and never in the middle of what must be whole.

Python runs the handler of a signal between two instructions of the main thread, wherever that is. Three places are bad:

- in a compiled kernel that makes Python arrays of its results: the exception becomes a `SystemError`, which is an
  `Exception` that others catch (a cross-validation goes on with scores of NaN); or while a kernel is compiled, which
  can leave the compiler unable to compile anything else;
- in a finaliser or the callback of a weak reference, where Python prints the exception and drops it;
- while locks, limits or threads are half taken or half given back, or parameters half updated.

So while something is computed, the handler of the process is wrapped: it looks at the stack, and in such a place the
signal waits until the place is left, a moment later. The handler that was there before decides what a signal means
(for the usual one, of Python and of Jupyter, it is `KeyboardInterrupt`).
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
    """Let signals wait while the function runs; it has to ask for what waits (`Watch.deliver`) when it is done."""
    _shielded.add(function.__code__)
    return function


class _Held(threading.local):
    """How many `uninterrupted` sections the thread is in, and whether the first of them began the watch."""

    depth = 0
    began = False


_held = _Held()


def _must_wait(frame: FrameType | None, allowed: int = 0) -> bool:
    """Tell whether an exception would be bad in this frame, or in one that called it."""
    while frame is not None:
        code = frame.f_code
        if code in _shielded or code.co_name == "__del__" or code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return _held.depth > allowed


class Watch:
    """The wrapped handler of Ctrl-C.

    Attributes
    ----------
    active : bool
        Whether the handler is wrapped at present.
    waiting : bool
        Whether a signal waits to be delivered.
    """

    active = False
    waiting = False

    def __init__(self) -> None:
        self._handler: Callable[[int, FrameType | None], Any] = signal.default_int_handler
        self._owner = 0

    def begin(self) -> bool:
        """Wrap the handler, if this is the main thread and nobody has done it; whoever gets True has to `end` it."""
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

    def end(self) -> None:
        """Put the handler back, and hand it the signal that waits."""
        self.active = False
        signal.signal(signal.SIGINT, self._handler)
        if self.waiting:
            self.waiting = False
            self._handler(signal.SIGINT, sys._getframe(1))

    def deliver(self, allowed: int = 0) -> None:
        """Hand the signal that waits to the handler, unless the caller stands in a place where it has to wait on.

        Up to ``allowed`` sections that are `uninterrupted` do not count, as the caller knows of them.
        """
        frame = sys._getframe(1)
        if threading.get_ident() == self._owner and not _must_wait(frame.f_back, allowed):
            self.waiting = False
            self._handler(signal.SIGINT, frame)

    def forget_other_threads(self) -> None:
        """In a process that was just forked: stop the watch that a thread began which does not live here."""
        if self.active and threading.get_ident() != self._owner:
            self.active = self.waiting = False
            signal.signal(signal.SIGINT, self._handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if _must_wait(frame):
            self.waiting = True
        else:
            self._handler(number, frame)


watch = Watch()


class _Uninterrupted:
    @shielded
    def __enter__(self) -> None:
        if not _held.depth:
            _held.began = watch.begin()
        _held.depth += 1

    @shielded
    def __exit__(self, *_: object) -> None:
        _held.depth -= 1
        if not _held.depth and _held.began:
            watch.end()
        elif watch.waiting:
            watch.deliver()


#: a context for steps that belong together, such as the update of all parameters: Ctrl-C takes effect at its end
uninterrupted = _Uninterrupted()


def first_cause(error: BaseException) -> BaseException:
    """Return what a `SystemError` of the interpreter was raised from, if it was raised from anything."""
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return error
