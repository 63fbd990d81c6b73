"""Plan of a fit: objective, driver, checkpoint, what is chosen on held-out rows, and default drivers.

`docs/how_it_works/defaults.md` has the defaults as a table, and the measurements behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from harmonium.core.progress_bar import Reporter, Silent
from harmonium.hidden import HiddenLayer
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.checkpoint import NOWHERE, Checkpoint, fingerprint
from harmonium.training.distributed.driver import on_cluster
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.optimizers import Adam
from harmonium.training.drivers.run import Run
from harmonium.training.drivers.spectral import Spectral
from harmonium.training.drivers.stochastic import Stochastic
from harmonium.training.state import Training
from harmonium.views.data import Data
from harmonium.views.sharding.lazy import current_client


@dataclass(frozen=True)
class Plan:
    """How a model is to be fitted.

    Attributes
    ----------
    objective : Objective
        Where gradients come from.
    driver : Driver
        How parameters move.
    validation_fraction : float
        Share of the labelled rows held out to choose the number of epochs; 0 holds none out.
    chooses_view_weights : bool
        Whether held-out rows say how much each view weighs.
    merges_topics : bool
        Whether topics that say the same become one, as nobody asked for a number of them.
    reporter : Reporter
        To be told about every batch and every epoch.
    checkpoint : Checkpoint
        Where the fit keeps its state, and what an earlier one has left there.
    """

    objective: Objective
    driver: Driver
    validation_fraction: float = 0.0
    chooses_view_weights: bool = False
    merges_topics: bool = False
    reporter: Reporter = field(default_factory=Silent)
    checkpoint: Checkpoint = NOWHERE

    def train(
        self,
        problem: Problem,
        data: Data,
        training: Training,
        rng: np.random.Generator,
        max_epochs: int | None = None,
    ) -> None:
        """Run the driver on all rows of some data, for some epochs if the driver's own plan is not to be followed."""
        self.reporter.ahead(self.driver.planned_rows(len(data), max_epochs))
        run = Run(problem, self.objective, data, training, rng, self.reporter, None, max_epochs, self.checkpoint)
        self.driver.run(run)

    def check_model(self, problem: Problem) -> None:
        """Refuse a problem that objective or driver cannot train, before anything is computed."""
        self.objective.check_model(problem)
        self.driver.check_model(problem, self.objective)
        if len(set(problem.view_weights.values())) > 1 and not self.driver.weighs_views:
            raise ValueError(
                "view_weights need a driver that takes steps of its own for each view; got "
                f"{type(self.driver).__name__}; leave them out, or pass Stochastic()."
            )

    def where_rows_are(self, layer: HiddenLayer) -> Plan:
        """Return the plan with the driver of the cluster, which holds the rows, if a client is in reach."""
        return (
            self if current_client() is None else replace(self, driver=on_cluster(self.driver, layer, self.objective))
        )

    def weighs_views_of(self, problem: Problem) -> bool:
        """Return whether weights of views are to be chosen, and can be."""
        head = problem.known_head
        n_inputs = len(set(problem.energy.families) - set(head.added_views))
        return self.chooses_view_weights and self.driver.weighs_views and n_inputs > 1 and bool(head.linear.losses)

    def interruption(self, number: int, lacks: str) -> str:
        """Return what to tell a user who did not wait for the end of the fit, after how many epochs, and with what."""
        done = f"{number} {self.driver.unit}{'' if number == 1 else 's'}"
        way = "or pass the driver a checkpoint the next time"
        if self.driver.checkpoint is not None:
            way = "or without it to go on from the checkpoint"
        return (
            f"Training was interrupted after {done}; the model is the best so far{lacks and f', but {lacks}'}; "
            f"fit again with warm_start=True to go on, {way}."
        )

    def with_checkpoint(
        self, problem: Problem, data: Data, rng: np.random.Generator | None, before: Training | None = None
    ) -> Plan:
        """Return the plan with the checkpoint that its driver names; refuse what other fits have left there.

        ``rng`` is the random stream as the fit begins, None if it would be another the next time; ``before`` is what
        training goes on from.
        """
        if self.driver.checkpoint is None:
            return self
        settings = {name: value for name, value in vars(self).items() if name not in ("reporter", "checkpoint")}
        earlier = () if before is None else (np.array([before.log.n_iter]), *before.parameters.values())
        run = fingerprint(settings, problem, data, rng, earlier)
        return replace(self, checkpoint=Checkpoint(self.driver.checkpoint, run))


#: labelled rows below which one set of held-out rows is too small to choose by: a convention
MANY_ROWS = 3000
# Updates where rows are few: conventions.
_FEWEST_UPDATES, _UPDATES_OF_A_UNIT = 500, 15


def default_driver(layer: HiddenLayer, has_head: bool, n_rows: int | None = None) -> Driver:
    """Return the driver that suits a layer, with or without something to predict; no number of rows means many."""
    if not has_head and layer.coordinates is not None:
        return Spectral()
    if not has_head:
        if layer.groups.nonnegative:
            return Stochastic(max_iter=5, batch_size=0.03, learning_rate=0.02)
        if layer.selection.selects:
            return Stochastic(batch_size=0.05, learning_rate=0.01, optimizer=Adam())
        return Stochastic()
    averaged = partial(Stochastic, schedule="constant", average=True)
    if layer.selection.selects:
        return averaged(batch_size=0.05, learning_rate=0.03, max_update=1.5, weight_decay=0.5 / 3)
    if n_rows is not None and n_rows < MANY_ROWS:
        updates = max(_FEWEST_UPDATES, _UPDATES_OF_A_UNIT * layer.groups.predictors.n_units_)
        return averaged(batch_size=0.03, learning_rate=0.02, max_update=1.0, weight_decay="auto", updates=updates)
    return averaged(batch_size=0.01, learning_rate=0.01, max_update=0.5, weight_decay="auto")
