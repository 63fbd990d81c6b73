"""Protocol of what a linear model predicts: losses, solver and errors, which a head provides."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harmonium.additive.losses import Loss
from harmonium.linear.scaling import Features
from harmonium.linear.solvers import LinearLoss, Solution
from harmonium.targets import Targets


class Outputs(Protocol):
    """The part of the outputs of a head that stacking and curves need."""

    def comparable(self, scores: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return factor and shift of each score that put scores of different models on one scale."""

    def smooth_loss(self, targets: Targets) -> Loss | None:
        """Return the loss of scores on that scale; None if curves cannot learn by one."""


class LinearTask(Protocol):
    """The part of a head that linear models need: they are fitted and compared without the rest of it."""

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of views that hold targets, which are no inputs."""

    @property
    def outputs_(self) -> Outputs:
        """Meaning of the scores."""

    @property
    def linear_losses(self) -> tuple[LinearLoss, ...]:
        """Losses to choose from, the usual one first."""

    @property
    def kernel_loss(self) -> LinearLoss:
        """Loss of models of Nystroem features."""

    @property
    def allows_kernel(self) -> bool:
        """Whether Nystroem features may take the place of the inputs."""

    def suits_linear_loss(self, loss: LinearLoss, n_rows: int, n_features: int, counted: bool) -> bool:
        """Return whether a loss is worth trying."""

    def solve_linear(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        """Return weights and bias of a linear model."""

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row."""
