"""Problems, as the solvers see them: samples with candidates h, joint features Ψ(x, y, h) and Φ(x, y, h), and a loss.

Arrays over candidates are flat: those of sample ``i`` stand from ``offsets[i]`` up to ``offsets[i + 1]``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.kernels.runtime.threads import run_blocks
from harmonium.kernels.segments import segment_argmax, segment_argmax_in_column, segment_softmax
from harmonium.weak.bags import Bags
from harmonium.weak.bound_losses import BoundLoss, Selection
from harmonium.weak.solvers.initial import speaking_candidates

# number of candidates in a block: its scores should stay in the processor's cache
_BLOCK = 4096


class CandidateProblem(ABC):
    """What the solvers ask about samples.

    A subclass sets the number of weights and computes scores w·Ψ, sums of Ψ, and the features Φ of one sample.
    Inference by enumeration is defined here; a problem that can do it faster may override it. Most users need a
    `Definition` instead.

    Parameters
    ----------
    loss : BoundLoss
        The loss of the samples, which also knows their labels and candidates.
    known : ndarray of int of shape (n_samples,) or None, default=None
        The right candidate of each sample, or -1 where it is unknown; ``None`` if all are unknown.

    Attributes
    ----------
    offsets : ndarray of int64 of shape (n_samples + 1,)
        Where the candidates of each sample begin in flat arrays.
    labels : ndarray of int of shape (n_samples,)
        The labels, as positions among the classes.
    n_classes : int
        Number of classes.
    sample_weight : ndarray of float64 of shape (n_samples,)
        Weight of each sample in the mean loss; their sum is 1.
    n_weights, n_latent_weights : int
        Lengths of w and θ.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import BagProblem, Bags, CandidateProblem, ZeroOneLoss
    >>> from harmonium.weak.losses import Candidates
    >>> bags = Bags.from_list([np.eye(2), np.eye(2)])
    >>> problem = BagProblem(bags, ZeroOneLoss().bind(Candidates(bags.offsets), np.array([0, 1]), np.arange(2)))
    >>> isinstance(problem, CandidateProblem), len(problem), problem.n_weights
    (True, 2, 4)
    """

    n_weights: int
    n_latent_weights: int

    def __init__(self, loss: BoundLoss, known: np.ndarray | None = None) -> None:
        self.loss = loss
        self.offsets, self.labels, self.n_classes = loss.offsets, loss.labels, loss.n_classes
        self.sample_weight = np.full(len(self.labels), 1 / len(self.labels))
        self.known = np.full(len(self.labels), -1) if known is None else known
        self._bounds = _block_bounds(self.offsets)

    def __len__(self) -> int:
        return len(self.labels)

    # ---- what a subclass must define -----------------------------------------------------------------------------
    @abstractmethod
    def scores(self, weights: np.ndarray, first: int, last: int) -> np.ndarray:
        """Return the scores w·Ψ(x_i, y, h) of some samples.

        Parameters
        ----------
        weights : ndarray of shape (n_weights,)
            The weights w.
        first, last : int
            The samples from ``first`` up to, not including, ``last``.

        Returns
        -------
        ndarray of shape (n_candidates, n_classes)
            One row for each of their candidates, one column for each label.
        """

    @abstractmethod
    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Return the weighted sum of Ψ over samples.

        Parameters
        ----------
        selection : Selection
            Label and candidate of each sample.
        sample_weight : ndarray of shape (n_samples,)
            Weights of the samples.

        Returns
        -------
        ndarray of shape (n_weights,)
            The sum.
        """

    @abstractmethod
    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Return the score of a label and candidate of each sample.

        Parameters
        ----------
        weights : ndarray of shape (n_weights,)
            The weights w.
        selection : Selection
            Label and candidate of each sample.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores w·Ψ.
        """

    @abstractmethod
    def latent_features(self, sample: int) -> tuple[Any, slice]:
        """Return the features Φ of the candidates of a sample with its own label.

        Parameters
        ----------
        sample : int
            Number of the sample.

        Returns
        -------
        features : ndarray or csr_array
            One row per candidate.
        part : slice
            The part of θ that the columns belong to.
        """

    @abstractmethod
    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the scores θ·Φ(x_i, y_i, h) of all candidates.

        Parameters
        ----------
        theta : ndarray of shape (n_latent_weights,)
            The weights θ.

        Returns
        -------
        ndarray of shape (n_candidates,)
            The scores, a flat array.
        """

    @abstractmethod
    def guess(self, emphasis: np.ndarray | None = None) -> np.ndarray:
        """Return candidates to begin with.

        Parameters
        ----------
        emphasis : ndarray of shape (n_samples,) or None, default=None
            Weights of the samples that the guess is learned from; ``None`` means the same for all.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            One candidate of each sample, numbered from 0 within it.
        """

    # ---- what follows from it ------------------------------------------------------------------------------------
    def infer(self, weights: np.ndarray, bonus: np.ndarray | None = None) -> Selection:
        """Return the label and candidate of the highest score of each sample.

        With the loss as a bonus, inference is loss-augmented.

        Parameters
        ----------
        weights : ndarray of shape (n_weights,)
            The weights w.
        bonus : ndarray of shape (n_candidates, n_classes) or None, default=None
            What is added to the scores.

        Returns
        -------
        Selection
            Label and candidate of each sample; on a tie, the first candidate and then the first label.
        """
        result = Selection(np.zeros(len(self), dtype=np.int32), np.zeros(len(self), dtype=np.int32))
        none = np.zeros((1, self.n_classes))

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            begin = self.offsets[first]
            own = none if bonus is None else bonus[begin : self.offsets[last]]
            offsets = self.offsets[first : last + 1] - begin
            scores = self.scores(weights, first, last)
            segment_argmax(scores, own, offsets, result.labels[first:last], result.candidates[first:last])

        run_blocks(task, len(self._bounds) - 1)
        return result

    def complete(self, weights: np.ndarray) -> np.ndarray:
        """Return the candidate of each sample with the highest score for its label.

        Parameters
        ----------
        weights : ndarray of shape (n_weights,)
            The weights w.

        Returns
        -------
        ndarray of int32 of shape (n_samples,)
            Candidates, numbered from 0 within each sample; known ones stay as they are.
        """
        result = np.zeros(len(self), dtype=np.int32)

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            offsets = self.offsets[first : last + 1] - self.offsets[first]
            segment_argmax_in_column(
                self.scores(weights, first, last), self.labels[first:last], offsets, result[first:last]
            )

        run_blocks(task, len(self._bounds) - 1)
        return np.where(self.known >= 0, self.known, result).astype(np.int32)

    def point_mass(self, candidates: np.ndarray) -> np.ndarray:
        """Return the distribution that is certain of given candidates.

        Parameters
        ----------
        candidates : ndarray of int of shape (n_samples,)
            One candidate of each sample.

        Returns
        -------
        ndarray of float64 of shape (n_candidates,)
            Probabilities of all candidates, a flat array.
        """
        result = np.zeros(self.offsets[-1])
        result[self.offsets[:-1] + candidates] = 1
        return result

    def posterior(self, theta: np.ndarray) -> np.ndarray:
        """Return P_θ of all candidates, given the labels of their samples.

        Parameters
        ----------
        theta : ndarray of shape (n_latent_weights,)
            The weights θ.

        Returns
        -------
        ndarray of float64 of shape (n_candidates,)
            Probabilities of all candidates, a flat array; known candidates are certain.
        """
        result = segment_softmax(self.latent_scores(theta), self.offsets)
        for sample in np.flatnonzero(self.known >= 0):
            result[self.offsets[sample] : self.offsets[sample + 1]] = 0
            result[self.offsets[sample] + self.known[sample]] = 1
        return result


class BagProblem(CandidateProblem):
    """Problem of bags: a candidate's features count for one label at a time.

    The weights are one block of features per class. Ψ(x, y, h) and Φ(x, y, h) are the features of candidate h in the
    block of label y, and zeros in all other blocks.

    Parameters
    ----------
    bags : Bags
        The samples.
    loss : BoundLoss
        Their loss, which also knows their labels.
    known : ndarray of int of shape (n_samples,) or None, default=None
        The right candidate of each sample, or -1 where it is unknown; ``None`` if all are unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import ZeroOneLoss
    >>> from harmonium.weak.losses import Candidates
    >>> bags = Bags.from_list([np.eye(2), np.eye(2)])
    >>> loss = ZeroOneLoss().bind(Candidates(bags.offsets), np.array([0, 1]), np.arange(2))
    >>> BagProblem(bags, loss).infer(np.array([0.0, 2.0, 1.0, 0.0])).candidates
    array([1, 1], dtype=int32)
    """

    def __init__(self, bags: Bags, loss: BoundLoss, known: np.ndarray | None = None) -> None:
        super().__init__(loss, known)
        self._features = bags.features
        self.n_weights = self.n_latent_weights = self.n_classes * bags.shape[1]

    def _blocks(self, weights: np.ndarray) -> np.ndarray:
        return weights.reshape(self.n_classes, -1)

    def scores(self, weights: np.ndarray, first: int, last: int) -> np.ndarray:
        """Return the products of the candidates with the weights of all classes."""
        columns = self._blocks(weights).T.astype(self._features.dtype, copy=False)
        return self._features[self.offsets[first] : self.offsets[last]] @ columns

    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Return the sum of the selected rows, each in the block of its label."""
        used = np.flatnonzero(sample_weight)
        rows = self._features[self.offsets[used] + selection.candidates[used]]
        where = (selection.labels[used], np.arange(len(used)))
        adder = scipy.sparse.csr_array((sample_weight[used], where), shape=(self.n_classes, len(used)))
        total = adder @ rows
        return (total.toarray() if scipy.sparse.issparse(total) else total).ravel()

    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Return the products of the selected rows with the weights of their labels."""
        rows = self._features[self.offsets[:-1] + selection.candidates]
        own = self._blocks(weights)[selection.labels]
        if scipy.sparse.issparse(rows):
            return np.asarray(rows.multiply(own).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", rows, own)

    def latent_features(self, sample: int) -> tuple[Any, slice]:
        """Return the candidates of the sample, and the block of its label."""
        n_columns = self._features.shape[1]
        begin = self.labels[sample] * n_columns
        rows = self._features[self.offsets[sample] : self.offsets[sample + 1]]
        return rows, slice(begin, begin + n_columns)

    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the scores of candidates in the block of their sample's label."""
        result = np.empty(self.offsets[-1])
        sizes = np.diff(self.offsets)

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            scores = self.scores(theta, first, last)
            own = np.repeat(self.labels[first:last], sizes[first:last])
            result[self.offsets[first] : self.offsets[last]] = scores[np.arange(len(scores)), own]

        run_blocks(task, len(self._bounds) - 1)
        return result

    def guess(self, emphasis: np.ndarray | None = None) -> np.ndarray:
        """Return the candidates whose features speak most clearly for their label."""
        return speaking_candidates(self._features, self.labels, self.offsets, self.n_classes, emphasis)


def _block_bounds(offsets: np.ndarray) -> np.ndarray:
    """Return the first samples of blocks of about `_BLOCK` candidates, and the number of samples at the end."""
    n_blocks = max(1, round(offsets[-1] / _BLOCK))
    bounds = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_blocks + 1))
    return np.unique(np.concatenate([[0], bounds, [len(offsets) - 1]]))
