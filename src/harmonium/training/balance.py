"""Scales on which features of all views can be compared: the units of the data, and every view counting the same."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.rows import dense
from harmonium.objectives.problem import Problem
from harmonium.views.data import Data


def balanced_scales(problem: Problem, data: Data) -> dict[str, np.ndarray]:
    """Return factors of the statistics, by view, that give all views a total variance of 1.

    Within a view they turn statistics back into the units of the data: features that vary more count more. Views that
    weigh more than others have a variance as many times as large, squared.
    """
    squares = {name: np.zeros(family.n_features_) for name, family in problem.energy.families.items()}
    counts = {name: np.zeros(family.n_features_) for name, family in problem.energy.families.items()}
    for block in data.blocks(problem.energy.families):
        for name, view in block.views.items():
            deviation = dense(view.statistic) - problem.reference[name]
            observed = np.ones(deviation.shape, dtype=bool)
            if view.missing is not None:
                observed = ~problem.energy.families[name].spread(view.missing)
            squares[name] += np.square(deviation, where=observed, out=np.zeros(deviation.shape)).sum(axis=0)
            counts[name] += observed.sum(axis=0)
    scales = {}
    for name, family in problem.energy.families.items():
        scale = np.exp(-family.log_volume())
        total = float(np.square(scale) @ (squares[name] / np.maximum(counts[name], 1)))
        # a view that never varies stays as it is
        scales[name] = scale * problem.view_weights.get(name, 1.0) / np.sqrt(total if total > 0 else 1.0)
    return scales
