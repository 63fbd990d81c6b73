"""Scales on which features of all views can be compared: every view counting the same, or every feature."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.sparse.matrix import to_dense
from harmonium.objectives.problem import Problem
from harmonium.views.data import Data


def balanced_scales(problem: Problem, data: Data) -> dict[str, np.ndarray]:
    """Return factors of the statistics, by view, that give all views a total variance of 1.

    Within a view features are on the scale of its family, mostly in the units of the data: those that vary more count
    more. Views that weigh more than others have a variance as many times as large, squared.
    """
    scales = {}
    for name, variances in _variances(problem, data).items():
        scale = problem.energy.families[name].codec.data_scale
        total = float(np.square(scale) @ variances)
        # a view that never varies stays as it is
        scales[name] = scale * problem.view_weights.get(name, 1.0) / np.sqrt(total if total > 0 else 1.0)
    return scales


def standard_scales(problem: Problem, data: Data) -> dict[str, np.ndarray]:
    """Return factors of the statistics, by view, that give all features a variance of 1, or of their view's weight."""
    return {
        name: problem.view_weights.get(name, 1.0) / np.sqrt(np.where(variances > 0, variances, 1.0))
        for name, variances in _variances(problem, data).items()
    }


def _variances(problem: Problem, data: Data) -> dict[str, np.ndarray]:
    """Return the variance of each statistic around its mean, over the rows in which it is observed, by view."""
    families = problem.energy.families
    squares = {name: np.zeros(family.n_features_) for name, family in families.items()}
    counts = {name: np.zeros(family.n_features_) for name, family in families.items()}
    for block in data.blocks(families):
        for name, view in block.views.items():
            deviation = to_dense(view.statistic) - problem.reference[name]
            observed = np.ones(deviation.shape, dtype=bool)
            if view.missing is not None:
                observed = ~families[name].codec.spread(view.missing)
            squares[name] += np.square(deviation, where=observed, out=np.zeros(deviation.shape)).sum(axis=0)
            counts[name] += observed.sum(axis=0)
    return {name: squares[name] / np.maximum(counts[name], 1) for name in families}
