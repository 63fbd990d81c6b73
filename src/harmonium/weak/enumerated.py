"""Problems of a user's own: a `Definition` says what the candidates of a sample are and what features they have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from harmonium.core.parts import Part
from harmonium.weak.bound_losses import BoundLoss, Selection
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.solvers.initial import first_of_largest


class Definition(Part):
    """Candidates and joint features of samples of your own.

    Subclass it and pass an instance as ``problem`` to an estimator. Samples may be anything, such as sequences, graphs
    or records: the estimators only count them, select them and hand them on. Features are computed once for all
    candidates and labels, and are kept.

    Examples
    --------
    A word is a sample and its letters are the candidates. The features are those of the letter, counted for the label:

    >>> import numpy as np
    >>> from harmonium.weak import Definition, LatentSVM
    >>> class Letters(Definition):
    ...     def n_candidates(self, sample):
    ...         return len(sample)
    ...     def joint_features(self, sample, label):
    ...         is_letter = [[letter == known for known in "abc"] for letter in sample]
    ...         return np.hstack([np.array(is_letter) * (label == known) for known in (0, 1)])
    >>> words = ["ca", "bc", "ac", "cb"] * 5
    >>> model = LatentSVM(C=100, problem=Letters()).fit(words, [0, 1, 0, 1] * 5)  # is there an a, or a b?
    >>> model.predict_latent(["cca", "bcc"])
    (array([0, 1]), array([2, 0]))
    """

    role = "problem"

    @abstractmethod
    def n_candidates(self, sample: Any) -> int:
        """Return the number of candidates of a sample.

        Parameters
        ----------
        sample : object
            One of the samples given to the estimator.

        Returns
        -------
        int
            At least 1.
        """

    @abstractmethod
    def joint_features(self, sample: Any, label: Any) -> np.ndarray:
        """Return the features of all candidates of a sample for one label.

        Parameters
        ----------
        sample : object
            One of the samples given to the estimator.
        label : object
            One of the classes.

        Returns
        -------
        ndarray of shape (n_candidates, n_weights)
            Ψ(x, y, h), one row per candidate; the columns are the same for all samples and labels.
        """

    def latent_features(self, sample: Any, label: Any) -> np.ndarray:
        """Return the features that the distribution over candidates is learned from.

        They are the joint features unless a subclass says otherwise.

        Parameters
        ----------
        sample : object
            One of the samples given to the estimator.
        label : object
            Its label.

        Returns
        -------
        ndarray of shape (n_candidates, n_latent_weights)
            Φ(x, y, h), one row per candidate; the columns are the same for all samples.
        """
        return self.joint_features(sample, label)


class EnumeratedProblem(CandidateProblem):
    """CandidateProblem with the joint features of a `Definition`, for all samples, candidates and labels."""

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
        """Return the scores of some samples."""
        return np.ascontiguousarray((self._joint[:, self.offsets[first] : self.offsets[last]] @ weights).T)

    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Return the weighted sum of the selected features."""
        return sample_weight @ self._joint[selection.labels, self.offsets[:-1] + selection.candidates]

    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Return the scores of the selected features."""
        return self._joint[selection.labels, self.offsets[:-1] + selection.candidates] @ weights

    def latent_features(self, sample: int) -> tuple[np.ndarray, slice]:
        """Return the features of one sample, for which all of θ counts."""
        return self._latent[self.offsets[sample] : self.offsets[sample + 1]], slice(None)

    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the scores of all candidates."""
        return self._latent @ theta

    def guess(self, emphasis: np.ndarray | None = None) -> np.ndarray:
        """Return the candidates whose features differ most from the mean, in the direction of their label."""
        own = np.repeat(self.labels, np.diff(self.offsets))
        mine = self._joint[own, np.arange(len(own))]
        weights = None if emphasis is None else np.repeat(emphasis, np.diff(self.offsets))
        direction = np.average(mine, axis=0, weights=weights) - np.average(
            self._joint.mean(axis=0), axis=0, weights=weights
        )
        return first_of_largest(mine @ direction, self.offsets)
