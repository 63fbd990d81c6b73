"""State of a fit in progress, and of the fits that continue it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harmonium.params import Parameters, copy_parameters
from harmonium.training.checkpoint.packing import SCRATCH, resumable

if TYPE_CHECKING:
    from harmonium.training.posterior.draws import Posterior

#: why training ended, if the user pressed Ctrl-C
INTERRUPTED = "interrupted"
# Largest share of the time that snapshots may take: a convention.
_SHARE_OF_SNAPSHOTS = 0.01


@dataclass(frozen=True)
class Snapshot:
    """What had been learned when an epoch was complete.

    Attributes
    ----------
    parameters : dict of str to ndarray
        What had been learned, a copy.
    n_iter : int
        Number of epochs.
    n_settled : int
        Number of updates of the prior of the hidden units.
    lengths : dict of str to int
        Number of entries of each column of the history.
    """

    parameters: Parameters
    n_iter: int
    n_settled: int
    lengths: dict[str, int]


@resumable
@dataclass
class Training:
    """A fit in progress: parameters, what drivers and objectives remember, and the record of every epoch.

    Attributes
    ----------
    parameters : dict of str to ndarray
        Parameters as they stand.
    optimizer_state : object
        Memory of the optimizer; None before the first step.
    chains : object
        State of the objective, such as persistent chains; None before the first batch.
    n_updates : int
        Number of steps of the optimizer.
    n_iter : int
        Number of epochs, iterations or moves, over all fits that continue each other.
    history : dict of str to list of float
        Record of every epoch.
    stopped : str
        Why training ended.
    idle_units : int
        Number of hidden units that are the same for all rows that were watched.
    dual : object
        Dual solution of a head that is solved for, to continue from.
    average : dict of str to ndarray, optional
        Running average of the parameters.
    n_averaged : int
        Number of parameters that the average has seen.
    n_items : int
        Number of training rows.
    n_settled : int
        Number of updates of the prior of the hidden units.
    posterior : Posterior, optional
        Chains and draws, if the driver samples.
    stream : numpy.random.Generator, optional
        Random numbers from which ``partial_fit`` continues.
    last_snapshot : Snapshot, optional
        What an interrupted run goes back to.
    next_snapshot : float, optional
        Time before which no snapshot is taken, as snapshots would take too long.
    """

    parameters: Parameters
    optimizer_state: Any = None
    chains: Any = None
    n_updates: int = 0
    n_iter: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    stopped: str = "max_iter reached"
    idle_units: int = 0
    dual: Any = None
    average: Parameters | None = None
    n_averaged: int = 0
    n_items: int = 0
    n_settled: int = 0
    posterior: Posterior | None = None
    stream: np.random.Generator | None = None
    last_snapshot: Snapshot | None = field(default=None, metadata=SCRATCH)
    next_snapshot: float | None = field(default=None, metadata=SCRATCH)

    @property
    def result(self) -> Parameters:
        """What has been learned: the parameters, or their running average if there is one."""
        return self.parameters if self.average is None else self.average

    def record(self, entry: dict[str, float]) -> None:
        """Append an entry to the history: all of it, or nothing if that is interrupted."""
        lengths = {name: len(self.history.setdefault(name, [])) for name in entry}
        try:
            for name, value in entry.items():
                self.history[name].append(value)
        except BaseException:
            for name, length in lengths.items():
                del self.history[name][length:]
            raise

    @property
    def interrupted(self) -> bool:
        """Whether the user ended training, and what was learned until then is there."""
        return self.stopped == INTERRUPTED

    def snapshot(self, always: bool = False) -> None:
        """Keep what a complete epoch has learned, so that an interrupt later on can go back to it.

        Where copies would take too large a share of the time, some epochs are passed over, unless it is done
        ``always``.
        """
        begin = time.perf_counter()
        if not always and self.next_snapshot is not None and begin < self.next_snapshot:
            return
        lengths = {name: len(values) for name, values in self.history.items()}
        self.last_snapshot = Snapshot(copy_parameters(self.result), self.n_iter, self.n_settled, lengths)
        end = time.perf_counter()
        self.next_snapshot = end + (end - begin) / _SHARE_OF_SNAPSHOTS

    def restore(self) -> bool:
        """Go back to the last snapshot, and return whether there is one.

        An interrupt can come in the middle of an update. The optimizer will start afresh.
        """
        if self.last_snapshot is None:
            return False
        self.parameters, self.average, self.n_averaged = dict(self.last_snapshot.parameters), None, 0
        self.optimizer_state, self.n_updates = None, 0
        self.n_iter, self.n_settled = self.last_snapshot.n_iter, self.last_snapshot.n_settled
        self.history = {name: self.history[name][:length] for name, length in self.last_snapshot.lengths.items()}
        return True


def is_second(interrupt: KeyboardInterrupt) -> bool:
    """Return whether an interrupt came while an earlier one was dealt with: then the user wants to get out at once."""
    return isinstance(interrupt.__context__, KeyboardInterrupt)
