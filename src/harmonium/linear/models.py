"""Linear models of classes, labels and numbers: the losses that they may have, and who solves for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harmonium.core.targets import Targets
from harmonium.linear.scaling import Features
from harmonium.linear.solvers import (
    LinearLoss,
    Solution,
    fit_label_svms,
    fit_logistic,
    fit_ridge,
    fit_ridge_classes,
    fit_svm,
)

# Rows times features times classes up to which logistic regression takes about a second here: a convention.
_FEW_TERMS = 5_000_000


@dataclass(frozen=True, eq=False)
class LinearModels:
    """Linear models that have the targets of a head; there are none where targets have no losses.

    Attributes
    ----------
    losses : tuple of LinearLoss
        Losses to choose from, the usual one first.
    allows_part : bool
        Whether the scores of the head may have a linear part: a skip connection from the inputs.
    allows_kernel : bool
        Whether Nystroem features may take the place of the inputs in that part.
    """

    allows_part: bool = False
    allows_kernel: bool = False
    losses: ClassVar[tuple[LinearLoss, ...]] = ()

    def suits(self, loss: LinearLoss, n_rows: int, n_features: int, counted: bool) -> bool:
        """Return whether a loss has something to add, and is solved in a moment.

        ``counted`` says that some features count something and have rows of length 1, so that they can have naive-Bayes
        weights.
        """
        return counted or loss.smoothing is None

    def solve(self, features: Features, targets: Targets, C: float, loss: LinearLoss | None = None) -> Solution:
        """Return weights and bias of the linear model of some features, by the usual loss or another.

        All targets are known. The penalty is half the squared norm of the weights, divided by C.
        """
        return self._solve(features, targets, C, self.losses[0] if loss is None else loss)

    def _solve(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ClassModels(LinearModels):
    """Classes, which are separated by a squared hinge or logistic loss, or by least squares.

    ``n_classes`` are the numbers of classes of all columns.
    """

    n_classes: Sequence[int] = ()
    losses = (*LinearLoss("hinge").with_nb_weights(), LinearLoss("logistic"))

    def suits(self, loss: LinearLoss, n_rows: int, n_features: int, counted: bool) -> bool:
        """Return whether there are words to weigh, and few terms of a logistic loss."""
        if loss.kind == "logistic":
            return n_rows * n_features * sum(self.n_classes) <= _FEW_TERMS
        return super().suits(loss, n_rows, n_features, counted)

    def _solve(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        found = []
        for column, number in enumerate(self.n_classes):
            rows = np.flatnonzero(targets.values[:, column] >= 0)
            known = features[rows], targets.values[rows, column], targets.loss_weight[rows]
            if loss.kind == "hinge":
                found.append(fit_svm(*known, number, C, loss.smoothing))
            else:
                solve = fit_logistic if loss.kind == "logistic" else fit_ridge_classes
                found.append(solve(*known, number, C))
        weights, bias = zip(*found, strict=True)
        return np.hstack(weights), np.concatenate(bias)


@dataclass(frozen=True, eq=False)
class LabelModels(LinearModels):
    """Several labels at once: rows with each label are separated from others by squared hinge or least squares."""

    losses = LinearLoss("hinge").with_nb_weights()

    def _solve(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        if loss.kind == "squares":
            return fit_ridge(features, 2 * targets.values - 1, targets.loss_weight, C)
        return fit_label_svms(features, targets.values, targets.loss_weight, C, loss.smoothing)


@dataclass(frozen=True, eq=False)
class NumberModels(LinearModels):
    """Numbers, which are fitted by least squares."""

    losses = LinearLoss("squares").with_nb_weights()

    def _solve(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        return fit_ridge(features, targets.values, targets.loss_weight, C, loss.smoothing)
