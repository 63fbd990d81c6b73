"""Scores of levels in order, such as ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from harmonium.core.targets import Targets
from harmonium.heads.outputs.calibration import smoothed_classes
from harmonium.heads.outputs.outputs import Outputs


@dataclass(frozen=True, eq=False)
class LevelOutputs(Outputs):
    """Scores of being at or above each level but the lowest.

    A level is reached where its score, and those of all levels below it, are positive. P(level ≥ j) = σ(a s_j), with
    one factor a. ``expects`` says whether predictions are expected values of levels rather than class numbers, and
    ``frequency`` is the share of training rows at or above each level but the lowest.
    """

    levels: np.ndarray
    expects: bool
    frequency: np.ndarray

    @classmethod
    def counted(cls, levels: np.ndarray, expects: bool, values: np.ndarray) -> LevelOutputs:
        """Return levels with their frequencies among the values of training rows."""
        codes = _codes(levels, values)
        codes = codes[codes >= 0]
        return cls(levels, expects, (codes[:, None] >= np.arange(1, len(levels))).mean(axis=0))

    @property
    def n_scores(self) -> int:
        """Number of levels but the lowest."""
        return len(self.levels) - 1

    @property
    def n_factors(self) -> int:
        """One factor, of all scores."""
        return 1

    def constants(self) -> dict[str, np.ndarray]:
        """Return levels, frequencies and factors."""
        return super().constants() | {"levels": self.levels, "frequency": self.frequency}

    def encoded(self, targets: Targets) -> Targets:
        """Return numbers of the levels, -1 where they are unknown."""
        return Targets(_codes(self.levels, targets.values)[:, None], targets.weight)

    def intervals(self, scores: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Refuse intervals, as levels are no numbers that one is off by."""
        raise ValueError(
            "Intervals need a head that predicts numbers by how far it is off; got Ordinal; fit with "
            "EpsilonInsensitive()."
        )

    def level_numbers(self, scores: np.ndarray) -> np.ndarray:
        """Number of the level that is reached."""
        return (_falling(scores) > 0).sum(axis=1)

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Numbers of classes, or expected values."""
        if self.expects:
            return (self.probabilities(scores)[0] @ self.levels)[:, None]
        return self.levels[self.level_numbers(scores)].astype(np.int64)[:, None]

    def decisions(self, scores: np.ndarray) -> list[np.ndarray]:
        """Sums of the scores up to each class, the largest at the level that is reached; of two classes the score."""
        if len(self.levels) == 2:
            return [scores[:, 0] if self.levels[0] == 0 else -scores[:, 0]]
        sums = np.hstack([np.zeros((len(scores), 1)), np.cumsum(_falling(scores), axis=1)])
        return [self._by_class(sums)]

    def probabilities(self, scores: np.ndarray) -> list[np.ndarray]:
        """Differences of P(level ≥ j); of classes in their own order."""
        shares = _level_shares(scores, float(self.factors[0]) if len(self.factors) else 1.0)
        return [shares if self.expects else self._by_class(shares)]

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """The factor that makes held-out levels most probable."""
        rows = np.flatnonzero(targets.counting)
        if not len(rows):
            return np.ones(1)
        aims = smoothed_classes(targets.values[rows, 0], targets.weight[rows], len(self.levels))

        def loss(log_factor: float) -> float:
            likelihood = aims * np.log(np.maximum(_level_shares(scores[rows], np.exp(log_factor)), 1e-12))
            return -float(targets.weight[rows] @ likelihood.sum(axis=1))

        return np.array([np.exp(minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x)])

    def _by_class(self, by_level: np.ndarray) -> np.ndarray:
        result = np.empty_like(by_level)
        result[:, self.levels.astype(np.int64)] = by_level
        return result


def _falling(scores: np.ndarray) -> np.ndarray:
    """Scores that do not rise from one level to the next: what is below a level is below those above it."""
    return np.minimum.accumulate(scores, axis=1)


def _level_shares(scores: np.ndarray, factor: float) -> np.ndarray:
    """Probability of each level."""
    at_or_above = expit(factor * _falling(scores.astype(np.float64)))
    ends = np.ones((len(scores), 1)), np.zeros((len(scores), 1))
    return -np.diff(np.hstack([ends[0], at_or_above, ends[1]]), axis=1)


def _codes(levels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return numbers of the levels of a column of values, -1 where they are unknown."""
    column = values[:, 0]
    matches = column[:, None] == levels
    unknown = column < 0 if np.issubdtype(values.dtype, np.integer) else np.isnan(column)
    strange = ~unknown & ~matches.any(axis=1)
    if strange.any():
        raise ValueError(
            f"y may only hold the levels that training began with, {', '.join(f'{level:g}' for level in levels)}; "
            f"got {column[strange][0]:g}; fit anew."
        )
    return np.where(unknown, -1, np.argmax(matches, axis=1))
