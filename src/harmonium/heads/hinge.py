"""Classification: the Crammer-Singer hinge loss with costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from harmonium.heads.base import Constants
from harmonium.heads.linear import LINEAR_PART, USUAL_C, LinearHead, LinearPartSetting
from harmonium.heads.outputs import ClassOutputs
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE, solve_crammer_singer
from harmonium.kernels.optim.multiclass_hinge import add_multiclass_hinge
from harmonium.linear.scaling import Features
from harmonium.linear.solvers import LinearLoss, Solution, fit_logistic, fit_ridge_classes, fit_svm
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.targets import Labels, Targets, TargetSpec
from harmonium.validation import Anything, Setting, check_real, shown

# Power of a class's number of rows to which its weight is in inverse proportion.
_EXPONENTS = {"soft": 0.5, "balanced": 1.0}
# Classes are uneven if the largest has this many times as many rows as the smallest: a convention.
_UNEVEN = 5.0
# Rows times features times classes up to which logistic regression takes about a second here: a convention.
_FEW_TERMS = 5_000_000


class ClassWeights(Setting):
    """A setting that holds weights of classes: None, "auto", "soft", "balanced", or a dict."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, and weights below 0."""
        if value is None or (isinstance(value, str) and value in ("auto", *_EXPONENTS)):
            return
        if not isinstance(value, dict):
            raise TypeError(
                f"{owner} needs {name} None, 'auto', 'soft', 'balanced' or a dict of class to weight; got "
                f"{shown(value)}; 'auto' is usual."
            )
        for label, weight in value.items():
            check_real(owner, f"{name}[{label!r}]", weight, inclusive=True, remedy="1 is usual")


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
        "balanced" makes it inversely proportional to their number, "soft" to the root of their number; "auto" tries
        "soft" on held-out rows if classes are uneven. Classes that a dict does not name weigh 1.
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
        Number of classes of each column.
    factors_ : ndarray of shape (columns,)
        Factor of the scores in the probabilities of each column, found on held-out rows; empty before.

    References
    ----------
    Crammer & Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines; Chen, Zhu,
    Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.1.

    Examples
    --------
    >>> head = Hinge(C=1.0).restore(TargetSpec("class", [np.arange(3)]), {"factors": np.zeros(0)})
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

    def bind(self, labels: Labels) -> Self:
        """Return a copy that knows the number of classes; check the costs against it."""
        return self.restore(labels.meaning, {"factors": self.factors_})

    def restore(self, meaning: TargetSpec, constants: Constants) -> Self:
        """Return a copy with the classes of ``meaning``; costs follow from the settings."""
        numbers = meaning.n_classes
        costs = [_cost_matrix(self.cost, number) for number in numbers]
        head = self.with_fitted(outputs_=ClassOutputs(numbers), n_outputs_=int(sum(numbers)), _costs=costs)
        return head._with_factors(constants["factors"])

    def targets(self, labels: Labels) -> Targets:
        """Return targets with an emphasis by the weights of their classes.

        With several columns, by the weights of the classes of all columns.
        """
        targets, classes = labels.targets, labels.meaning.classes
        if self.class_weight is None or self.class_weight == "auto":
            return targets
        if not isinstance(self.class_weight, dict):
            return self._emphasised(targets, _EXPONENTS[self.class_weight])
        unknown = [label for label in self.class_weight if not any(label in c.tolist() for c in classes)]
        if unknown:
            raise ValueError(
                f"class_weight may only name classes of y, {', '.join(map(str, classes[0][:10]))}; got "
                f"{unknown[0]!r}; correct it or leave it out."
            )
        weights = [np.array([self.class_weight.get(label, 1.0) for label in known.tolist()]) for known in classes]
        return _with_weights(targets, weights)

    def may_soften(self, targets: Targets) -> bool:
        """Return whether ``class_weight`` is "auto" and classes are uneven."""
        return isinstance(self.class_weight, str) and self.class_weight == "auto" and self.is_uneven(targets)

    def is_uneven(self, targets: Targets) -> bool:
        """Return whether the largest class has five times as many rows as the smallest."""
        sizes = [np.bincount(codes[codes >= 0]) for codes in targets.values[targets.counting].T]
        return any(counts.max() >= _UNEVEN * counts[counts > 0].min() for counts in sizes if counts.any())

    def softened(self, targets: Targets) -> Targets:
        """Return targets whose classes weigh as the inverse root of their number of rows."""
        return self._emphasised(targets, _EXPONENTS["soft"])

    def _emphasised(self, targets: Targets, exponent: float) -> Targets:
        """Return targets whose classes weigh as an inverse power of their rows, 1 on average over rows."""
        weights = []
        for column, number in enumerate(self.outputs_.n_classes):
            codes = targets.values[:, column]
            seen = codes >= 0
            # in partial_fit, a class may have no rows yet: its weight stays 1
            rows = np.bincount(codes[seen], minlength=number)
            by_class = np.maximum(rows, 1.0) ** -exponent
            mean = by_class @ rows / max(rows.sum(), 1)
            weights.append(np.where(rows > 0, by_class / (mean or 1.0), 1.0))
        return _with_weights(targets, weights)

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest violation of the margin, and its sub-gradient.

        The sub-gradient is 1 at the class that violates the margin most and -1 at the true class.
        """
        losses = np.zeros(len(scores))
        by_score = np.zeros_like(scores)
        for column, outputs, cost in self._columns():
            add_multiclass_hinge(scores, targets, column, outputs.start, cost, losses, by_score)
        return losses, by_score

    linear_losses = (*LinearLoss("hinge").with_nb_weights(), LinearLoss("logistic"))

    def suits_linear_loss(self, loss: LinearLoss, n_rows: int, n_features: int, counted: bool) -> bool:
        """Return whether there are words to weigh, and few terms of a logistic loss."""
        if loss.kind == "logistic":
            return n_rows * n_features * self.n_outputs_ <= _FEW_TERMS
        return super().suits_linear_loss(loss, n_rows, n_features, counted)

    def solve_linear(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        """Separate classes by a squared hinge or logistic loss, or by least squares."""
        weights, bias = np.zeros((features.shape[1], self.n_outputs_)), np.zeros(self.n_outputs_)
        for column, outputs in enumerate(self.outputs_.columns()):
            rows = np.flatnonzero(targets.values[:, column] >= 0)
            part, classes, weight = features[rows], targets.values[rows, column], targets.loss_weight[rows]
            number = self.outputs_.n_classes[column]
            if loss.kind == "hinge":
                solution = fit_svm(part, classes, weight, number, C, loss.smoothing)
            else:
                solve = fit_logistic if loss.kind == "logistic" else fit_ridge_classes
                solution = solve(part, classes, weight, number, C)
            weights[:, outputs], bias[outputs] = solution
        return weights, bias

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


def _with_weights(targets: Targets, weights: list[np.ndarray]) -> Targets:
    """Return targets with the weights of their classes as emphasis."""
    emphasis = np.ones(len(targets.weight))
    for codes, by_class in zip(targets.values.T, weights, strict=True):
        seen = codes >= 0
        emphasis[seen] *= by_class[codes[seen]]
    return replace(targets, emphasis=emphasis)


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
