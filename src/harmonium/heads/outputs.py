"""Meaning of scores: from scores to decisions, predictions and probabilities, and what held-out rows teach about them.

A head has one of these as ``outputs_``. ``factors`` are what calibration found; an empty array stands for scores that
are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from harmonium.heads.calibration import fit_sigmoid, fit_temperature
from harmonium.targets import Targets

UNCALIBRATED = np.zeros(0)
# log-odds that differ by less are the same: rounding errors, which decisions would show and probabilities could not,
# though both must put rows in one order
_DECIMALS = 8


class Outputs:
    """Base of what scores can mean; scores of numbers, say, have no probabilities."""

    n_factors: int = 0

    def predict(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return class numbers, 0 and 1, or numbers, shape (rows, columns)."""
        raise NotImplementedError

    def decisions(self, scores: np.ndarray, factors: np.ndarray) -> Any:
        """Return what scikit-learn calls a decision function: a list by column of classes, or one array of labels."""
        raise NotImplementedError

    def probabilities(self, scores: np.ndarray, factors: np.ndarray) -> Any:
        """Return the probabilities of each column's classes, (rows, classes) each, or of all labels, (rows, labels)."""
        raise NotImplementedError

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return the factors that make the targets of held-out rows most probable."""
        return UNCALIBRATED


@dataclass(frozen=True)
class ClassOutputs(Outputs):
    """A score for each class, columns of classes side by side; the class of the largest score is predicted.

    Probabilities are softmax(a · scores), with one factor a for each column (temperature scaling, Guo et al. 2017).
    """

    n_classes: Sequence[int]

    @property
    def n_factors(self) -> int:  # type: ignore[override]
        """Number of factors: one for each column."""
        return len(self.n_classes)

    def columns(self) -> list[slice]:
        """Return which scores belong to each column."""
        ends = np.cumsum(self.n_classes)
        return [slice(int(end) - number, int(end)) for end, number in zip(ends, self.n_classes, strict=True)]

    def predict(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return the class of the largest score."""
        return np.stack([np.argmax(scores[:, column], axis=1) for column in self.columns()], axis=1)

    def decisions(self, scores: np.ndarray, factors: np.ndarray) -> list[np.ndarray]:
        """Return the scores; for two classes, by how much the second is ahead."""
        parts = [scores[:, column] for column in self.columns()]
        return [part[:, 1] - part[:, 0] if part.shape[1] == 2 else part for part in parts]

    def probabilities(self, scores: np.ndarray, factors: np.ndarray) -> list[np.ndarray]:
        """Return softmax(a · scores)."""
        used = factors if len(factors) else np.ones(len(self.n_classes))
        return [
            softmax(factor * scores[:, column].astype(np.float64), axis=1)
            for column, factor in zip(self.columns(), used, strict=True)
        ]

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return one factor for each column."""
        return np.array(
            [
                fit_temperature(scores[:, column], targets.values[:, number], targets.weight)
                for number, column in enumerate(self.columns())
            ]
        )


@dataclass(frozen=True)
class LabelOutputs(Outputs):
    """A score for each label, which is present or absent.

    Probabilities are σ(a s + b), with a and b shared by all labels (Platt scaling). ``positive_weight`` is the weight
    that a present label had while learning: calibration uses it too, so as not to undo what it did to the scores.
    """

    positive_weight: float = 1.0
    n_factors = 2

    def predict(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return 1 for labels that are more probable than not."""
        return (self.decisions(scores, factors) > 0).astype(np.int64)

    def decisions(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return scores that are positive where the label is more probable than not."""
        return self._log_odds(scores, factors) / (factors[0] if len(factors) else 1.0)

    def probabilities(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return σ(a s + b)."""
        return expit(self._log_odds(scores, factors))

    def _log_odds(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        factor, shift = factors if len(factors) else (1.0, 0.0)
        return np.round(factor * scores.astype(np.float64) + shift, _DECIMALS)

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return factor and shift."""
        return np.array(fit_sigmoid(scores, targets.values, targets.weight, self.positive_weight))


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Scores of standardised numbers, turned back into the units of the targets."""

    location: np.ndarray
    scale: np.ndarray

    def predict(self, scores: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return numbers in the units of the targets."""
        return scores * self.scale + self.location

    @classmethod
    def standard(cls, values: np.ndarray) -> NumberOutputs:
        """Return mean and standard deviation (1 for constants) of each column of targets, over what is known."""
        location, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        # a spread of a few dozen roundings of float64 (1e-14 of the size) is none
        return cls(location, np.where(scale > 1e-14 * np.abs(location), scale, 1.0))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return standardised targets."""
        return (values - self.location) / self.scale
