"""Regression: the ε-insensitive loss."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.heads.base import Constants, constant
from harmonium.heads.linear import LinearHead, LossWeight
from harmonium.heads.outputs import NumberOutputs
from harmonium.kernels.dual import TOLERANCE, solve_epsilon_insensitive
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.targets import Labels, Meaning, Targets
from harmonium.validation import Number


class EpsilonInsensitive(LinearHead):
    """Loss max(0, |y - s| - ε) of support vector regression, added over the outputs.

    Targets are standardised while learning, so that neither C nor ε depends on their units.

    Parameters
    ----------
    C, ridge, solver
        As for every head: see `LinearHead`.
    epsilon : float, default=0.1
        Errors up to so many standard deviations of the target cost nothing.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.2.

    Examples
    --------
    >>> labels = Labels(Meaning("number", []), Targets(np.array([[1.0], [3.0]]), np.ones(2)))
    >>> head = EpsilonInsensitive(C=1.0).bind(labels)
    >>> head.targets(labels).values.tolist()
    [[-1.0], [1.0]]
    >>> head.loss(np.array([[0.5]]), np.array([[1.0]]))
    (array([0.4]), array([[-1.]]))
    """

    kinds = ("number",)
    settings = {**LinearHead.settings, "epsilon": Number(inclusive=True, remedy="0.1 is usual")}
    outputs_: NumberOutputs

    def __init__(
        self,
        C: LossWeight = "auto",
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        epsilon: float = 0.1,
    ) -> None:
        super().__init__(C, ridge, solver)
        self.epsilon = epsilon

    def bind(self, labels: Labels) -> Self:
        """Mean and standard deviation of each output."""
        return self._with_outputs(NumberOutputs.standard(labels.targets.values))

    def _with_outputs(self, outputs: NumberOutputs) -> Self:
        return self.with_fitted(outputs_=outputs, n_outputs_=len(outputs.location))

    def constants(self) -> dict[str, np.ndarray]:
        """Mean and standard deviation."""
        return super().constants() | {"location": self.outputs_.location, "scale": self.outputs_.scale}

    def restore(self, meaning: Meaning, constants: Constants) -> Self:
        """Inverse of `bind`, from the constants."""
        location, scale = (constant(constants, name, meaning.n_columns) for name in ("location", "scale"))
        head = self._with_outputs(NumberOutputs(location, scale))
        return head._with_factors(constants["factors"])

    def targets(self, labels: Labels) -> Targets:
        """Standardised targets."""
        return Targets(self.outputs_.encode(labels.targets.values), labels.targets.weight)

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance beyond ε, and its sign."""
        distance = np.where(np.isnan(targets), 0.0, scores - targets)
        beyond = np.maximum(np.abs(distance) - self.epsilon, 0.0)
        return beyond.sum(axis=1, dtype=np.float64), (np.sign(distance) * (beyond > 0)).astype(scores.dtype)

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Squared error in units of the variance: 1 - R²."""
        return np.square(np.where(np.isnan(targets), 0.0, scores - targets)).mean(axis=1, dtype=np.float64)

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Dual coordinate descent, one row and output at a time (Ho & Lin 2012)."""
        weights, dual = solve_epsilon_insensitive(
            hidden_mean, targets.values, targets.weight, self.epsilon, self.ridge, dual, tolerance
        )
        return {HEAD_WEIGHTS: weights[:-1], HEAD_BIAS: weights[-1]}, dual
