"""What a command says when it cannot go on: one sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from harmonium.exceptions import ModelFileError

#: exit codes: that of wrong usage, and that of shells for Ctrl-C
REFUSED, INTERRUPTED = 2, 130


class Refusal(ValueError):
    """An option that cannot be used; the message is the sentence that the user gets."""


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Give a context that ends the command with one sentence if it is refused, interrupted, or out of space."""
    try:
        yield
    except KeyboardInterrupt:
        _end("The command must run to its end to write everything; it was interrupted; run it again.", INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has had enough
        raise
    except (Refusal, ModelFileError) as error:
        _end(str(error), REFUSED)
    except OSError as error:
        _give_up_output()
        _end(_sentence(error), REFUSED)


def _sentence(error: OSError) -> str:
    """Return what the library said, or a sentence about what the system said."""
    if error.strerror is None:
        return str(error)
    return (
        f"Files must be readable, and output must have a place; {error.filename or 'writing'} failed "
        f"({error.strerror.lower()}); choose another place, or make room."
    )


def _end(sentence: str, code: int) -> None:
    Console(stderr=True).print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)
    raise SystemExit(code)


def _give_up_output() -> None:
    """Let output go nowhere if it cannot be written, as Python would try once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
