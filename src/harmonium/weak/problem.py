"""Problems: samples with their candidates h, joint features Ψ(x, y, h) and Φ(x, y, h), and loss, for the solvers.

Arrays that run over candidates are flat: those of sample ``i`` lie from ``offsets[i]`` to ``offsets[i + 1]``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.kernels.segments import best_in_column, best_of_segments, softmax_of_segments
from harmonium.kernels.threads import run_blocks
from harmonium.weak.bags import Bags
from harmonium.weak.bound_losses import BoundLoss, Selection
from harmonium.weak.initial import speaking_candidates

# a block of scores should stay in the processor's cache
_BLOCK = 4096


class Problem(ABC):
    """What the solvers ask of samples.

    A subclass says how many weights there are and computes scores w·Ψ, sums of Ψ, and the features Φ of one sample;
    inference by enumeration is here, and a problem with a faster way may override it.

    Attributes
    ----------
    labels : ndarray of shape (samples,)
        Numbers of the classes.
    known : ndarray of shape (samples,)
        The candidate of each sample, or -1 if it is unknown.
    loss : BoundLoss
        The loss of these samples.
    n_weights, n_latent_weights : int
        Lengths of w and θ.
    """

    n_weights: int
    n_latent_weights: int

    def __init__(self, loss: BoundLoss, known: np.ndarray | None = None) -> None:
        self.loss = loss
        self.offsets, self.labels, self.n_classes = loss.offsets, loss.labels, loss.n_classes
        self.known = np.full(len(self.labels), -1) if known is None else known
        self._bounds = _block_bounds(self.offsets)

    def __len__(self) -> int:
        return len(self.labels)

    # ---- what a problem must say ---------------------------------------------------------------------------------
    @abstractmethod
    def scores(self, weights: np.ndarray, first: int, last: int) -> np.ndarray:
        """Scores w·Ψ(x_i, y, h) of the candidates (rows) and labels (columns) of samples ``first`` to ``last - 1``."""

    @abstractmethod
    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Weighted sum over samples of Ψ at the label and candidate selected for each."""

    @abstractmethod
    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Score w·Ψ at the label and candidate selected for each sample."""

    @abstractmethod
    def latent_features(self, sample: int) -> tuple[Any, slice]:
        """Features Φ of the candidates of a sample with its own label, and the part of θ they belong to."""

    @abstractmethod
    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores θ·Φ(x_i, y_i, h) of all candidates."""

    @abstractmethod
    def guess(self) -> np.ndarray:
        """Candidates to begin with."""

    # ---- what follows from it ------------------------------------------------------------------------------------
    def infer(self, weights: np.ndarray, bonus: np.ndarray | None = None) -> Selection:
        """Label and candidate of the highest w·Ψ + bonus of each sample; loss-augmented if the bonus is the loss."""
        result = Selection(np.zeros(len(self), dtype=np.int32), np.zeros(len(self), dtype=np.int32))
        none = np.zeros((1, self.n_classes))

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            begin = self.offsets[first]
            own = none if bonus is None else bonus[begin : self.offsets[last]]
            offsets = self.offsets[first : last + 1] - begin
            scores = self.scores(weights, first, last)
            best_of_segments(scores, own, offsets, result.labels[first:last], result.candidates[first:last])

        run_blocks(task, len(self._bounds) - 1)
        return result

    def complete(self, weights: np.ndarray) -> np.ndarray:
        """The candidate of each sample that scores highest with its own label, or the one that is known."""
        result = np.zeros(len(self), dtype=np.int32)

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            offsets = self.offsets[first : last + 1] - self.offsets[first]
            best_in_column(self.scores(weights, first, last), self.labels[first:last], offsets, result[first:last])

        run_blocks(task, len(self._bounds) - 1)
        return np.where(self.known >= 0, self.known, result).astype(np.int32)

    def point_mass(self, candidates: np.ndarray) -> np.ndarray:
        """The distribution that is certain of these candidates."""
        result = np.zeros(self.offsets[-1])
        result[self.offsets[:-1] + candidates] = 1
        return result

    def posterior(self, theta: np.ndarray) -> np.ndarray:
        """P_θ of all candidates given their samples and labels; certain where the candidate is known."""
        result = softmax_of_segments(self.latent_scores(theta), self.offsets)
        for sample in np.flatnonzero(self.known >= 0):
            result[self.offsets[sample] : self.offsets[sample + 1]] = 0
            result[self.offsets[sample] + self.known[sample]] = 1
        return result


class BagProblem(Problem):
    """Bags of candidates: Ψ and Φ are the features of the candidate, in the block of the label.

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
        """One product of the candidates with the weights of all classes."""
        columns = self._blocks(weights).T.astype(self._features.dtype, copy=False)
        return self._features[self.offsets[first] : self.offsets[last]] @ columns

    def joint_sum(self, selection: Selection, sample_weight: np.ndarray) -> np.ndarray:
        """Rows of the selected candidates, added up in the blocks of their labels."""
        used = np.flatnonzero(sample_weight)
        rows = self._features[self.offsets[used] + selection.candidates[used]]
        where = (selection.labels[used], np.arange(len(used)))
        adder = scipy.sparse.csr_array((sample_weight[used], where), shape=(self.n_classes, len(used)))
        total = adder @ rows
        return (total.toarray() if scipy.sparse.issparse(total) else total).ravel()

    def selected_scores(self, weights: np.ndarray, selection: Selection) -> np.ndarray:
        """Products of the selected rows with the weights of their labels."""
        rows = self._features[self.offsets[:-1] + selection.candidates]
        own = self._blocks(weights)[selection.labels]
        if scipy.sparse.issparse(rows):
            return np.asarray(rows.multiply(own).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", rows, own)

    def latent_features(self, sample: int) -> tuple[Any, slice]:
        """Candidates of the sample, and the block of its label."""
        n_columns = self._features.shape[1]
        begin = self.labels[sample] * n_columns
        rows = self._features[self.offsets[sample] : self.offsets[sample + 1]]
        return rows, slice(begin, begin + n_columns)

    def latent_scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores in the block of each sample's own label."""
        result = np.empty(self.offsets[-1])
        sizes = np.diff(self.offsets)

        def task(block: int) -> None:
            first, last = self._bounds[block], self._bounds[block + 1]
            scores = self.scores(theta, first, last)
            own = np.repeat(self.labels[first:last], sizes[first:last])
            result[self.offsets[first] : self.offsets[last]] = scores[np.arange(len(scores)), own]

        run_blocks(task, len(self._bounds) - 1)
        return result

    def guess(self) -> np.ndarray:
        """Candidates whose features speak most for their label."""
        return speaking_candidates(self._features, self.labels, self.offsets, self.n_classes)


def _block_bounds(offsets: np.ndarray) -> np.ndarray:
    """First samples of blocks of about so many candidates, and the number of samples."""
    n_blocks = max(1, round(offsets[-1] / _BLOCK))
    bounds = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_blocks + 1))
    return np.unique(np.concatenate([[0], bounds, [len(offsets) - 1]]))
