"""Classification: the Crammer-Singer hinge loss with costs."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import Anything
from harmonium.heads.class_weights import ClassWeights, are_uneven, with_class_weights
from harmonium.heads.linear import LINEAR_PART, USUAL_C, LinearHead, LinearPartSetting
from harmonium.heads.outputs import ClassOutputs
from harmonium.heads.outputs.constants import Constants
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE, solve_crammer_singer
from harmonium.kernels.optim.multiclass_hinge import add_multiclass_hinge
from harmonium.linear.models import ClassModels


class Hinge(LinearHead):
    """Classification by the hinge loss max_y' [ℓ(y, y') + s_y'] - s_y.

    It is the multi-class loss of Crammer & Singer (2001). With several columns of classes, the losses of the columns
    are added.

    Parameters
    ----------
    C : float, default=1.6
        Weight of the prediction loss, in units of what an average item costs to describe (see `LinearHead`).
    ridge : float, default=0.001
        Half of it times the squared norm of the head's weights is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move the head with all other parameters, or solve for it to the optimum after every epoch, as the paper does.
    cost : float or array of shape (classes, classes), default=1.0
        The cost ℓ of taking a row of the first class for one of the second; a number is the cost of any mistake.
    class_weight : "auto", "soft", "balanced", dict of class to weight or None, default="auto"
        Weight of the rows of a class in the loss; errors on held-out rows and probabilities do not depend on it.
        "balanced" makes it inversely proportional to their number, "soft" to the root of their number. "auto" and None
        weigh all rows alike; with "auto", where classes are uneven, the head is solved again after training if held-out
        rows say that this is better. Classes that a dict does not name weigh 1.
    linear_part : {"auto", "linear", False}, default="auto"
        Whether scores may have a linear part, a skip connection from the inputs, beside the topics: "auto" chooses its
        penalty and its weight on held-out rows, and needs some; columns of dense views may have curves besides, and
        where rows are few, Nystroem features of a Gaussian kernel may take the place of numbers. "linear" keeps it
        linear in the inputs; False leaves the topics alone, as the paper does, and so does ``solver="alternate"``.

    Attributes
    ----------
    n_outputs_ : int
        Number of classes, summed over columns.
    outputs_ : ClassOutputs
        Number of classes of each column, and the factor of its scores in probabilities, found on held-out rows.

    References
    ----------
    Crammer & Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines; Chen, Zhu,
    Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.1.

    Examples
    --------
    >>> head = Hinge(C=1.0).restored(TargetSpec("class", [np.arange(3)]), {"factors": np.zeros(0)})
    >>> losses, by_score = head.loss(np.array([[2.0, 0.5, 0.0]]), np.array([[0]]))
    >>> losses.tolist(), by_score.tolist()
    ([0.0], [[0.0, 0.0, 0.0]])
    >>> head.loss(np.array([[0.0, 0.5, 0.0]]), np.array([[0]]))[1].tolist()
    [[-1.0, 1.0, 0.0]]
    """

    kinds = ("class",)
    # costs are checked against the number of classes
    settings = {**LinearHead.settings, "linear_part": LINEAR_PART, "cost": Anything(), "class_weight": ClassWeights()}
    outputs_: ClassOutputs
    _costs: list[np.ndarray]

    def __init__(
        self,
        C: float = USUAL_C,
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        cost: Any = 1.0,
        class_weight: Any = "auto",
        linear_part: LinearPartSetting = "auto",
    ) -> None:
        super().__init__(C, ridge, solver)
        self.linear_part = linear_part
        self.cost = cost
        self.class_weight = class_weight

    def outputs_of(self, labels: Labels) -> ClassOutputs:
        """Return the number of classes."""
        return ClassOutputs(labels.meaning.n_classes)

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> ClassOutputs:
        """Return the number of classes."""
        return ClassOutputs(spec.n_classes)

    def _with_outputs(self, outputs: Any) -> Self:
        return self.with_fitted(outputs_=outputs, _costs=[_cost_matrix(self.cost, n) for n in outputs.n_classes])

    def targets(self, labels: Labels) -> Targets:
        """Return targets with an emphasis by the weights of their classes."""
        return with_class_weights(labels, self.class_weight)

    def may_refit(self, targets: Targets) -> bool:
        """Return whether ``class_weight`` is "auto" and classes are uneven.

        One class has five times as many rows as another then.
        """
        is_auto = isinstance(self.class_weight, str) and self.class_weight == "auto"
        return is_auto and not self.is_solved and are_uneven(targets)

    @property
    def linear(self) -> ClassModels:
        """Linear models of classes."""
        return ClassModels(*self._allowed, self.outputs_.n_classes)

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest violation of the margin, and its sub-gradient.

        The sub-gradient is 1 at the class that violates the margin most and -1 at the true class.
        """
        losses = np.zeros(len(scores))
        by_score = np.zeros_like(scores)
        for column, outputs, cost in self._columns():
            add_multiclass_hinge(scores, targets, column, outputs.start, cost, losses, by_score)
        return losses, by_score

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the cost of taking the class of the largest score."""
        errors = np.zeros(len(scores))
        for column, outputs, cost in self._columns():
            rows = np.flatnonzero(targets[:, column] >= 0)
            errors[rows] += cost[targets[rows, column], np.argmax(scores[rows, outputs], axis=1)]
        return errors

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Solve by dual coordinate descent over rows, all classes of a row at once.

        The method is that of Keerthi et al. (2008).
        """
        weights = np.zeros((hidden_mean.shape[1] + 1, self.n_outputs_))
        dual = [None] * len(self._costs) if dual is None else dual
        for column, outputs, cost in self._columns():
            solution, dual[column] = solve_crammer_singer(
                hidden_mean, targets.values[:, column], targets.loss_weight, cost, self.ridge, dual[column], tolerance
            )
            weights[:, outputs] = solution
        return {HEAD_WEIGHTS: weights[:-1], HEAD_BIAS: weights[-1]}, dual

    def _columns(self) -> list[tuple[int, slice, np.ndarray]]:
        """Return the number of each column of the targets, its outputs and its costs."""
        outputs = self.outputs_.columns()
        return [(column, *both) for column, both in enumerate(zip(outputs, self._costs, strict=True))]


def _cost_matrix(cost: Any, n_classes: int) -> np.ndarray:
    try:
        values = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"cost must be a number or a matrix of numbers, true class by predicted class; got {str(cost)[:60]!r}; 1.0 "
            "is usual."
        ) from None
    if values.ndim == 0:
        values = np.where(np.eye(n_classes), 0.0, float(values))
    if values.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost must be a number or a matrix of {n_classes} x {n_classes}, true class by predicted class; got shape "
            f"{values.shape}; order its rows as classes_."
        )
    wrong = ~np.isfinite(values) | (values < 0) | ((values != 0) & np.eye(n_classes, dtype=bool))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"cost must hold finite numbers >= 0, with 0 on the diagonal; got {values[row, column]:g} in row {row}, "
            f"column {column}; correct it."
        )
    if not values.any():
        raise ValueError("cost must be above 0 for some mistake; got 0 for all of them; 1.0 is usual.")
    return values
