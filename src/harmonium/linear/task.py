"""Protocol of what a linear model predicts: losses, solver and errors, which a head provides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import numpy as np

from harmonium.additive.losses import Loss
from harmonium.core.targets import Targets
from harmonium.linear.models import LinearModels


class Outputs(Protocol):
    """The part of the outputs of a head that stacking and curves need."""

    def comparable(self, scores: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return factor and shift of each score that put scores of different models on one scale."""

    def smooth_loss(self, targets: Targets) -> Loss | None:
        """Return the loss of scores on that scale; None if curves cannot learn by one."""


class LinearTask(Protocol):
    """The part of a head that linear models need: they are fitted and compared without the rest of it."""

    @property
    def added_views(self) -> Collection[str]:
        """Names of views that hold targets, which are no inputs."""

    @property
    def outputs_(self) -> Outputs:
        """Meaning of the scores."""

    @property
    def linear(self) -> LinearModels:
        """Linear models of the targets."""

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row."""


def losses_of(outputs: Outputs, scores: np.ndarray, targets: Targets) -> np.ndarray | None:
    """Return the smooth loss of each row, of scores that are brought to its scale; None if there is no such loss.

    Numbers of errors hardly tell two models apart, as they count only rows whose class changes.
    """
    loss = outputs.smooth_loss(targets)
    if loss is None:
        return None
    factor, shift = outputs.comparable(scores, targets.as_rows())
    return loss.losses(scores * factor + shift)
