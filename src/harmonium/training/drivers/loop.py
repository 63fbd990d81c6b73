"""Loop of a driver: steps, checkpoints, and what an interrupt leaves."""

from __future__ import annotations

from collections.abc import Callable

from harmonium.training.drivers.run import Run
from harmonium.training.state import INTERRUPTED


def loop(
    run: Run,
    more: Callable[[], bool],
    step: Callable[[], bool],
    finish: Callable[[], None],
    restore: Callable[[], bool] | None = None,
) -> None:
    """Take steps until all are done or one of them is the last; then finish.

    A checkpoint is written after a step if it is time to. An interrupt (Ctrl-C) can come in the middle of a step: what
    complete steps have left is restored and finished, if there is any, ``training.interrupted`` says so, and the
    `KeyboardInterrupt` goes on to the caller.

    Parameters
    ----------
    run : Run
        What the driver was given.
    more : callable
        Returns whether there is another step to take.
    step : callable
        Takes a step, and returns whether it is to be the last.
    finish : callable
        Turns what was learned into the result.
    restore : callable, optional
        Goes back to complete steps, and returns whether there are any. Default: to the last snapshot of the training.
    """
    training = run.training
    try:
        while more():
            if step():
                break
            run.checkpoint.write()
        if restore is None:
            training.snapshot(always=True)
        finish()
    except KeyboardInterrupt:
        if (restore or training.restore)():
            finish()
            training.log.stopped = INTERRUPTED
        raise
