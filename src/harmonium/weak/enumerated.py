"""Problems of one's own: one says what the candidates of a sample are and what their joint features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from harmonium.parts import Part
from harmonium.weak.bound_losses import BoundLoss, Selection
from harmonium.weak.initial import first_of_largest
from harmonium.weak.problem import Problem


class Definition(Part):
    """What a sample's candidates and joint features are; subclass it and pass an instance as ``problem``.

    Samples may be anything (sequences, graphs, records): the estimators only count them, slice them and hand them on.
    The features are computed once and kept, for all candidates and labels.
    """

    role = "problem"

    @abstractmethod
    def n_candidates(self, sample: Any) -> int:
        """Number of candidates of a sample."""

    @abstractmethod
    def joint_features(self, sample: Any, label: Any) -> np.ndarray:
        """Ψ(x, y, h) for all candidates (rows) of a sample and one label; the same columns for all labels."""

    def latent_features(self, sample: Any, label: Any) -> np.ndarray:
        """Φ(x, y, h) for all candidates of a sample; Ψ unless overridden."""
        return self.joint_features(sample, label)


class EnumeratedProblem(Problem):
    """The joint features that a `Definition` gives, for all samples, candidates and labels."""

    def __init__(
        self,
        definition: Definition,
        samples: Sequence[Any],
        classes: np.ndarray,
        loss: BoundLoss,
        known: np.ndarray | None = None,
    ) -> None:
        super().__init__(loss, known)
        self._joint = np.stack(
            [self._stacked([definition.joint_features(sample, label) for sample in samples]) for label in classes]
        )
        self._latent = self._stacked(
            [
                definition.latent_features(sample, classes[label])
                for sample, label in zip(samples, loss.labels, strict=True)
            ]
        )
        self.n_weights, self.n_latent_weights = self._joint.shape[2], self._latent.shape[1]

    def _stacked(self, matrices: list[np.ndarray]) -> np.ndarray:
        arrays = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
        for number, (array, size) in enumerate(zip(arrays, np.diff(self.offsets), strict=True)):
            if array.ndim != 2 or len(array) != size or array.shape[1] != arrays[0].shape[-1]:
                raise ValueError(
                    f"Joint features must have a row for each candidate and the same columns for all samples; sample "
                    f"{number} has {size} candidates and features of shape {array.shape}; correct the definition."
                )
        result = np.concatenate(arrays)
        if not np.isfinite(result).all():
            raise ValueError("Joint features must be finite; found NaN or infinity; correct the definition.")
        return result

    def scores(self, weights: np.ndarray, first: int, last: int) -> np.ndarray:
        """Scores of some samples."""
        return np.ascontiguousarray((self._joint[:, self.offsets[first] : self.offsets[last]] @ weights).T)

    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Weighted sum of the selected features."""
        return sample_weight @ self._joint[selection.labels, self.offsets[:-1] + selection.candidates]

    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Scores of the selected features."""
        return self._joint[selection.labels, self.offsets[:-1] + selection.candidates] @ weights

    def latent_features(self, sample: int) -> tuple[np.ndarray, slice]:
        """Features of one sample; all of θ belongs to them."""
        return self._latent[self.offsets[sample] : self.offsets[sample + 1]], slice(None)

    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores of all candidates."""
        return self._latent @ theta

    def guess(self) -> np.ndarray:
        """Candidates that the difference between samples with a label and samples without speaks for."""
        own = np.repeat(self.labels, np.diff(self.offsets))
        mine = self._joint[own, np.arange(len(own))]
        direction = mine.mean(axis=0) - self._joint.mean(axis=(0, 1))
        return first_of_largest(mine @ direction, self.offsets)
