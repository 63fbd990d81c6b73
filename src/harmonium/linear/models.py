"""Linear models of classes, labels and numbers: the losses that they may have, and who solves for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from harmonium.core.targets import Targets
from harmonium.linear.scaling import Features
from harmonium.linear.solvers import (
    LinearLoss,
    Path,
    Solution,
    fit_label_svms,
    fit_logistic,
    fit_svm,
    ridge_path,
    ridge_path_of_classes,
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
        return self.path(features, targets, self.losses[0] if loss is None else loss)(C)

    def path(self, features: Features, targets: Targets, loss: LinearLoss) -> Path:
        """Return the linear model of some features as a function of C."""
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

    def path(self, features: Features, targets: Targets, loss: LinearLoss) -> Path:
        """Return the scores of all classes of all columns as a function of C."""
        paths = []
        for column, number in enumerate(self.n_classes):
            rows = np.flatnonzero(targets.values[:, column] >= 0)
            known = features[rows], targets.values[rows, column], targets.loss_weight[rows]
            if loss.kind == "squares":
                paths.append(ridge_path_of_classes(*known, number))
            elif loss.kind == "logistic":
                paths.append(partial(fit_logistic, *known, number))
            else:
                paths.append(partial(fit_svm, *known, number, smoothing=loss.smoothing))

        def solve(C: float) -> Solution:
            weights, bias = zip(*(path(C) for path in paths), strict=True)
            return np.hstack(weights), np.concatenate(bias)

        return solve


@dataclass(frozen=True, eq=False)
class LabelModels(LinearModels):
    """Several labels at once: rows with each label are separated from others by squared hinge or least squares."""

    losses = LinearLoss("hinge").with_nb_weights()

    def path(self, features: Features, targets: Targets, loss: LinearLoss) -> Path:
        """Return the scores of all labels as a function of C."""
        if loss.kind == "squares":
            return ridge_path(features, 2 * targets.values - 1, targets.loss_weight)
        return partial(fit_label_svms, features, targets.values, targets.loss_weight, smoothing=loss.smoothing)


@dataclass(frozen=True, eq=False)
class NumberModels(LinearModels):
    """Numbers, which are fitted by least squares."""

    losses = LinearLoss("squares").with_nb_weights()

    def path(self, features: Features, targets: Targets, loss: LinearLoss) -> Path:
        """Return the numbers as a function of C."""
        return ridge_path(features, targets.values, targets.loss_weight, loss.smoothing)
