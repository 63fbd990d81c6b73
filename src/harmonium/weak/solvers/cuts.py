"""The cuts of a cutting plane: the choice that each stands for, its features and loss, and their products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harmonium.weak.bound_losses import Selection

# A cut without weight in this many quadratic programmes in a row is dropped: a convention that bounds their size. A cut
# that is needed again is found again.
_IDLE = 30


class Cuts:
    """Cuts, each a choice of a label and a candidate for every sample; the Gram matrix grows with each new one."""

    def __init__(self, n_samples: int, n_weights: int) -> None:
        self._labels = np.empty((0, n_samples), dtype=np.int32)
        self._candidates = np.empty((0, n_samples), dtype=np.int32)
        self._features = np.empty((0, n_weights))
        self._products = np.empty((0, 0))
        self._idle = np.empty(0, dtype=np.int64)
        self.losses = np.empty(0)

    def __len__(self) -> int:
        return len(self.losses)

    def add(self, selection: Selection, features: np.ndarray, loss: float) -> None:
        """Add a cut."""
        row = self._features @ features
        self._products = np.block([[self._products, row[:, None]], [row[None], np.array([[features @ features]])]])
        self._labels = np.concatenate([self._labels, selection.labels[None]])
        self._candidates = np.concatenate([self._candidates, selection.candidates[None]])
        self._features = np.concatenate([self._features, features[None]])
        self.losses = np.append(self.losses, loss)
        self._idle = np.append(self._idle, 0)

    def prune(self, alpha: np.ndarray) -> None:
        """Drop the cuts that have long had no weight in the solution, given their weights in the latest one."""
        self._idle = np.where(alpha > 0, 0, self._idle + 1)
        kept = self._idle < _IDLE
        if not kept.all():
            self._labels, self._candidates = self._labels[kept], self._candidates[kept]
            self._features, self._products = self._features[kept], self._products[np.ix_(kept, kept)]
            self.losses, self._idle = self.losses[kept], self._idle[kept]

    def gram(self, truth: np.ndarray) -> np.ndarray:
        """Return the products of the directions ``truth - features``."""
        across = self._features @ truth
        return self._products - across[:, None] - across[None, :] + truth @ truth

    def combined(self, alpha: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Return the weights w of a dual solution."""
        return alpha.sum() * truth - alpha @ self._features

    def slack(self, weights: np.ndarray, truth: np.ndarray) -> float:
        """Return the largest violation of a cut at these weights."""
        return float((self.losses + self._features @ weights).max() - weights @ truth)

    def recent(self, number: int) -> list[Selection]:
        """Return the last cuts."""
        return [Selection(*pair) for pair in zip(self._labels[-number:], self._candidates[-number:], strict=True)]

    def set_losses(self, loss: Callable[[Selection], float]) -> None:
        """Look up the losses of all cuts again."""
        self.losses = np.array([loss(cut) for cut in self.recent(len(self))])

    def set_features(self, features: Callable[[Selection], np.ndarray]) -> None:
        """Compute the features of all cuts again."""
        if len(self):
            self._features = np.stack([features(cut) for cut in self.recent(len(self))])
            self._products = self._features @ self._features.T
