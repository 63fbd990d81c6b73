"""Binary sources behind factors: what items have or lack, found by mean-field EM from independent components.

Independent components are orthogonal combinations of the factors, told apart by two cumulants. That is a rough start
where sources are many for the number of rows. Whoever knows that sources are 0 or 1 can do better: the factors of a row
are a sum of effects of the sources that it has, with normal noise. Posteriors of the sources are approximated by
independent ones, which explain each other away (Ghahramani 1995; Attias 1999).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from harmonium.kernels.runtime.jit import jit

# Rounds of EM at most, and the mean change of a probability at which they end: conventions.
_ROUNDS, _TOLERANCE = 300, 1e-3
# By how much of what EM says effects change in a round; up to 2 it converges to the same effects, and sooner
# (Salakhutdinov & Roweis 2003): a convention.
_STEP = 1.7
# Sweeps over the sources of rows that EM has not seen: a convention.
_SWEEPS = 5
# Changes of a probability that are not worth telling other sources of: a convention, which saves time.
_NEGLIGIBLE = 1e-4
# Smallest share of rows that have a source, or lack it, and smallest variance of noise: conventions.
_SMALLEST_SHARE, _SMALLEST_NOISE = 1e-3, 0.02


def rarer_side(sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of rows on the rarer side of each two-valued source, and on which side it is (1 or -1).

    The skewness of a source that a share p of the rows has is (1 - 2p) / √(p (1 - p)), whatever normal noise is added
    to its variance of 1.

    Examples
    --------
    >>> has = np.array([[1.0], [0.0], [0.0], [0.0], [0.0]])
    >>> share, side = rarer_side((has - 0.2) / 0.4)
    >>> float(share[0].round(6)), int(side[0])
    (0.2, 1)
    """
    skewness = np.power(sources - sources.mean(axis=0), 3).mean(axis=0)
    rarity = np.abs(skewness) / np.sqrt(4 + np.square(skewness))
    return (1 - rarity) / 2, np.where(skewness < 0, -1, 1)


class BinarySources:
    """Sources of 0 or 1 whose effects add up to factors.

    Parameters
    ----------
    scores : ndarray of shape (rows, factors)
        Factors, of mean 0 and variance 1 plus noise.
    rotation : ndarray of shape (factors, factors)
        Rotation to independent components, from which the search begins.

    Attributes
    ----------
    share : ndarray of shape (factors,)
        Share of the rows that have a source.
    effects : ndarray of shape (factors, factors)
        What having a source, by row, adds to each factor.
    noise : ndarray of shape (factors,)
        Variance of each factor given the sources.

    Examples
    --------
    >>> from harmonium.kernels.rotation import ica_rotation
    >>> rng = np.random.default_rng(0)
    >>> has = (rng.random((2000, 2)) < 0.3) * 1.0
    >>> scores = (has - 0.3) / 0.458 @ np.array([[0.8, -0.6], [0.6, 0.8]]) + rng.normal(0, 0.1, (2000, 2))
    >>> found = BinarySources(scores, ica_rotation(scores, rng))
    >>> np.abs(np.corrcoef(found.presence(scores), has, rowvar=False)[:2, 2:]).max(axis=0).round(1).tolist()
    [1.0, 1.0]
    """

    def __init__(self, scores: np.ndarray, rotation: np.ndarray) -> None:
        sources = scores @ rotation.T
        share, side = rarer_side(sources)
        self.share = np.maximum(share, _SMALLEST_SHARE)
        deviation = np.sqrt(self.share * (1 - self.share))
        self.effects = rotation * (side / deviation)[:, None]
        self.noise = np.maximum(scores.var(axis=0) - 1, _SMALLEST_NOISE)
        presence = np.clip(self.share + side * deviation * sources, 0, 1)
        for _ in range(_ROUNDS):
            change, before = self._sweep(scores, presence), self.effects
            self._update(scores, presence)
            if change < _TOLERANCE:
                break
            self.effects = before + _STEP * (self.effects - before)

    def presence(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each row has each source."""
        presence = np.tile(self.share, (len(scores), 1))
        for _ in range(_SWEEPS):
            self._sweep(scores, presence)
        return presence

    def _sweep(self, scores: np.ndarray, presence: np.ndarray) -> float:
        """Update the probabilities of one source after the other, in place; return their mean change."""
        precise = self.effects / self.noise
        coupling = precise @ self.effects.T
        prior = np.log(self.share) - np.log1p(-self.share) - np.diag(coupling) / 2 + coupling @ self.share
        np.fill_diagonal(coupling, 0)
        return float(_sweep(scores @ precise.T + prior - presence @ coupling, presence, coupling)) / presence.size

    def _update(self, scores: np.ndarray, presence: np.ndarray) -> None:
        """Set shares, effects and noise to those that are most likely given the probabilities."""
        self.share = np.clip(presence.mean(axis=0), _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
        centred, unsure = presence - self.share, (presence * (1 - presence)).sum(axis=0)
        moments = centred.T @ centred + np.diag(unsure + 1e-9 * len(scores))
        self.effects = scipy.linalg.solve(moments, centred.T @ scores, assume_a="pos")
        left = np.square(scores - centred @ self.effects).sum(axis=0) + unsure @ np.square(self.effects)
        self.noise = np.maximum(left / len(scores), _SMALLEST_NOISE**2)


@jit()
def _sweep(natural: np.ndarray, presence: np.ndarray, coupling: np.ndarray) -> float:
    """Update each probability given those of the row's other sources, in place; return the sum of their changes."""
    n_rows, n_sources = presence.shape
    total = 0.0
    for row in range(n_rows):
        own = natural[row]
        for k in range(n_sources):
            new = 1 / (1 + np.exp(-own[k]))
            change = new - presence[row, k]
            if abs(change) > _NEGLIGIBLE:
                presence[row, k] = new
                total += abs(change)
                for other in range(n_sources):
                    own[other] -= change * coupling[k, other]
    return total
