"""State of a fit in progress, and of the fits that continue it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters
from harmonium.kernels.optim.updates import ema_update
from harmonium.storage import SCRATCH, serializable

if TYPE_CHECKING:
    from harmonium.training.posterior.draws import Posterior

#: why training ended, if the user pressed Ctrl-C
INTERRUPTED = "interrupted"
# Largest share of the time that snapshots may take: a convention.
_SHARE_OF_SNAPSHOTS = 0.01


@serializable
@dataclass
class TrainingLog:
    """Record of a training, over all fits that continue each other.

    Attributes
    ----------
    n_iter : int
        Number of epochs, iterations or moves.
    history : dict of str to list of float
        Record of every epoch.
    stopped : str
        Why training ended.
    idle_units : int
        Number of hidden units that are the same for all rows that were watched.
    """

    n_iter: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    stopped: str = "max_iter reached"
    idle_units: int = 0

    def add(self, entry: dict[str, float]) -> None:
        """Append an entry to the history: all of it, or nothing if that is interrupted."""
        lengths = {name: len(self.history.setdefault(name, [])) for name in entry}
        try:
            for name, value in entry.items():
                self.history[name].append(value)
        except BaseException:
            for name, length in lengths.items():
                del self.history[name][length:]
            raise

    def copy(self) -> TrainingLog:
        """Return a log of its own with the same entries."""
        return replace(self, history={name: list(values) for name, values in self.history.items()})


@serializable
@dataclass
class OptimizerState:
    """Memory of an optimizer: arrays by what they remember and by parameter, and the number of its steps."""

    arrays: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    n_updates: int = 0


@serializable
@dataclass
class RunningAverage:
    """Running average of parameters, and the number of them that it has seen."""

    parameters: Parameters
    count: int = 0

    def add(self, parameters: Parameters, horizon: float) -> None:
        """Add parameters to an exponential average over ``horizon`` calls, a plain one at first."""
        self.count += 1
        share = max(1.0 / self.count, 1.0 / horizon)
        for name, value in parameters.items():
            ema_update(self.parameters[name], value, share)


@dataclass(frozen=True)
class Snapshot:
    """Copies of what had been learned when an epoch was complete, and the time before which none is taken again."""

    parameters: Parameters
    log: TrainingLog
    n_settled: int
    next_time: float


@serializable
@dataclass
class Training:
    """A fit in progress: parameters, what drivers and objectives remember, and the record of every epoch.

    Attributes
    ----------
    parameters : dict of str to ndarray
        Parameters as they stand.
    log : TrainingLog
        Record of every epoch, and why training ended.
    optimizer : OptimizerState, optional
        Memory of the optimizer; None before the first step.
    average : RunningAverage, optional
        Running average of the parameters, if the driver keeps one.
    chains : object
        State of the objective, such as persistent chains; None before the first batch.
    dual : object
        Dual solution of a head that is solved for, to continue from.
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
    """

    parameters: Parameters
    log: TrainingLog = field(default_factory=TrainingLog)
    optimizer: OptimizerState | None = None
    average: RunningAverage | None = None
    chains: Any = None
    dual: Any = None
    n_items: int = 0
    n_settled: int = 0
    posterior: Posterior | None = None
    stream: np.random.Generator | None = None
    last_snapshot: Snapshot | None = field(default=None, metadata=SCRATCH)

    @property
    def result(self) -> Parameters:
        """What has been learned: the parameters, or their running average if there is one."""
        return self.parameters if self.average is None else self.average.parameters

    @property
    def interrupted(self) -> bool:
        """Whether the user ended training, and what was learned until then is there."""
        return self.log.stopped == INTERRUPTED

    def add_to_average(self, horizon: float) -> None:
        """Add the parameters to their running average, which spans ``horizon`` calls."""
        if self.average is None:
            self.average = RunningAverage(copy_parameters(self.parameters))
        self.average.add(self.parameters, horizon)

    def with_parameters(self, parameters: Parameters, **changes: Any) -> Self:
        """Return the training with other parameters and other changes; what remembers the old ones starts afresh."""
        afresh: dict[str, Any] = {"optimizer": None, "average": None, "chains": None, "dual": None}
        return replace(self, parameters=parameters, **(afresh | changes))

    def snapshot(self, always: bool = False) -> None:
        """Keep what a complete epoch has learned, so that an interrupt later on can go back to it.

        Where copies would take too large a share of the time, some epochs are passed over, unless it is done
        ``always``.
        """
        begin = time.perf_counter()
        if not always and self.last_snapshot is not None and begin < self.last_snapshot.next_time:
            return
        parameters, log = copy_parameters(self.result), self.log.copy()
        end = time.perf_counter()
        self.last_snapshot = Snapshot(parameters, log, self.n_settled, end + (end - begin) / _SHARE_OF_SNAPSHOTS)

    def restore(self) -> bool:
        """Go back to the last snapshot, and return whether there is one.

        An interrupt can come in the middle of an update. The optimizer will start afresh.
        """
        if self.last_snapshot is None:
            return False
        self.parameters, self.log = dict(self.last_snapshot.parameters), self.last_snapshot.log.copy()
        self.n_settled, self.average, self.optimizer = self.last_snapshot.n_settled, None, None
        return True


def is_second(interrupt: KeyboardInterrupt) -> bool:
    """Return whether an interrupt came while an earlier one was dealt with: then the user wants to get out at once."""
    return isinstance(interrupt.__context__, KeyboardInterrupt)
