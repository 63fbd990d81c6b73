"""One-of-many features: labels, codes, nucleotides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from harmonium.families.base import NOTHING, Own
from harmonium.families.exclusive import Exclusive
from harmonium.support import Support
from harmonium.validation import Anything


class Categorical(Exclusive):
    """Columns of codes, each one of several categories; the statistic is their one-hot code.

    Parameters
    ----------
    n_categories : int or list of int, optional
        Number of categories of every column (codes 0 … n-1). Default: largest code in the data + 1.

    Examples
    --------
    >>> family = Categorical().restore(3, {"groups": np.array([0, 3])})
    >>> family.encode(np.array([[2.0], [0.0]])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    meant_for = "category codes"
    groups_: np.ndarray  # start of every column's block of features, and the end of the last

    # checked against the data
    settings = {"n_categories": Anything()}

    def __init__(self, n_categories: int | list[int] | None = None) -> None:
        self.n_categories = n_categories

    @property
    def support(self) -> Support:
        """Codes from 0 up; the upper bound differs from column to column and is checked when encoding."""
        return Support("category codes 0, 1, 2, …", 0, integer=True)

    def bind(self, summary: Any) -> Self:
        """Lay out the blocks of features."""
        found = np.asarray(summary.maximum, dtype=np.int64) + 1
        if self.n_categories is None:
            counts = np.maximum(found, 1)
        else:
            counts = np.asarray(self.n_categories)
            if counts.dtype.kind not in "iu" or counts.shape not in ((), found.shape) or (counts < 1).any():
                raise ValueError(
                    "Categorical needs a whole number n_categories >= 1, or a list of one for each of the "
                    f"{len(found)} columns; got {self.n_categories!r}; None takes them from the data."
                )
            counts = np.broadcast_to(counts.astype(np.int64), found.shape)
            if (found > counts).any():
                column = int(np.argmax(found > counts))
                raise ValueError(
                    f"Categorical(n_categories={self.n_categories}) needs codes below that number; column {column} has "
                    f"code {found[column] - 1}; raise n_categories or recode the column."
                )
        groups = np.concatenate([[0], np.cumsum(counts)])
        return self.with_fitted(n_features_=int(groups[-1]), groups_=groups)

    def constants(self) -> dict[str, np.ndarray]:
        """Layout of the blocks."""
        return {"groups": self.groups_}

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Rebuild the layout."""
        return self.with_fitted(n_features_=n_features, groups_=np.asarray(constants["groups"], dtype=np.int64))

    @property
    def keeps_zeros(self) -> bool:
        """Code 0 is a category like the others."""
        return False

    def largest_by_column(self) -> np.ndarray | None:
        """Largest code of each column."""
        return np.diff(self.groups_) - 1

    @property
    def n_sites(self) -> int:
        """One per column of codes."""
        return len(self.groups_) - 1

    @property
    def n_columns(self) -> int:
        """One per column of codes."""
        return self.n_sites

    def encode(self, values: np.ndarray) -> np.ndarray:
        """One-hot; a NaN code makes its whole block NaN."""
        n_rows = len(values)
        statistic = np.zeros((n_rows, self.n_features_), dtype=np.float32)
        for site, (start, stop) in enumerate(zip(self.groups_[:-1], self.groups_[1:], strict=True)):
            codes = values[:, site]
            missing = np.isnan(codes)
            known = np.flatnonzero(~missing)
            code = codes[known].astype(np.int64)
            if (code >= stop - start).any():
                raise ValueError(
                    f"Column {site} of a Categorical view has {stop - start} categories; got code {code.max()}; "
                    "fit with n_categories large enough for every code."
                )
            statistic[known, start + code] = 1
            statistic[missing, start:stop] = np.nan
        return statistic

    def decode_sample(self, statistic: np.ndarray) -> np.ndarray:
        """Codes."""
        return np.stack([block.argmax(axis=1) for block in self._blocks(statistic)], axis=1)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """A block is missing as a whole."""
        return np.isnan(statistic[:, self.groups_[:-1]])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat a column's value over its block."""
        return np.repeat(sites, np.diff(self.groups_), axis=1)

    def feature_names(self, columns: list[str]) -> list[str]:
        """column=code."""
        sizes = np.diff(self.groups_)
        return [f"{name}={code}" for name, size in zip(columns, sizes, strict=True) for code in range(size)]

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """Zero."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Log-sum-exp over each block."""
        blocks = [logsumexp(block, axis=1) for block in self._blocks(natural)]
        return np.stack(blocks, axis=1).astype(natural.dtype, copy=False)

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Softmax over each block."""
        return np.exp(natural - self.spread(self.log_partition(natural)))

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """One category per block, as the largest of Gumbel-perturbed log-odds."""
        return self.mode(natural + rng.gumbel(size=natural.shape).astype(natural.dtype, copy=False))

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Most probable category of each block."""
        draw = np.zeros(natural.shape, dtype=natural.dtype)
        rows = np.arange(len(natural))
        for start, block in zip(self.groups_[:-1], self._blocks(natural), strict=True):
            draw[rows, start + block.argmax(axis=1)] = 1
        return draw

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Log-probability."""
        return np.log(np.maximum(mean, 1e-6))

    def _blocks(self, values: np.ndarray) -> list[np.ndarray]:
        return [values[:, start:stop] for start, stop in zip(self.groups_[:-1], self.groups_[1:], strict=True)]
