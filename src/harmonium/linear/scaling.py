"""Scaling of views for linear models, such that no view outweighs another by its width.

A row of every view has a length of about 1. Values that count something (words, tags) are tf-idf features: logarithms
of counts, rare features weigh more than frequent ones, and each row has length 1, so that long and short texts compare.
Or they are treated as numbers are: less their mean, and divided by the root of the variance of all columns together,
where columns vary alike, or each as much as it does in the user's units. Nystroem features may take the place of
numbers (`harmonium.linear.nystroem`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from harmonium.core.batch import ViewBatch
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import component_arrays, is_sparse, to_dense
from harmonium.linear.nystroem import Nystroem

#: dense or sparse features, a row for each item
Features = Any


@dataclass(frozen=True, eq=False)
class ViewScaler:
    """Features of a linear model from the statistics of one view.

    Attributes
    ----------
    centre : ndarray of shape (features,)
        What is taken off; zero where the statistics are sparse.
    scale : ndarray of shape (features,)
        What they are multiplied by then.
    sublinear_tf : bool
        Whether values count something, so that logarithms are taken: x becomes 1 + log x.
    unit_rows : bool
        Whether each row is brought to length 1.
    nystroem : Nystroem, optional
        Kernel features that take the place of the features so found.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> scaler = ViewScaler(np.zeros(2), np.array([3.0, 4.0]), sublinear_tf=True, unit_rows=True)
    >>> words = Bernoulli().restore(2, {})
    >>> scaler.transform(words, ViewBatch(np.array([[1.0, 1.0], [0.0, 5.0]]))).round(6).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """

    centre: np.ndarray
    scale: np.ndarray
    sublinear_tf: bool
    unit_rows: bool
    nystroem: Nystroem | None = None

    @classmethod
    def fitted(cls, family: Family, batches: Iterable[ViewBatch], use_idf: bool, data_scale: bool = False) -> Self:
        """Return the scaler of the rows of a view.

        ``use_idf`` asks for inverse document frequencies and rows of length 1, which families that do not count
        anything have not; ``data_scale`` for columns that vary as much as they do in the user's units.
        """
        counted, sparse = family.counts_something, True
        observed, present, total, square = np.zeros((4, family.n_features_))
        for batch in batches:
            cells = entries(batch.statistic)
            values = _logarithms(cells.values) if counted else cells.values
            observed += batch.statistic.shape[0]
            if batch.missing is not None:  # of sparse views whole rows
                whole = is_sparse(batch.statistic)
                observed -= batch.missing[:, 0].sum() if whole else family.codec.spread(batch.missing).sum(axis=0)
            present += cells.column_sums(cells.values != 0)
            total += cells.column_sums(values.astype(np.float64))
            square += cells.column_sums(np.square(values, dtype=np.float64))
            sparse &= is_sparse(batch.statistic)
        if counted and use_idf:
            # the idf of scikit-learn, which keeps words that all rows have
            idf = np.log((1 + observed) / (1 + present)) + 1
            return cls(np.zeros(family.n_features_), idf, counted, unit_rows=True)
        observed = np.maximum(observed, 1)
        centre = np.zeros(family.n_features_) if sparse else total / observed
        units = family.codec.data_scale if data_scale else np.ones(family.n_features_)
        spread = float((square / observed - np.square(centre)) @ np.square(units))
        return cls(centre, units / np.sqrt(spread) if spread > 0 else units, counted, unit_rows=False)

    def rescaled(self, factor: np.ndarray) -> Self:
        """Return what gives the same features of statistics that are multiplied by a factor each."""
        return replace(self, centre=self.centre * factor, scale=self.scale / factor)

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return len(self.scale) if self.nystroem is None else self.nystroem.basis.shape[1]

    def transform(self, family: Family | None, view: ViewBatch) -> Features:
        """Return the features of the rows of a view, in float64; what is missing is zero, which stands for the mean.

        The family says what is missing in dense rows; views that the linear part alone sees are sparse and have none.
        """
        statistic = view.statistic
        # rows of a view that was dense in training may be sparse now
        if is_sparse(statistic) and self.nystroem is None and not self.centre.any():
            starts, columns, values = component_arrays(statistic)
            values = values.astype(np.float64)
            values = (_logarithms(values) if self.sublinear_tf else values) * self.scale[columns]
            rows = scipy.sparse.csr_array((values, columns, starts), shape=statistic.shape)
            return normalize(rows, copy=False) if self.unit_rows else rows
        values = to_dense(statistic).astype(np.float64)
        values = ((_logarithms(values) if self.sublinear_tf else values) - self.centre) * self.scale
        if view.missing is not None:
            values[view.missing if family is None else family.codec.spread(view.missing)] = 0.0
        if self.unit_rows:
            values = normalize(values, copy=False)
        return values if self.nystroem is None else self.nystroem.transform(values)

    def contributions(self, family: Family, view: ViewBatch, weights: np.ndarray) -> np.ndarray:
        """Return what each statistic of one row adds to the product of its features and weights.

        Features that are linear in what they are made of add what they are multiplied by. Nystroem features are
        followed along the straight line from the mean row, by integrated gradients, so that they add up to the
        difference to the mean row but for the error of the quadrature.

        Parameters
        ----------
        family : Family
            Family of the view.
        view : ViewBatch
            One row.
        weights : ndarray of shape (n_features, outputs)
            Weights of the features.

        Returns
        -------
        ndarray of shape (statistics, outputs)
            What each adds.
        """
        plain = replace(self, nystroem=None).transform(family, view)
        row = plain.toarray()[0] if scipy.sparse.issparse(plain) else plain[0]
        return row[:, None] * weights if self.nystroem is None else self.nystroem.contributions(row, weights)


def _logarithms(values: np.ndarray) -> np.ndarray:
    """Return 1 + log x of counts, which leaves zeros and ones as they are."""
    return np.where(values > 1, 1 + np.log(np.maximum(values, 1.0)), values)
