"""`InstanceScores`: what a fitted classifier of bags says of their single instances."""

from __future__ import annotations

from typing import Any

import numpy as np


class InstanceScores:
    """Mixin with scores and labels of the instances (candidates) of bags."""

    classes_: np.ndarray

    def _scored(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return scores of all instances for all classes, and the offsets of the bags."""
        raise NotImplementedError

    def instance_scores(self, X: Any) -> list[np.ndarray]:
        """Return the scores of the instances of each bag for each class.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags.

        Returns
        -------
        list of ndarray of shape (n_candidates, n_classes)
            One matrix per bag.
        """
        scores, offsets = self._scored(X)
        return np.split(scores, offsets[1:-1])

    def predict_instances(self, X: Any) -> list[np.ndarray]:
        """Predict the class of each instance of each bag.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags.

        Returns
        -------
        list of ndarray of shape (n_candidates,)
            One array of labels per bag.
        """
        scores, offsets = self._scored(X)
        return np.split(self.classes_[scores.argmax(axis=1)], offsets[1:-1])
