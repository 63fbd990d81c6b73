"""Regression: the ε-insensitive loss."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.batch import Targets
from harmonium.heads.base import LinearHead, LossWeight, standard
from harmonium.kernels.dual import TOLERANCE, solve_epsilon_insensitive
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.validation import check_real


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
    >>> head = EpsilonInsensitive(C=1.0).bind(Targets(np.array([[1.0], [3.0]]), np.ones(2)), [])
    >>> head.encode(np.array([[3.0]])).tolist()
    [[1.0]]
    >>> head.loss(np.array([[0.5]]), np.array([[1.0]]))
    (array([0.4]), array([[-1.]]))
    """

    kinds = ("number",)
    location_: np.ndarray
    scale_: np.ndarray

    def __init__(
        self,
        C: LossWeight = "auto",
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        epsilon: float = 0.1,
    ) -> None:
        super().__init__(C, ridge, solver)
        self.epsilon = epsilon

    def check(self) -> None:
        """ε too."""
        super().check()
        check_real("EpsilonInsensitive", "epsilon", self.epsilon, inclusive=True, remedy="0.1 is usual")

    def bind(self, targets: Targets, n_classes: list[int]) -> Self:
        """Mean and standard deviation of each output."""
        location, scale = standard(targets.values)
        return self.restore(n_classes, {"location": location, "scale": scale})

    def constants(self) -> dict[str, np.ndarray]:
        """Mean and standard deviation."""
        return {"location": self.location_, "scale": self.scale_}

    def restore(self, n_classes: list[int], constants: dict[str, np.ndarray]) -> Self:
        """Inverse of `bind`, from the constants."""
        location, scale = constants["location"], constants["scale"]
        return self.bound(location_=location, scale_=scale, n_outputs_=len(location))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Standardised targets."""
        return (values - self.location_) / self.scale_

    def decode(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the units of the targets."""
        return scores * self.scale_ + self.location_

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
