"""Rows that `partial_fit` gathers until they are enough to calibrate probabilities on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.targets import Targets

# Labelled rows that a calibration needs. A row of log-odds u tells the logarithm of their factor with an information of
# p (1 - p) u², which is .44 at most and about a quarter for a usual mixture of easy and hard rows: 100 rows tell the
# factor to a fifth, one standard error. A single row would make it as small or as large as it is allowed to be.
ENOUGH = 100


@dataclass(frozen=True, eq=False)
class WaitingRows:
    """Scores of rows, from before the model learned from them, and their targets.

    Attributes
    ----------
    parts : tuple of (ndarray, Targets)
        Scores of shape (rows, outputs) and targets, call by call; only of rows that count.
    """

    parts: tuple[tuple[np.ndarray, Targets], ...] = ()

    def and_more(self, scores: np.ndarray, targets: Targets) -> WaitingRows:
        """Return these rows and those of one more call."""
        counting = targets.counting
        return WaitingRows((*self.parts, (scores[counting], targets.take(counting))))

    @property
    def are_enough(self) -> bool:
        """Whether they tell what scores are worth."""
        return sum(len(scores) for scores, _ in self.parts) >= ENOUGH

    @property
    def scores(self) -> np.ndarray:
        """Scores of all rows."""
        return np.concatenate([scores for scores, _ in self.parts])

    @property
    def targets(self) -> Targets:
        """Targets of all rows."""
        return Targets.joined([targets for _, targets in self.parts])


NO_ROWS = WaitingRows()
