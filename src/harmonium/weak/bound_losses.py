"""Losses of given samples, for all candidates at once: no loop in here runs over candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from harmonium.kernels.segments import box_iou


class Selection(NamedTuple):
    """A label and a candidate for each sample.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Labels, as positions among the classes.
    candidates : ndarray of int of shape (n_samples,)
        Candidates, numbered from 0 within each sample.
    """

    labels: np.ndarray
    candidates: np.ndarray


class BoundLoss(ABC):
    """Loss of samples with known labels, whose right candidates h' follow a distribution P (a flat array)."""

    #: whether the loss depends on the right candidate at all
    uses_candidate = True

    def __init__(self, offsets: np.ndarray, labels: np.ndarray, n_classes: int) -> None:
        self.offsets, self.labels, self.n_classes = offsets, labels, n_classes
        self._sizes = np.diff(offsets)

    @abstractmethod
    def expected(self, posterior: np.ndarray) -> np.ndarray:
        """Return the expected loss Σ_h' P(h') Δ(y_i, h', y, h) of each candidate h (rows) and label y (columns)."""

    @abstractmethod
    def forgiving(self) -> np.ndarray:
        """Return the loss Δ(y_i, h, y, h) of each candidate h (rows) and label y (columns) if h were the right one."""

    @abstractmethod
    def against(self, selection: Selection) -> np.ndarray:
        """Return the loss Δ(y_i, h', ŷ_i, ĥ_i) of one prediction per sample for each right candidate h', flat."""

    @abstractmethod
    def pull(self, sample: int, posterior: np.ndarray) -> np.ndarray:
        """Return the derivative of a sample's diversity Σ P(h) P(h') Δ(y_i, h', y_i, h) by its P."""

    def diversity(self, posterior: np.ndarray) -> np.ndarray:
        """Return H_i(θ) of each sample: the expected loss between two candidates drawn from P."""
        with_right_label = self.expected(posterior)[np.arange(len(posterior)), np.repeat(self.labels, self._sizes)]
        return np.add.reduceat(posterior * with_right_label, self.offsets[:-1])

    def between(self, candidates: np.ndarray, selection: Selection) -> np.ndarray:
        """Return the loss of one prediction per sample for the given right candidates."""
        return self.against(selection)[self.offsets[:-1] + candidates]


class _ClassCostBound(BoundLoss):
    """Base of losses in which a wrong label costs 1 and candidates matter only if the label is right."""

    def expected(self, posterior: np.ndarray) -> np.ndarray:
        result = np.ones((len(posterior), self.n_classes), dtype=np.float32)
        result[np.arange(len(result)), np.repeat(self.labels, self._sizes)] = self._expected_if_right(posterior)
        return result

    def forgiving(self) -> np.ndarray:
        result = np.ones((self.offsets[-1], self.n_classes), dtype=np.float32)
        result[np.arange(len(result)), np.repeat(self.labels, self._sizes)] = 0
        return result

    def against(self, selection: Selection) -> np.ndarray:
        result = np.ones(self.offsets[-1])
        for sample in np.flatnonzero(selection.labels == self.labels).tolist():
            row = slice(self.offsets[sample], self.offsets[sample + 1])
            result[row] = self._column(sample, int(selection.candidates[sample]))
        return result

    @abstractmethod
    def _expected_if_right(self, posterior: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _column(self, sample: int, candidate: int) -> np.ndarray: ...


class ZeroOneBound(_ClassCostBound):
    """Loss of 0 if label and candidate are right, otherwise 1."""

    def _expected_if_right(self, posterior: np.ndarray) -> np.ndarray:
        return 1 - posterior

    def _column(self, sample: int, candidate: int) -> np.ndarray:
        return (np.arange(self._sizes[sample]) != candidate).astype(np.float64)

    def pull(self, sample: int, posterior: np.ndarray) -> np.ndarray:
        """Return the derivative of 1 − Σ P²."""
        return 2 * (1 - posterior)


class LayoutBound(_ClassCostBound):
    """Loss of 1 − intersection over union of boxes; samples with the same boxes share one table."""

    def __init__(self, offsets: np.ndarray, labels: np.ndarray, n_classes: int, boxes: np.ndarray) -> None:
        super().__init__(offsets, labels, n_classes)
        numbers: dict[bytes, int] = {}
        self._layout = np.empty(len(labels), dtype=np.int64)
        self._tables: list[np.ndarray] = []
        for sample in range(len(labels)):
            own = np.ascontiguousarray(boxes[offsets[sample] : offsets[sample + 1]], dtype=np.float64)
            number = numbers.setdefault(own.tobytes(), len(numbers))
            if number == len(self._tables):
                self._tables.append(1 - box_iou(own))
            self._layout[sample] = number

    def _expected_if_right(self, posterior: np.ndarray) -> np.ndarray:
        result = np.empty(len(posterior), dtype=np.float32)
        for number, table in enumerate(self._tables):
            samples = np.flatnonzero(self._layout == number)
            at = self.offsets[samples][:, None] + np.arange(len(table))
            result[at] = posterior[at].astype(np.float32) @ table
        return result

    def _column(self, sample: int, candidate: int) -> np.ndarray:
        return self._tables[self._layout[sample]][:, candidate]

    def pull(self, sample: int, posterior: np.ndarray) -> np.ndarray:
        """Return the derivative of Pᵀ T P for the table T, which is symmetric."""
        return 2 * (self._tables[self._layout[sample]] @ posterior.astype(np.float32))


class TensorBound(BoundLoss):
    """Loss given by a table of shape (classes, m, classes, m); m is 1 if it does not depend on candidates."""

    def __init__(self, offsets: np.ndarray, labels: np.ndarray, n_classes: int, tensor: np.ndarray) -> None:
        super().__init__(offsets, labels, n_classes)
        self._tensor = tensor
        self.uses_candidate = tensor.shape[1] > 1 and bool((tensor != tensor[:, :1]).any())

    def _table(self, label: int, size: int) -> np.ndarray:
        """Return the loss (h', y, h) of a sample with this label and number of candidates."""
        table = self._tensor[label]
        if table.shape[0] == 1:
            return np.broadcast_to(table, (size, self.n_classes, size))
        return table[:size, :, :size]

    def expected(self, posterior: np.ndarray) -> np.ndarray:
        """Return the expected losses, for samples of the same label and number of candidates at once."""
        result = np.empty((len(posterior), self.n_classes))
        kinds = np.stack([self.labels, self._sizes], axis=1)
        for label, size in np.unique(kinds, axis=0):
            samples = np.flatnonzero((self.labels == label) & (self._sizes == size))
            at = self.offsets[samples][:, None] + np.arange(size)
            if self._tensor.shape[1] == 1:
                result[at] = self._tensor[label, 0, :, 0]
            else:
                result[at] = np.tensordot(posterior[at], self._table(label, size), axes=1).transpose(0, 2, 1)
        return result

    def forgiving(self) -> np.ndarray:
        """Return the losses of candidates that are taken for the right ones, from the table of each sample."""
        sizes = zip(self.labels, self._sizes, strict=True)
        return np.concatenate([np.einsum("hyh->hy", self._table(label, size)) for label, size in sizes])

    def against(self, selection: Selection) -> np.ndarray:
        """Return the losses of the predictions, from the table of each sample."""
        result = np.empty(self.offsets[-1])
        for sample, (label, candidate) in enumerate(zip(*selection, strict=True)):
            row = slice(self.offsets[sample], self.offsets[sample + 1])
            result[row] = self._table(self.labels[sample], self._sizes[sample])[:, label, candidate]
        return result

    def pull(self, sample: int, posterior: np.ndarray) -> np.ndarray:
        """Return the derivative of Pᵀ T P for a table T that need not be symmetric."""
        label = self.labels[sample]
        table = self._table(label, len(posterior))[:, label]
        return table @ posterior + table.T @ posterior
