"""Skeleton of a head: numbers by least squares on scores that are linear in the hidden means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.heads import LinearHead
from harmonium.heads.outputs import NumberOutputs


class LeastSquares(LinearHead):
    """Head of numbers with the squared error as its loss.

    Parameters
    ----------
    C : float, default=1.6
        Weight of the prediction loss, in units of what an average item costs to describe.
    ridge : float, default=0.001
        Half of it times the squared norm of the head's weights is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move the head with all other parameters, or solve for it after every epoch.

    Examples
    --------
    >>> labels = Labels(TargetSpec("number", []), Targets(np.array([[1.0], [3.0]]), np.ones(2)))
    >>> head = LeastSquares(C=1.0).bind(labels)
    >>> head.loss(np.array([[0.5]]), np.array([[1.0]]))
    (array([0.125]), array([[-0.5]]))
    """

    # Which targets does it take? "class", "number" or "label".
    kinds = ("number",)
    # One of the classes of `harmonium.heads.outputs`, which predict and give probabilities.
    outputs_: NumberOutputs
    # Settings of your own go beside those of the base: {**LinearHead.settings, "epsilon": Number(...)}.

    # What do scores mean, and what is learned from the targets before training starts? Losses get standardised numbers.
    def outputs_of(self, labels: Labels) -> NumberOutputs:
        """Return mean and standard deviation of each output."""
        return NumberOutputs.standard(labels.targets.values)

    # The same from a file, which keeps the constants of the outputs. What a file claims is checked.
    def restored_outputs(self, spec: TargetSpec, constants: Mapping[str, np.ndarray]) -> NumberOutputs:
        """Return mean and standard deviation from the constants."""
        return NumberOutputs.restored(constants, spec.n_columns)

    # What do scores cost, and which way is down? Targets that are unknown (NaN) add nothing.
    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return half the squared distance, and the distance."""
        distance = np.where(np.isnan(targets), 0.0, scores - targets)
        return 0.5 * np.square(distance).sum(axis=1, dtype=np.float64), distance.astype(scores.dtype)

    # By what are epochs chosen on held-out rows? Often what users measure, not the loss.
    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the squared error, averaged over outputs, in units of the variance."""
        return np.square(np.where(np.isnan(targets), 0.0, scores - targets)).mean(axis=1, dtype=np.float64)

    # What is best for given hidden means? Needed for solver="alternate"; bias and weights have the same ridge.
    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = 1e-4
    ) -> tuple[dict[str, np.ndarray], Any]:
        """Solve the normal equations of each output, over rows whose target is known."""
        features = np.column_stack([hidden_mean, np.ones(len(hidden_mean))]).astype(np.float64)
        ridge = self.ridge * len(features) * np.eye(features.shape[1])
        columns = []
        for values in targets.values.T:
            known = ~np.isnan(values)
            weighted = features[known] * targets.loss_weight[known, None]
            columns.append(np.linalg.solve(weighted.T @ features[known] + ridge, weighted.T @ values[known]))
        solution = np.stack(columns, axis=1)
        return {"head.weights": solution[:-1], "head.bias": solution[-1]}, None

    # Not needed here: linear models of the inputs (`linear`); emphasis on rare classes (`emphasis`); `n_directions` and
    # `initial_parameters`, if scores share weights. The base classes say when each is asked.
