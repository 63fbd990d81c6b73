"""Posterior sampling: several chains that move side by side, warm up, and keep every few states."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters, record, weights_of
from harmonium.core.parts import IsPart, as_part
from harmonium.core.progress_bar import Reporter, Silent
from harmonium.core.validation import Number, Setting, Whole, few_of, shown
from harmonium.exceptions import DivergenceError, IncompatiblePartsError
from harmonium.kernels.sparse.matrix import component_arrays
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.training.checkpoint import CheckpointPath
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.monitor import Monitor, Reading
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.run import Run, interruptible
from harmonium.training.drivers.stochastic import Stochastic
from harmonium.training.initialise import initial_parameters
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.normals import Normal
from harmonium.training.posterior.priors import GaussianPrior, Prior
from harmonium.training.state import Training

# Rows of a step unless the user says otherwise: a convention.
_MOST_ROWS = 1000
# Entries in the record of a run.
_RECORDS = 50
# Starts are shrunk into the prior if they are this many of its standard deviations away: a convention. Shrinking all of
# them loses what the data say, as the history of the benchmark bayes_classification tells.
_FAR = 10.0
# Rows by which data are recognised.
_KNOWN_ROWS = 500
# The prior follows the draws from this share of the warm-up on, in this many steps: conventions.
_PRIOR_FROM, _PRIOR_STEPS = 0.2, 20


class Priors(Setting):
    """A setting that is a prior, a dict of priors by view, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no prior, and whatever a prior itself refuses."""
        for prior in value.values() if isinstance(value, Mapping) else [value]:
            IsPart(Prior, "GaussianPrior() or EmpiricalBayes()").check(owner, name, prior)


class Start(Setting):
    """A setting that says how chains get to where they start: a driver that does not sample, "likelihood" or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse drivers that sample, and what is no driver."""
        if value is None or (isinstance(value, str) and value == "likelihood"):
            return
        if not isinstance(value, Driver) or value.keeps_draws:
            raise TypeError(
                f"{owner} needs {name} 'likelihood', None or a driver such as Stochastic(); got {shown(value)}; take "
                "one of them."
            )
        if value.checkpoint is not None:
            raise ValueError(
                f"{owner} keeps the checkpoint of a whole fit; got one in {name} too, {value.checkpoint}; pass it to "
                f"{owner} alone."
            )
        value.check()


class Sampling(Driver):
    """Base of drivers that sample weights: chains, warm-up, thinning, priors, checkpoints.

    A subclass defines `move`, `reading`, ``_tunes`` and `holds_biases`; and `prepare`, if chains have something to
    remember.
    """

    role = "driver"  # named here, as this is no driver by itself
    settings = {
        "n_draws": Whole(remedy="100 is usual"),
        "n_warmup": Whole(lower=0, remedy="500 is usual"),
        "thin": Whole(remedy="5 is usual"),
        "n_chains": Whole(remedy="4 is usual"),
        "step": Number(remedy="'auto' is usual", also=("auto",)),
        "prior": Priors(),
        "start": Start(),
        "checkpoint": CheckpointPath(),
    }
    keeps_draws = True
    unit = "move"

    batch_size: int | None

    def __init__(
        self,
        n_draws: int = 100,
        n_warmup: int = 1000,
        thin: int = 20,
        n_chains: int = 4,
        step: float | Literal["auto"] = "auto",
        prior: Prior | Mapping[str, Prior] | None = None,
        start: Driver | Literal["likelihood"] | None = "likelihood",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.n_chains = n_chains
        self.step = step
        self.prior = prior
        self.start = start
        self.checkpoint = checkpoint

    def move(self, run: Run, rows: np.ndarray, chain: MarkovChain, posterior: Posterior) -> None:
        """Move one chain by one step, in place.

        Parameters
        ----------
        run : Run
            The model to be sampled, where gradients or samples come from, and all training rows.
        rows : ndarray of int
            Numbers of the rows that this step looks at.
        chain : MarkovChain
            The chain, whose parameters and memory are changed.
        posterior : Posterior
            All chains, the priors, and how far the warm-up is; not to be changed.
        """
        raise NotImplementedError

    def prepare(self, run: Run, chain: MarkovChain, posterior: Posterior) -> None:
        """Give a chain what it has to remember, before its first step.

        Parameters
        ----------
        run : Run
            The model to be sampled, where gradients or samples come from, and all training rows.
        chain : MarkovChain
            The chain, whose memory is changed.
        posterior : Posterior
            All chains and the priors.
        """

    def recall(self, run: Run, chain: MarkovChain) -> None:
        """Give a chain that goes on what it has to remember of where it is.

        An interrupt may have put it back.

        Parameters
        ----------
        run : Run
            The model to be sampled, where gradients or samples come from, and all training rows.
        chain : MarkovChain
            The chain, whose memory is changed.
        """

    def reading(self, chain: MarkovChain, posterior: Posterior) -> dict[str, float]:
        """Return what the record says of a chain's moves.

        Parameters
        ----------
        chain : MarkovChain
            The chain.
        posterior : Posterior
            All chains, the priors, and how far the warm-up is.

        Returns
        -------
        dict of str to float
            Values by name; "step", the typical step of a weight, is always among them.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Refuse settings that make no sense, alone or together."""
        super().check()
        owner = type(self).__name__
        for prior in self._priors():
            if prior.learns and not self.n_warmup:
                raise ValueError(
                    f"{prior!r} learns in the warm-up; got n_warmup=0; allow for some, or pass GaussianPrior()."
                )
        if self._tunes and not self.n_warmup:
            raise ValueError(
                f"{owner} tunes its steps in the warm-up; got n_warmup=0; allow for some, or pass a step and, if there "
                "is such a setting, precondition=False."
            )

    def _priors(self) -> list[Prior]:
        """Return the priors that are given."""
        given = self.prior.values() if isinstance(self.prior, Mapping) else [self.prior]
        return [prior for prior in (as_part(Prior, entry) for entry in given) if prior is not None]

    @property
    def _tunes(self) -> bool:
        """Whether steps are tuned in the warm-up."""
        raise NotImplementedError

    @property
    def holds_biases(self) -> bool:
        """Whether all parameters but the weights stay as the start leaves them."""
        raise NotImplementedError

    def epochs(self, n_rows: int) -> int:
        """Return the number of moves of each chain."""
        return self.n_warmup + self.n_draws * self.thin

    def planned_rows(self, n_rows: int, max_epochs: int | None = None) -> int:
        """Return the number of rows that the starts and the moves of all chains visit."""
        driver = self._starter()
        first = 0 if driver is None else driver.planned_rows(n_rows)
        return self.n_chains * (first + self.epochs(n_rows) * self._rows_of_step(n_rows))

    def run(self, run: Run) -> None:
        """Move all chains in turn; chains of an earlier posterior continue and add draws.

        A callback and a largest number of epochs are for models with a head, which are refused.
        """
        problem, data, training = run.problem, run.data, run.training
        with run.checkpoint.level("moves", lambda: self._planned(run)) as state:
            posterior = state.posterior
            monitor = Monitor(problem, data, np.arange(len(data)), np.arange(0))
            monitor.start = state.start = state.start or monitor.begin(posterior.chains[0].parameters)
            every = max(1, posterior.n_planned // _RECORDS)
            unit_scales = {view: _unit_scale(problem, view) for view in posterior.prior}
            # chains that continue need neither starts nor a warm-up
            n_moves = (posterior.n_planned - posterior.n_moves) * self.n_chains
            run.reporter.ahead(n_moves * self._rows_of_step(len(data)))

            def finish() -> None:
                aligned = replace(posterior, chains=[replace(chain) for chain in posterior.chains])
                aligned.align(problem.energy)
                training.parameters, training.posterior = aligned.mean(), aligned
                training.log.idle_units = monitor.idle_units(training.parameters)
                training.log.stopped = f"{posterior.n_draws} draws of each of {self.n_chains} chains kept"

            begun = time.perf_counter()
            with interruptible(run, finish, state.restore):
                while posterior.n_moves < posterior.n_planned:
                    self._move_all(run, posterior, unit_scales)
                    training.log.n_iter += 1
                    if posterior.n_moves % every == 0 or posterior.n_moves == posterior.n_planned:
                        entry = self._record(monitor, training, posterior, time.perf_counter() - begun)
                        run.reporter.epoch(training.log.n_iter, entry)
                        begun = time.perf_counter()
                    run.checkpoint.write()

    def _planned(self, run: Run) -> _Moves:
        """Return chains with their moves planned: those of the draws, and a warm-up unless they have had theirs."""
        posterior = run.training.posterior or self._begin(run)
        run.training.posterior = None  # until its draws are complete
        target = self._target(run)
        posterior.target = posterior.target or target
        if posterior.target != target or len(posterior.chains) != self.n_chains:
            raise ValueError(
                f"Sampling can only go on with the data, the parts and the {len(posterior.chains)} chains it began "
                "with; some of them are others now; set them back, or fit with warm_start=False."
            )
        if not posterior.n_planned:
            posterior.n_warmup = posterior.n_planned = self.n_warmup
            if not posterior.n_draws:  # a prior that draws were made with stays as it is
                posterior.moments = {
                    view: self.prior_of(view).moments(len(prior.mean))
                    for view, prior in posterior.prior.items()
                    if self.prior_of(view).learns
                }
            for chain in posterior.chains:
                self.prepare(run, chain, posterior)
        else:
            for chain in posterior.chains:
                self.recall(run, chain)
        posterior.n_planned += self.n_draws * self.thin
        return _Moves(posterior, posterior.n_draws)

    def _move_all(self, run: Run, posterior: Posterior, unit_scales: Mapping[str, float]) -> None:
        """Move every chain once, let the prior follow, and keep draws if it is time to."""
        n_all, n_rows = len(run.data), self._rows_of_step(len(run.data))
        for chain in posterior.chains:
            rows = np.arange(n_rows) if n_rows == n_all else np.sort(chain.rng.choice(n_all, n_rows, replace=False))
            self.move(run, rows, chain, posterior)
            project(run.problem.energy, chain.parameters)
            run.reporter.batch(n_rows)
        posterior.n_moves += 1
        self._follow(posterior, unit_scales)
        self._draw_priors(posterior, unit_scales)
        done = posterior.n_moves - posterior.n_warmup
        if done > 0 and done % self.thin == 0:
            for chain in posterior.chains:
                chain.draws.append(copy_parameters(chain.parameters))

    def _follow(self, posterior: Posterior, unit_scales: Mapping[str, float]) -> None:
        """Collect weights and, now and then, give the prior their moments: Monte Carlo EM."""
        first = int(_PRIOR_FROM * posterior.n_warmup)
        if not posterior.moments or not first < posterior.n_moves <= posterior.n_warmup:
            return
        every = max(1, (posterior.n_warmup - first) // _PRIOR_STEPS)
        for view, moments in posterior.moments.items():
            for chain in posterior.chains:
                moments.add(chain.parameters[weights_of(view)])
            if (posterior.n_moves - first) % every == 0:
                current, scale = posterior.prior[view], unit_scales[view]
                posterior.prior[view] = self.prior_of(view).update(current, moments, scale)
                posterior.moments[view] = self.prior_of(view).moments(len(moments.total))

    def _draw_priors(self, posterior: Posterior, unit_scales: Mapping[str, float]) -> None:
        """Let chains draw the priors that are theirs; that of the posterior is their mean since the warm-up."""
        for view, mean in posterior.prior.items():
            prior = self.prior_of(view)
            if not prior.is_drawn:
                continue
            for chain in posterior.chains:
                current, weights = chain.prior.get(view, mean), chain.parameters[weights_of(view)]
                chain.prior[view] = prior.draw(current, weights, unit_scales[view], chain.rng)
            share = np.float32(1 / max(1, posterior.n_moves - posterior.n_warmup))
            drawn = np.mean([chain.prior[view].variance for chain in posterior.chains], axis=0)
            posterior.prior[view] = Normal(mean.mean, mean.variance + share * (drawn - mean.variance))

    def _begin(self, run: Run) -> Posterior:
        """Return chains at their starts: the first where training stands, the others at random weights of their own."""
        driver, problem, data, training = self._starter(), run.problem, run.data, run.training
        with run.checkpoint.level("starts", lambda: _Starts(run.rng.spawn(self.n_chains))) as state:
            for stream in state.streams[len(state.done) :]:
                if state.running is None:
                    beginning = training.parameters
                    if state.done:
                        drawn = initial_parameters(problem.energy, data.views, problem.reference, stream)
                        beginning = self._sharing(training.parameters, drawn)
                        project(problem.energy, beginning)
                    state.running = Training(copy_parameters(beginning))
                if driver is not None:
                    silent = _Batches(run.reporter)
                    driver.run(replace(run, training=state.running, rng=stream, reporter=silent))
                state.done.append(state.running.parameters)
                state.running = None
            starts = [self._sharing(state.done[0], start) for start in state.done]
            chains = [MarkovChain(start, stream) for start, stream in zip(starts, state.streams, strict=True)]
        prior = {}
        for view in problem.energy.families:
            together = np.concatenate([chain.parameters[weights_of(view)] for chain in chains], axis=1)
            prior[view] = self.prior_of(view).start(together, _unit_scale(problem, view))
            for chain in chains:
                _into_prior(chain.parameters[weights_of(view)], prior[view])
        return Posterior(chains, prior)

    def _target(self, run: Run) -> str:
        """Return what is sampled, as text; the data are known by their number and some of the rows."""
        energy, data = run.problem.energy, run.data
        rows = np.linspace(0, len(data) - 1, min(len(data), _KNOWN_ROWS)).astype(int)
        digest = hashlib.sha256()
        for name, view in data.batch(rows, energy.families).views.items():
            digest.update(f"{name} {energy.families[name]!r} {self.prior_of(name)!r}".encode())
            for array in [*component_arrays(view.statistic), view.size, view.missing]:
                digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        parts = [
            type(self).__name__,
            run.objective,
            energy.hidden,
            energy.hidden.n_units_,
            len(data),
            digest.hexdigest(),
        ]
        return " ".join(map(str, parts))

    def _sharing(self, first: Parameters, other: Parameters) -> Parameters:
        """Return parameters of another chain than the first.

        Where all but the weights is held fixed it is the same in all chains, which would sample different posteriors
        otherwise.
        """
        if not self.holds_biases:
            return other
        return {name: other[name] if record(name).is_weights else value.copy() for name, value in first.items()}

    def _record(self, monitor: Monitor, training: Training, posterior: Posterior, seconds: float) -> dict[str, float]:
        """Record all chains: readings of the first, and means over chains of their steps; raise if one has run away."""
        entry: dict[str, float] = {"epoch": training.log.n_iter}
        for chain in posterior.chains[::-1]:  # the first chain is recorded, but all are looked at
            try:
                entry |= monitor.read(chain.parameters, training.log.n_iter)
            except DivergenceError as error:
                step = self.reading(chain, posterior)["step"]
                raise DivergenceError(
                    f"A chain must stay where the data can be explained; one ran away at move {posterior.n_moves}; use "
                    f"a smaller step than {step:.2g}, more warm-up, or a prior of smaller scale."
                ) from error
        readings = [self.reading(chain, posterior) for chain in posterior.chains]
        entry |= {name: float(np.mean([reading[name] for reading in readings])) for name in readings[0]}
        for view, prior in posterior.prior.items():
            entry[f"prior_scale.{view}"] = float(np.sqrt(prior.variance.mean(dtype=np.float64)))
        training.log.add({**entry, "seconds": seconds})
        return entry

    def prior_of(self, view: str) -> Prior:
        """Return the prior of one view.

        Parameters
        ----------
        view : str
            Name of the view.

        Returns
        -------
        Prior
            The prior that is given for it, or else that of `default_prior`.
        """
        given = as_part(Prior, self.prior.get(view) if isinstance(self.prior, Mapping) else self.prior)
        return self.default_prior() if given is None else given

    def default_prior(self) -> Prior:
        """Return the prior of views for which none is given.

        Returns
        -------
        Prior
            `GaussianPrior`, unless the driver says otherwise.
        """
        return GaussianPrior()

    def _starter(self) -> Any:
        return Stochastic() if isinstance(self.start, str) and self.start == "likelihood" else self.start

    def _rows_of_step(self, n_rows: int) -> int:
        return min(n_rows, _MOST_ROWS if self.batch_size is None else self.batch_size)

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse heads, and units that are selected or held to something."""
        owner, hidden = type(self).__name__, problem.energy.hidden
        if problem.head is not None or hidden.selection.selects:
            what = "a head" if problem.head is not None else "a layer that selects units"
            raise IncompatiblePartsError(
                f"{owner} samples the weights of models without {what}; this one has one; use the Stochastic() driver."
            )
        if hidden.groups.nonnegative or hidden.selection.activity is not None:
            held = "weights that are never negative" if hidden.groups.nonnegative else "an activity"
            raise IncompatiblePartsError(
                f"{owner} samples weights and biases that nothing holds back; got units with {held}; leave that out, "
                "or use the Stochastic() driver."
            )
        unknown = sorted(set(self.prior if isinstance(self.prior, Mapping) else ()) - set(problem.energy.families))
        if unknown:
            views = few_of(problem.energy.families)
            raise ValueError(f"prior may only name views of X ({views}); got {shown(unknown[0])}; correct the name.")
        for view, family in problem.energy.families.items():
            self.prior_of(view).check_view(view, family.n_features_)
        driver = self._starter()
        if driver is not None:
            driver.check_model(problem, objective)


def _unit_scale(problem: Problem, view: str) -> float:
    """Return the standard deviation of weights at which all views make naturals vary by about one over the items.

    What features are on average is left to the biases.
    """
    family, mean = problem.energy.families[view], problem.reference[view].astype(np.float64)
    variance = float(family.statistic_variance(mean, family.extra_parameters.initial).sum())
    # the scale of a view that is nearly the same in all items would be arbitrarily large
    return 1 / np.sqrt(len(problem.energy.families) * max(variance, 1.0))


def _into_prior(weights: np.ndarray, prior: Normal) -> None:
    """Shrink weights far outside the prior to where it has its mass, in place: chains would take long for that."""
    distance = weights - prior.mean[:, None]
    excess = np.sqrt(np.square(distance).mean(dtype=np.float64) / prior.variance.mean(dtype=np.float64))
    if excess > _FAR:
        weights -= np.float32(1 - 1 / excess) * distance


@serializable
@dataclass
class _Starts:
    """Where the starts of chains stand: the random streams of all, starts that are done, and the one that is not."""

    streams: list[np.random.Generator]
    done: list[Parameters] = field(default_factory=list)
    running: Training | None = None


@serializable
@dataclass
class _Moves:
    """Where chains stand: they and their draws, the number of draws of earlier runs, and the first reading."""

    posterior: Posterior
    n_before: int
    start: Reading | None = None

    def restore(self) -> bool:
        """Go back to the last draw of all chains; return whether there is a new one.

        An interrupt can come in the middle of a move, or between the draws of two chains.
        """
        n_draws = min(len(chain.draws) for chain in self.posterior.chains)
        if n_draws <= self.n_before:
            return False
        for chain in self.posterior.chains:
            chain.draws = chain.draws[:n_draws]
            chain.parameters = copy_parameters(chain.draws[-1])
        self.posterior.n_planned = self.posterior.n_moves
        return True


class _Batches(Silent):
    """Passes on that rows are done, but not the epochs of a start, which are not those of the chains."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def batch(self, n_rows: int) -> None:
        """Move the bar."""
        self._reporter.batch(n_rows)
