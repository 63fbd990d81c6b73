"""Several labels at once: a binary hinge loss for each."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.heads.base import Constants, constant
from harmonium.heads.linear import LinearHead, LossWeight
from harmonium.heads.outputs import LabelOutputs
from harmonium.hidden import HiddenLayer
from harmonium.kernels.dual import TOLERANCE, solve_binary_hinge
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.targets import Labels, Meaning, Targets
from harmonium.validation import Number


class MultiLabelHinge(LinearHead):
    """Several labels at once, by the hinge loss max(0, 1 - t s), t = ±1, of each.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the prediction loss, in units of what an average item costs to describe (see `LinearHead`). "auto"
        chooses it on held-out training rows.
    ridge : float, default=0.001
        Half of it times the squared norm of the head's weights is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move the head with all other parameters, or solve for it to the optimum after every epoch.
    positive_weight : float, default=1.0
        Weight of the loss of a label that is present; that of an absent one is 1. A larger weight finds more of the
        rare labels.

    Attributes
    ----------
    n_outputs_ : int
        Number of labels.
    outputs_ : LabelOutputs
        What a score says about its label.
    factors_ : ndarray of shape (2,)
        Factor and shift of the scores in the probabilities, shared by all labels, found on held-out rows; empty before.
    frequency_ : ndarray of shape (labels,)
        Share of the rows that have each label, among those for which it is known.

    Examples
    --------
    >>> meaning = Meaning("label", [np.arange(2)] * 2, one_column=False, n_columns=2)
    >>> head = MultiLabelHinge(C=1.0).bind(Labels(meaning, Targets(np.array([[0, 1], [1, 1.0]]), np.ones(2))))
    >>> losses, by_score = head.loss(np.array([[0.5, 2.0]]), np.array([[0.0, 1.0]]))
    >>> losses.tolist(), by_score.tolist()
    ([1.5], [[1.0, 0.0]])
    """

    kinds = ("label",)
    settings = {**LinearHead.settings, "positive_weight": Number(remedy="1.0 is usual")}
    frequency_: np.ndarray

    def __init__(
        self,
        C: LossWeight = "auto",
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        positive_weight: float = 1.0,
    ) -> None:
        super().__init__(C, ridge, solver)
        self.positive_weight = positive_weight

    def bind(self, labels: Labels) -> Self:
        """Return a copy that knows how frequent each label is."""
        values = labels.targets.values
        seen = ~np.isnan(values)
        return self._with_frequency(np.nansum(values, axis=0) / np.maximum(seen.sum(axis=0), 1))

    def _with_frequency(self, frequency: np.ndarray) -> Self:
        outputs = LabelOutputs(float(self.positive_weight))
        return self.with_fitted(outputs_=outputs, frequency_=frequency, n_outputs_=len(frequency))

    def constants(self) -> dict[str, np.ndarray]:
        """Return the frequencies and the factors."""
        return super().constants() | {"frequency": self.frequency_}

    def restore(self, meaning: Meaning, constants: Constants) -> Self:
        """Return a copy with the frequencies from the constants."""
        head = self._with_frequency(constant(constants, "frequency", len(meaning.classes)))
        return head._with_factors(constants["factors"])

    def initial_parameters(self, layer: HiddenLayer) -> Parameters:
        """Return parameters that give every row the labels that most rows have."""
        parameters = super().initial_parameters(layer)
        parameters[HEAD_BIAS] = np.where(self.frequency_ > 0.5, 1.0, -1.0).astype(np.float32)
        return parameters

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the violations of the margins, and their sub-gradient."""
        sign = 2 * targets - 1
        weight = np.where(np.isnan(targets), 0.0, np.where(targets > 0, self.positive_weight, 1.0))
        violation = np.where(weight > 0, np.maximum(1 - sign * scores, 0.0), 0.0)
        by_score = np.where(violation > 0, -sign * weight, 0.0).astype(scores.dtype)
        return (weight * violation).sum(axis=1, dtype=np.float64), by_score

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return 1 - the average precision with which a row's labels are ranked.

        It is 0 for rows without labels.
        """
        order = np.argsort(-scores, axis=1, kind="stable")
        hits = np.nan_to_num(np.take_along_axis(targets, order, axis=1))
        number = hits.sum(axis=1)
        precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
        return np.where(number > 0, 1 - (precision * hits).sum(axis=1) / np.maximum(number, 1), 0.0)

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Solve by dual coordinate descent, one row and label at a time.

        The method is that of Hsieh et al. (2008).
        """
        weights, dual = solve_binary_hinge(
            hidden_mean, targets.values, targets.weight, self.positive_weight, self.ridge, dual, tolerance
        )
        return {HEAD_WEIGHTS: weights[:-1], HEAD_BIAS: weights[-1]}, dual
