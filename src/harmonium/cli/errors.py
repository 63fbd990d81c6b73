"""Errors of commands: one sentence on stderr and an exit code, never a traceback.

Exit codes: 0 if all went well; 2 if something that the user gave cannot be used; 130 for Ctrl-C, as in shells; 1 for
anything else, which is a fault of harmonium.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import typer
from rich.console import Console

from harmonium.cli.sentences import for_commands
from harmonium.exceptions import HarmoniumWarning

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
#: set to anything, it lets tracebacks of faults through
TRACEBACK = "HARMONIUM_TRACEBACK"
# how the library refuses what it is given
_REFUSALS = (ValueError, TypeError, ImportError, ArithmeticError, MemoryError)


class OptionError(ValueError):
    """An option that cannot be used; the message is the sentence that the user gets."""


@contextmanager
def one_line_errors(interrupted: str = "run it again") -> Iterator[None]:
    """Give a context that ends the command with one sentence if it is refused, interrupted, or out of space.

    Notices of the library are sentences on stderr, too.

    Parameters
    ----------
    interrupted : str, default="run it again"
        What to do after Ctrl-C.
    """
    try:
        with warnings.catch_warnings():
            _print_notices_as_sentences()
            yield
    except (typer.Exit, typer.Abort):  # they speak for themselves
        raise
    except KeyboardInterrupt:
        _end(f"The command must run to its end to write everything; it was interrupted; {interrupted}.", INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has had enough
        _give_up_output()
        raise SystemExit(FAILED) from None
    except OSError as error:
        _give_up_output()
        _end(_sentence(error), REFUSED)
    except OptionError as error:
        _end(_first_line(error), REFUSED)
    except _REFUSALS as error:
        if TRACEBACK in os.environ:
            raise
        _end(for_commands(_first_line(error)), REFUSED)
    except Exception as error:
        if TRACEBACK in os.environ:
            raise
        _end(
            f"The command must not fail in this way; it did ({type(error).__name__}: {_first_line(error)}); please "
            f"report it, with what {TRACEBACK}=1 shows.",
            FAILED,
        )


class _ClosedOutput(io.TextIOBase):
    """Output of a process that was started without any: writing to it fails as writing to a closed file does."""

    def write(self, text: str) -> int:
        """Refuse to write."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def stand_in_for_closed_output() -> None:
    """Let a command that was started with closed output fail when it writes there, and not before."""
    if sys.stdout is None:
        while os.open(os.devnull, os.O_RDWR) <= 2:  # files that are opened later are no standard streams
            pass
        sys.stdout = _ClosedOutput()


def _print_notices_as_sentences() -> None:
    """Print notices of the library as sentences, each once, and keep warnings of other packages to themselves."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *rest: object, **others: object) -> None:
        if issubclass(category, HarmoniumWarning) and str(message) not in printed:
            printed.add(str(message))
            _print(for_commands(str(message)), "yellow")

    warnings.simplefilter("always", HarmoniumWarning)
    warnings.showwarning = show


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _sentence(error: OSError) -> str:
    """Return what the library said, or a sentence about what the system said."""
    if error.strerror is None:
        return str(error)
    return (
        f"Files must be readable, and output must have a place; {error.filename or 'writing'} failed "
        f"({error.strerror.lower()}); choose another place, or make room."
    )


def _end(sentence: str, code: int) -> None:
    _print(sentence, "red")
    raise SystemExit(code)


def _print(sentence: str, style: str) -> None:
    if sys.stderr is None:  # closed before the command began
        return
    try:
        Console(stderr=True).print(sentence, style=style, markup=False, highlight=False, soft_wrap=True)
        sys.stderr.flush()
    except OSError:  # where nothing can be said, the exit code does
        _give_up(sys.stderr)


def _give_up_output() -> None:
    """Let output go nowhere if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        _give_up(sys.stdout)


def _give_up(stream: TextIO) -> None:
    """Let a stream go nowhere, as Python would try once more at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
