"""Coordinates of chains in which biases of views say what features are like in the mean item."""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.inference.symmetry import is_length_normalized
from harmonium.objectives.problem import Problem
from harmonium.training.posterior.normals import Normal


class CentredBiases:
    """Naturals of the mean item, b + W m with m = E[h | mean item], in place of the biases b.

    Where features are nearly always one, b and W are known together much better than each of them: a step of W alone
    would change the means of all features. The step of W is therefore taken with b + W m held fixed. Where units
    respond linearly m follows the weights; elsewhere it is their mean at a natural of zero; and where rows weigh
    differently, so that there is no mean item, it is zero. In all cases volumes stay the same, so that densities do.

    Parameters
    ----------
    problem : Problem
        The model, with the mean statistics of the data.
    n_rows : int
        Number of rows of the data.

    Attributes
    ----------
    priors : dict of str to Normal
        Prior of the centred biases of each view: what one row of mean statistics says (unit information; Kass &
        Wasserman 1995). No feature is taken to vary less than one that differs in a single row.
    """

    def __init__(self, problem: Problem, n_rows: int) -> None:
        self._energy = problem.energy
        self._means = {view: mean.astype(np.float32) for view, mean in problem.reference.items()}
        self._weighted = is_length_normalized(problem.energy)
        self.priors = {view: _unit_information(problem, view, n_rows) for view in self._means}

    def of(self, parameters: Parameters) -> Parameters:
        """Return the centred biases, by view."""
        centre = self._centre(parameters)
        return {view: parameters[bias_of(view)] + parameters[weights_of(view)] @ centre for view in self._means}

    def restore(self, parameters: Parameters, biases: Parameters) -> None:
        """Set the biases, in place, so that the centred ones are those that are given."""
        centre = self._centre(parameters)
        for view, value in biases.items():
            parameters[bias_of(view)][...] = value - parameters[weights_of(view)] @ centre

    def change_gradient(self, gradient: Parameters, parameters: Parameters) -> None:
        """Turn the gradient by the weights, in place, from that for fixed biases into that for fixed centred ones."""
        centre, response = self._centre(parameters), np.zeros_like(parameters[HIDDEN_BIAS])
        if self._follows(parameters):
            total = np.sum([gradient[bias_of(view)] @ parameters[weights_of(view)] for view in self._means], axis=0)
            response = self._energy.layer(parameters).mean(total).astype(np.float32)
        for view, mean in self._means.items():
            both = np.stack([gradient[bias_of(view)], mean], axis=1)
            gradient[weights_of(view)] -= both @ np.stack([centre, response])

    def _follows(self, parameters: Parameters) -> bool:
        return self._energy.layer(parameters).linear_mean and not self._weighted

    def _centre(self, parameters: Parameters) -> np.ndarray:
        """Return E[h] of the mean item, or what is held in its place."""
        natural = np.zeros_like(parameters[HIDDEN_BIAS])
        if self._weighted:
            return natural
        if self._follows(parameters):
            parts = [mean @ parameters[weights_of(view)] for view, mean in self._means.items()]
            natural = parameters[HIDDEN_BIAS] + np.sum(parts, axis=0)
        return np.asarray(self._energy.layer(parameters).mean(natural), dtype=np.float32)


def _unit_information(problem: Problem, view: str, n_rows: int) -> Normal:
    family, mean = problem.energy.families[view], problem.reference[view].astype(np.float64)
    variance = np.maximum(family.statistic_variance(mean, family.extra_parameters.initial), 1 / n_rows)
    return Normal(family.natural_from_mean(mean).astype(np.float32), (1 / variance).astype(np.float32))
