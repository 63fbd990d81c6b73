"""One-of-many features: labels, codes, nucleotides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from harmonium.core.support import Support
from harmonium.core.validation import Anything, shown
from harmonium.families.exclusive import Exclusive
from harmonium.families.protocol.codec import Codec
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra


@dataclass(frozen=True)
class OneHot(Codec):
    """Codec of category codes, with a block of features for each column."""

    groups: np.ndarray  # start of every block, and the end of the last
    is_affine = False

    @property
    def keeps_zeros(self) -> bool:
        """False, as code 0 is a category like the others."""
        return False

    @property
    def largest(self) -> np.ndarray | None:
        """Largest code of each column."""
        return np.diff(self.groups) - 1

    @property
    def n_sites(self) -> int:
        """Number of columns of codes."""
        return len(self.groups) - 1

    @property
    def n_columns(self) -> int:
        """Number of columns of codes."""
        return self.n_sites

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the one-hot codes; a code that is NaN makes its whole block NaN."""
        n_rows = len(values)
        statistic = np.zeros((n_rows, self.n_features), dtype=np.float32)
        for site, (start, stop) in enumerate(zip(self.groups[:-1], self.groups[1:], strict=True)):
            codes = values[:, site]
            missing = np.isnan(codes)
            known = np.flatnonzero(~missing)
            code = codes[known].astype(np.int64)
            if (code >= stop - start).any():
                raise ValueError(
                    f"Column {site} of a view of codes has {stop - start} categories; got code {code.max()}; "
                    "fit with n_categories large enough for every code."
                )
            statistic[known, start + code] = 1
            statistic[missing, start:stop] = np.nan
        return statistic

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the codes."""
        return np.stack([block.argmax(axis=1) for block in self.blocks(statistic)], axis=1)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which columns of codes are missing."""
        return np.isnan(statistic[:, self.groups[:-1]])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat the value of each column over its block of features."""
        return np.repeat(sites, np.diff(self.groups), axis=1)

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return names of the form ``column=code``."""
        sizes = np.diff(self.groups)
        return [f"{name}={code}" for name, size in zip(columns, sizes, strict=True) for code in range(size)]

    def blocks(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the features of each column."""
        return [values[:, start:stop] for start, stop in zip(self.groups[:-1], self.groups[1:], strict=True)]


class Categorical(Exclusive):
    """Family of category codes, whose statistic is the one-hot code of each column.

    Parameters
    ----------
    n_categories : int or list of int, optional
        Number n of categories of all columns, or of each column; codes are 0 to n - 1. By default it is the largest
        code in the training data plus 1.

    Examples
    --------
    >>> family = Categorical().restore(3, {"groups": np.array([0, 3])})
    >>> family.codec.encode(np.array([[2.0], [0.0]])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    meant_for = "category codes"
    groups_: np.ndarray
    whole_constants = ("groups",)

    # checked against the data
    settings = {"n_categories": Anything()}

    def __init__(self, n_categories: int | list[int] | None = None) -> None:
        self.n_categories = n_categories

    @property
    def support(self) -> Support:
        """Codes from 0 up; the largest one of each column is checked when encoding."""
        return Support("category codes 0, 1, 2, …", 0, integer=True)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows the block of features of each column."""
        groups = bound_groups("Categorical", self.n_categories, summary)
        return self.with_fitted(n_features_=int(groups[-1]), groups_=groups)

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy with saved blocks of features, if they are blocks."""
        groups = checked_groups(constants["groups"])
        if groups[-1] != n_features:
            raise ValueError(f"groups must lead from 0 to {n_features}")
        return super().restore(n_features, {"groups": groups})

    @property
    def codec(self) -> OneHot:
        """The one-hot code of each column."""
        return OneHot(self.n_features_, self.groups_)

    def expected(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities of all categories, as codes have no mean."""
        return self.mean(natural)

    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the log-sum-exp of each block."""
        largest, _, totals = self._exponentials(natural)
        return largest + np.log(totals)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the softmax of each block."""
        _, powers, totals = self._exponentials(natural)
        return powers / self.codec.spread(totals)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw one category of each block, as the largest of Gumbel-perturbed log-odds."""
        return self.mode(natural + rng.gumbel(size=natural.shape).astype(natural.dtype, copy=False))

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the most probable category of each block."""
        draw = np.zeros(natural.shape, dtype=natural.dtype)
        rows = np.arange(len(natural))
        for start, block in zip(self.groups_[:-1], self.codec.blocks(natural), strict=True):
            draw[rows, start + block.argmax(axis=1)] = 1
        return draw

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the log-probabilities."""
        return np.log(np.maximum(mean, 1e-6))

    def _exponentials(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the largest natural of each block, e to the power of how far all are below it, and sums of blocks."""
        # all blocks at once: training with small batches and missing codes calls this ten times for each
        starts = self.groups_[:-1]
        largest = np.maximum.reduceat(natural, starts, axis=1)
        powers = np.exp(natural - self.codec.spread(largest))
        return largest, powers, np.add.reduceat(powers, starts, axis=1)


def bound_groups(owner: str, n_categories: Any, summary: Any) -> np.ndarray:
    """Return where the block of features of each column of codes starts, and the end of the last."""
    found = np.asarray(summary.maximum, dtype=np.int64) + 1
    if n_categories is None:
        counts = np.maximum(found, 1)
    else:
        try:
            counts = np.asarray(n_categories)
        except ValueError:  # lists of different lengths, refused for their kind
            counts = np.array(None)
        if counts.dtype.kind not in "iu" or counts.shape not in ((), found.shape) or (counts < 1).any():
            raise ValueError(
                f"{owner} needs a whole number n_categories >= 1, or a list of one for each of the "
                f"{len(found)} columns; got {shown(n_categories)}; None takes them from the data."
            )
        counts = np.broadcast_to(counts.astype(np.int64), found.shape)
        if (found > counts).any():
            column = int(np.argmax(found > counts))
            raise ValueError(
                f"{owner}(n_categories={n_categories}) needs codes below that number; column {column} has "
                f"code {found[column] - 1}; raise n_categories or recode the column."
            )
    return np.concatenate([[0], np.cumsum(counts)])


def checked_groups(groups: np.ndarray) -> np.ndarray:
    """Return saved starts of blocks, if they are some."""
    if groups.dtype.kind not in "iu" or groups.ndim != 1 or len(groups) < 2 or groups[0] != 0:
        raise ValueError("groups must be whole numbers that begin with 0")
    if not (groups[1:] > groups[:-1]).all():
        raise ValueError("groups must ascend")
    return groups.astype(np.int64)
