"""Regression: the ε-insensitive loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import Choice, Number
from harmonium.heads.linear import LINEAR_PART, LinearHead, LinearPartSetting
from harmonium.heads.outputs import NumberOutputs
from harmonium.heads.outputs.constants import Constants
from harmonium.heads.outputs.log_scale import LogScale, log_scales
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE, solve_epsilon_insensitive
from harmonium.linear.models import NumberModels

# Weight of the loss; docs/how_it_works/defaults.md has the errors of others.
_USUAL_C = 0.2


class EpsilonInsensitive(LinearHead):
    """Regression by the ε-insensitive loss ``max(0, |y - s| - ε)``.

    It is the loss of support vector regression; with several outputs, their losses are added. Targets are standardised
    while learning, so that neither C nor ε depends on their units.

    Parameters
    ----------
    C : float, default=0.2
        Weight of the prediction loss, in units of what an average item costs to describe (see `LinearHead`).
    ridge : float, default=0.001
        Half of it times the squared norm of the head's weights is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move the head with all other parameters, or solve for it to the optimum after every epoch, as the paper does.
    epsilon : float, default=0.1
        Errors of up to ``epsilon`` standard deviations of the target cost nothing. A convention (it is the default of
        scikit-learn's ``SVR``, there in units of the target).
    linear_part : {"auto", "linear", False}, default="auto"
        Whether scores may have a linear part, a skip connection from the inputs, beside the topics: "auto" chooses its
        penalty and its weight on held-out rows, and needs some; columns of dense views may have curves besides, and
        where rows are few, Nystroem features of a Gaussian kernel may take the place of numbers. "linear" keeps it
        linear in the inputs; False leaves the topics alone, as the paper does, and so does ``solver="alternate"``.
    target_scale : {"auto", "linear", "log"}, default="auto"
        Scale that numbers are learned on. "auto" tries logarithms of skewed targets that are never negative, log y and
        log(y + median), and takes them if the squared errors of a linear model are clearly smaller for held-out rows on
        the scale of y. "log" is log y, for numbers above 0. Predictions are expected values on the scale of y: Duan's
        smearing factor, of held-out rows, is in them (without such rows they are medians). Scores, `coef_` and
        `explain` are in units of the logarithm then.

    Attributes
    ----------
    n_outputs_ : int
        Number of numbers to predict.
    outputs_ : NumberOutputs
        Mean and standard deviation of each, over the rows where it is known; and scores and targets of held-out rows,
        of which intervals are made.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.2.

    Examples
    --------
    >>> labels = Labels(TargetSpec("number", []), Targets(np.array([[1.0], [3.0]]), np.ones(2)))
    >>> head = EpsilonInsensitive(C=1.0).bind(labels)
    >>> head.targets(labels).values.tolist()
    [[-1.0], [1.0]]
    >>> head.loss(np.array([[0.5]]), np.array([[1.0]]))
    (array([0.4]), array([[-1.]]))
    """

    kinds = ("number",)
    settings = {
        **LinearHead.settings,
        "linear_part": LINEAR_PART,
        "epsilon": Number(inclusive=True, remedy="0.1 is usual"),
        "target_scale": Choice(("auto", "linear", "log"), remedy="'auto' is usual"),
    }
    outputs_: NumberOutputs

    def __init__(
        self,
        C: float = _USUAL_C,
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        epsilon: float = 0.1,
        linear_part: LinearPartSetting = "auto",
        target_scale: Literal["auto", "linear", "log"] = "auto",
    ) -> None:
        super().__init__(C, ridge, solver)
        self.linear_part = linear_part
        self.epsilon = epsilon
        self.target_scale = target_scale

    def outputs_of(self, labels: Labels) -> NumberOutputs:
        """Return mean, standard deviation and ends of each output."""
        values = labels.targets.values
        if self.target_scale != "log":
            return NumberOutputs.standard(values)
        every = np.ones(values.shape[1], dtype=bool)
        return NumberOutputs.standard(values, LogScale.of(values, np.zeros(len(every)), every))

    def other_scales(self, targets: Targets) -> list[Self]:
        """Return heads of logarithms, for skewed targets whose scale is left open."""
        if self.target_scale != "auto" or self.outputs_.logs is not None:
            return []
        values = self.outputs_.decoded(targets).values
        # values that were scaled and scaled back are no longer the very ends of a scale
        scales = [replace(NumberOutputs.standard(values, logs), ends=self.outputs_.ends) for logs in log_scales(values)]
        return [self.updated(outputs_=outputs) for outputs in scales]

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> NumberOutputs:
        """Return mean and standard deviation from the constants."""
        return NumberOutputs.restored(constants, spec.n_columns)

    @property
    def linear(self) -> NumberModels:
        """Linear models of numbers."""
        return NumberModels(*self._allowed)

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far scores are from the targets beyond ε, and the sign of that."""
        distance = np.where(np.isnan(targets), 0.0, scores - targets)
        beyond = np.maximum(np.abs(distance) - self.epsilon, 0.0)
        return beyond.sum(axis=1, dtype=np.float64), (np.sign(distance) * (beyond > 0)).astype(scores.dtype)

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the squared error, averaged over outputs, in units of the variance.

        Its mean over the rows that the head was bound to is 1 - R².
        """
        return np.square(np.where(np.isnan(targets), 0.0, scores - targets)).mean(axis=1, dtype=np.float64)

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Solve by dual coordinate descent, one row and output at a time.

        The method is that of Ho & Lin (2012).
        """
        weights, dual = solve_epsilon_insensitive(
            hidden_mean, targets.values, targets.loss_weight, self.epsilon, self.ridge, dual, tolerance
        )
        return {HEAD_WEIGHTS: weights[:-1], HEAD_BIAS: weights[-1]}, dual
