"""Several labels at once: a binary hinge loss for each."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import Choice, Number
from harmonium.heads.linear import LINEAR_PART, USUAL_C, LinearHead, LinearPartSetting
from harmonium.heads.outputs import LabelOutputs
from harmonium.heads.outputs.constants import Constants
from harmonium.heads.outputs.thresholds import CUTS, Measure
from harmonium.hidden import HiddenLayer
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE, solve_binary_hinge
from harmonium.linear.models import LabelModels


class MultiLabelHinge(LinearHead):
    """Several labels at once, by the hinge loss max(0, 1 - t s), t = ±1, of each.

    Parameters
    ----------
    C : float, default=1.6
        Weight of the prediction loss, in units of what an average item costs to describe (see `LinearHead`).
    ridge : float, default=0.001
        Half of it times the squared norm of the head's weights is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move the head with all other parameters, or solve for it to the optimum after every epoch.
    positive_weight : float, default=3.0
        Weight of the loss of a label that is present; that of an absent one is 1. A larger weight ranks rare labels
        better. Of 1, 3, 10 and 30, 3 ranks best on held-out training rows of enron, medical and Corel5k.
    measure : {"example_f1", "micro_f1", "macro_f1", "accuracy"}, default="example_f1"
        What predicted labels should be good at; where probabilities are cut is chosen by it on held-out rows. The F1 of
        a row's labels, averaged over rows, and where that is not clearly worse, as many labels as rows have; the F1 of
        all rows and labels together; that of a label, averaged over labels, each of which then has a cut of its own;
        or the share of right answers, for which labels that are more probable than not are predicted. Without held-out
        rows labels of positive scores are predicted.
    linear_part : {"auto", "linear", False}, default="auto"
        Whether scores may have a linear part, a skip connection from the inputs, beside the topics: "auto" chooses its
        penalty and its weight on held-out rows, and needs some; columns of dense views may have curves besides, and
        where rows are few, Nystroem features of a Gaussian kernel may take the place of numbers. "linear" keeps it
        linear in the inputs; False leaves the topics alone, as the paper does, and so does ``solver="alternate"``.

    Attributes
    ----------
    n_outputs_ : int
        Number of labels.
    outputs_ : LabelOutputs
        What a score says about its label: factor and shift of its log-odds, and the cut above which it is predicted,
        found on held-out rows.
    frequency_ : ndarray of shape (labels,)
        Share of the rows that have each label, among those for which it is known.

    Notes
    -----
    Labels that no training row has are never predicted and come last in every ranking; those that all rows have are
    always predicted and come first. Their probabilities are their smoothed shares of the training rows.

    Examples
    --------
    >>> spec = TargetSpec("label", [np.arange(2)] * 2, one_column=False, n_columns=2)
    >>> head = MultiLabelHinge(C=1.0).bind(Labels(spec, Targets(np.array([[0, 1], [1, 1.0]]), np.ones(2))))
    >>> losses, by_score = head.loss(np.array([[0.5, 2.0]]), np.array([[0.0, 1.0]]))
    >>> losses.tolist(), by_score.tolist()
    ([1.5], [[1.0, 0.0]])
    >>> head.outputs_.predict(np.array([[0.5, -2.0]])).tolist()  # all rows have the second label
    [[1, 1]]
    """

    kinds = ("label",)
    settings = {
        **LinearHead.settings,
        "linear_part": LINEAR_PART,
        "positive_weight": Number(remedy="3.0 is usual"),
        "measure": Choice(tuple(CUTS), remedy="'example_f1' is usual"),
    }
    outputs_: LabelOutputs

    def __init__(
        self,
        C: float = USUAL_C,
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        positive_weight: float = 3.0,
        measure: Measure = "example_f1",
        linear_part: LinearPartSetting = "auto",
    ) -> None:
        super().__init__(C, ridge, solver)
        self.linear_part = linear_part
        self.positive_weight = positive_weight
        self.measure = measure

    def outputs_of(self, labels: Labels) -> LabelOutputs:
        """Return how frequent each label is."""
        return LabelOutputs.counted(labels.targets.blocks(), self.measure)

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> LabelOutputs:
        """Return the frequencies from the constants."""
        return LabelOutputs.restored(constants, len(spec.classes), self.measure)

    @property
    def linear(self) -> LabelModels:
        """Linear models of labels."""
        return LabelModels(*self._allowed)

    @property
    def frequency_(self) -> np.ndarray:
        """Share of the rows that have each label, among those for which it is known."""
        return self.outputs_.frequency

    def initial_parameters(self, layer: HiddenLayer, rng: np.random.Generator | None = None) -> Parameters:
        """Return parameters that give every row the labels that most rows have."""
        parameters = super().initial_parameters(layer, rng)
        parameters[HEAD_BIAS] += np.where(self.frequency_ > 0.5, 1.0, -1.0).astype(np.float32)
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

        It is 0 for rows without labels. Labels that no training row has, or all have, do not count.
        """
        scores, targets = scores[:, self.outputs_.varied], targets[:, self.outputs_.varied]
        # unknown labels come last, where they lower no precision
        order = np.argsort(np.where(np.isnan(targets), np.inf, -scores), axis=1, kind="stable")
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
            hidden_mean, targets.values, targets.loss_weight, self.positive_weight, self.ridge, dual, tolerance
        )
        return {HEAD_WEIGHTS: weights[:-1], HEAD_BIAS: weights[-1]}, dual
