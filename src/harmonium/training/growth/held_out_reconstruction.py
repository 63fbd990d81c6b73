"""Held-out reconstruction: how well a model predicts parts of rows it was not trained on from their other parts.

It compares models with any number of units, whose partition functions are unknown, at the cost of a few matrix
products, and a unit that stands for nothing makes it worse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.families import Family
from harmonium.inference.mean_field import fill_missing
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.monitor import loss_of_view
from harmonium.views.data import Data

# Share of the sites of a row that are masked: a convention.
_MASKED = 0.2


@dataclass(frozen=True)
class HeldOutReconstruction:
    """Rows of which some sites are hidden, and these sites; the same for all models that are compared.

    Attributes
    ----------
    observed : list of Batch
        Rows without the sites that are masked.
    masked : list of dict of str to ViewBatch
        The same rows, by view, in which everything but these sites counts as missing.
    """

    observed: list[Batch]
    masked: list[dict[str, ViewBatch]]

    @classmethod
    def of(cls, problem: Problem, data: Data, rng: np.random.Generator) -> HeldOutReconstruction | None:
        """Return questions about all rows of some data; None if a row is a single site, which leaves nothing to ask."""
        families = problem.energy.families
        if sum(family.codec.n_sites for family in families.values()) < 2:
            return None
        observed, masked = [], []
        for block in data.blocks(families):
            views = {name: _split(families[name], view, rng) for name, view in block.views.items()}
            observed.append(Batch({name: pair[0] for name, pair in views.items()}, block.n_rows))
            masked.append({name: pair[1] for name, pair in views.items()})
        return cls(observed, masked)

    def losses(self, problem: Problem, parameters: Parameters) -> np.ndarray:
        """Return -log p(what is masked | hidden units at their means given the rest) of each row, in nats."""
        energy, losses = problem.energy, []
        layer = energy.layer(parameters)
        for observed, masked in zip(self.observed, self.masked, strict=True):
            filled = fill_missing(energy, parameters, observed, problem.reference)
            mean = layer.mean(energy.hidden_natural(parameters, filled))
            total = np.zeros(observed.n_rows)
            for name, view in masked.items():
                family, own = energy.families[name], energy.own(parameters, name)
                natural = family.domain.clamp(energy.view_natural(parameters, name, mean, view.size))
                total += loss_of_view(family, view, natural, own)
            losses.append(total)
        return np.concatenate(losses)


def _split(family: Family, view: ViewBatch, rng: np.random.Generator) -> tuple[ViewBatch, ViewBatch]:
    """Return a view without the sites that are drawn, and the view in which all others count as missing."""
    statistic = np.asarray(to_dense(view.statistic), dtype=np.float32)
    drawn = rng.random((len(statistic), family.codec.n_sites)) < _MASKED
    missing = drawn if view.missing is None else drawn | view.missing
    masked = drawn if view.missing is None else drawn & ~view.missing
    left = np.where(family.codec.spread(missing), np.float32(0), statistic)
    return replace(view, statistic=left, missing=missing), replace(view, statistic=statistic, missing=~masked)
