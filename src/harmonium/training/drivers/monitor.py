"""Monitor of a training: reconstruction by view, free energies, and whether training has diverged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of, first_not_finite, weights_of
from harmonium.energy import log_weight
from harmonium.exceptions import DivergenceError
from harmonium.families import Family
from harmonium.families.protocol.extra_parameters import Extra
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import is_sparse
from harmonium.kernels.sparse.products import sum_over_features
from harmonium.objectives.problem import Problem
from harmonium.storage import serializable
from harmonium.views.data import Data

# Training rows that are watched (four times as many of validation rows): a convention.
_SAMPLE = 256
# Training has diverged if a weight is larger, as log-odds that move by so much per count or standard deviation mean
# nothing any more, or if a view is this many times worse than at the start: conventions.
_LARGEST_WEIGHT = 1e4
_FAR_WORSE = 20


@serializable
@dataclass(frozen=True)
class Reading:
    """Means over the rows that are watched."""

    reconstruction: dict[str, float]
    free_energy: float
    free_energy_spread: float

    @property
    def total(self) -> float:
        """Reconstruction loss summed over views."""
        return sum(self.reconstruction.values())


class Monitor:
    """Watches a fixed sample of training rows and, if there are any, validation rows.

    Attributes
    ----------
    start : Reading, optional
        The first reading.
    """

    def __init__(self, problem: Problem, data: Data, train: np.ndarray, validation: np.ndarray) -> None:
        self._problem = problem
        families = problem.energy.families
        # no random numbers are spent on which rows, so watching does not change what is learned
        self._train = data.spaced(_SAMPLE, families, train)
        self._validation = data.spaced(4 * _SAMPLE, families, validation) if len(validation) else None
        self.start: Reading | None = None

    def begin(self, parameters: Parameters) -> Reading:
        """Return the reading of the parameters that training starts from, with which later ones are compared."""
        self.read(parameters, 0)
        assert self.start is not None
        return self.start

    def read(self, parameters: Parameters, epoch: int, learning_rate: float | None = None) -> dict[str, float]:
        """Return the record of one epoch; raise a DivergenceError if training has diverged."""
        check_finite(parameters, epoch, learning_rate)
        for name in self._problem.energy.families:
            if np.abs(parameters[weights_of(name)]).max() > _LARGEST_WEIGHT:
                raise DivergenceError(_divergence(name, epoch, "its weights grew without bound", learning_rate))
        train = reconstruct(self._problem, parameters, self._train)
        self.start = self.start or train
        for name, loss in train.reconstruction.items():
            # a view far worse than at the start has diverged, though clamps may keep it finite
            if not np.isfinite(loss) or loss > _FAR_WORSE * max(abs(self.start.reconstruction[name]), 1.0):
                raise DivergenceError(_divergence(name, epoch, "its reconstruction grew without bound", learning_rate))
        record = {"reconstruction": train.total, "free_energy": train.free_energy}
        if len(train.reconstruction) > 1:
            record |= {f"reconstruction.{name}": loss for name, loss in train.reconstruction.items()}
        if self._validation is not None:
            held_out = reconstruct(self._problem, parameters, self._validation)
            record["validation_reconstruction"] = held_out.total
            spread = max(train.free_energy_spread, 1e-12)
            record["free_energy_gap"] = (held_out.free_energy - train.free_energy) / spread
        return record

    def presence(self, parameters: Parameters) -> np.ndarray:
        """Return the share of the watched training rows that have each unit; the mean of units that every row has."""
        energy = self._problem.energy
        layer = energy.layer(parameters)
        batch = self._problem.complete(parameters, self._train)
        return layer.selection.presence(energy.hidden_natural(parameters, batch)).mean(axis=0, dtype=np.float64)

    def idle_units(self, parameters: Parameters) -> int:
        """Return the number of hidden units that are the same for all watched rows, where none should be."""
        energy = self._problem.energy
        if energy.hidden.selection.selects:  # they are removed
            return 0
        batch = self._problem.complete(parameters, self._train)
        layer = energy.layer(parameters)
        means = layer.mean(energy.hidden_natural(parameters, batch))
        return int(layer.groups.idle(means.std(axis=0, dtype=np.float64)).sum()) if batch.n_rows > 1 else 0


def check_finite(parameters: Parameters, epoch: int, learning_rate: float | None) -> None:
    """Raise a DivergenceError if a parameter is not finite."""
    broken = first_not_finite(parameters)
    if broken is not None:
        view = broken.rsplit(".", 1)[0]
        raise DivergenceError(_divergence(view, epoch, "its parameters are no longer finite", learning_rate))


def _divergence(view: str, epoch: int, problem: str, learning_rate: float | None) -> str:
    """Return the message of a DivergenceError: where, when and why, and what to do."""
    where = "the hidden layer" if view == "hidden" else "the head" if view == "head" else f"view {view!r}"
    remedy = "" if learning_rate is None else f"a learning_rate below {learning_rate:g}, "
    return (
        f"Training diverged in {where} at epoch {epoch}: {problem}; use {remedy}a larger weight_decay, "
        "or rescale the view (large counts: take logarithms, which makes them Gaussian)."
    )


def reconstruct(problem: Problem, parameters: Parameters, batch: Batch) -> Reading:
    """Return -log p(x_v | h at its mean) of each view, over observed sites, and the free energy, averaged over rows."""
    energy = problem.energy
    batch = problem.complete(parameters, batch)
    hidden_mean = energy.layer(parameters).mean(energy.hidden_natural(parameters, batch))
    losses = view_losses(problem, parameters, batch, hidden_mean)
    free = energy.free_energy(parameters, batch)
    means = {name: float(loss.mean()) for name, loss in losses.items()}
    return Reading(means, float(free.mean()), float(free.std()))


def view_losses(
    problem: Problem, parameters: Parameters, batch: Batch, hidden_mean: np.ndarray
) -> dict[str, np.ndarray]:
    """Return -log p(x_v | h) of each view of a batch and each of its rows, over observed sites, in float64."""
    energy = problem.energy
    losses = {}
    for name, view in batch.views.items():
        family, extra = energy.families[name], energy.extra(parameters, name)
        if is_sparse(view.statistic):
            hidden = energy.row_weighted(name, hidden_mean, view.size)
            loss = _loss_at_entries(
                family, view, parameters[weights_of(name)], parameters[bias_of(name)], hidden, extra
            )
            if loss is not None:
                losses[name] = loss
                continue
        natural = family.domain.clamp(energy.view_natural(parameters, name, hidden_mean, view.size))
        losses[name] = loss_of_view(family, view, natural, extra)
    return losses


def _loss_at_entries(
    family: Family, view: ViewBatch, weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, extra: Extra
) -> np.ndarray | None:
    """Return what `loss_of_view` does, with naturals where there are entries; None if the family needs all of them."""
    if family.support.whole_rows or family.codec.n_sites < family.n_features_:
        return None
    distribution, clamp = family.distribution(extra), family.domain.clamp
    if not distribution.is_shared:
        return None
    log_partition = sum_over_features(hidden, weights, bias, lambda natural: distribution.log_partition(clamp(natural)))
    if view.missing is not None:  # only whole rows can be missing, and these have no entries
        log_partition[view.missing.all(axis=1)] = 0
    cells = entries(view.statistic)
    natural = family.domain.clamp(cells.products(hidden, weights, bias))
    terms = natural * cells.values + family.log_base(cells.values, extra, cells.columns)
    loss: np.ndarray = log_partition - cells.row_sums(terms)
    return loss


def loss_of_view(family: Family, view: ViewBatch, natural: np.ndarray, extra: Extra) -> np.ndarray:
    """Return -log p(x | natural) of each row of one view, over observed sites, in float64."""
    log_partition = family.log_partition(natural, extra, view.size)
    if view.missing is not None:
        missing = view.missing[:, : log_partition.shape[1]]
        given = family.given(view.statistic, missing) if isinstance(view.statistic, np.ndarray) else family
        # where sites depend on each other, missing ones are summed over given the others
        left = log_partition if given is family else given.log_partition(natural, extra, view.size)
        log_partition = log_partition - np.where(missing, left, 0)
    loss: np.ndarray = log_partition.sum(axis=1, dtype=np.float64) - log_weight(family, view, natural, extra)
    return loss


def marginal_nll(problem: Problem, data: Data) -> float:
    """Return the unit of C: the nats that describing an average item by its features' marginals costs, at least 1."""
    families = problem.energy.families
    total = 0.0
    for name, view in data.spaced(_SAMPLE, families).views.items():
        family, extra = families[name], families[name].extra_parameters.initial
        natural = family.domain.clamp(family.natural_from_mean(problem.reference[name].astype(np.float64)))
        if is_sparse(view.statistic) and view.size is None and view.missing is None:
            # the log-partition of all rows is that of one
            loss = family.log_partition(natural[None], extra).sum() - log_weight(family, view, natural, extra)
        else:
            loss = loss_of_view(family, view, np.broadcast_to(natural, view.statistic.shape), extra)
        total += float(loss.mean())
    return max(total, 1.0)
