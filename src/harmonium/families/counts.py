"""What families of counts share: most cells are zero, and the others can be drawn from a few candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.families.base import Family
from harmonium.families.sparse_draws import SparseDraw, draw_in_blocks
from harmonium.kernels.sampling import drop_zeros, flag_bytes, sampled_candidates
from harmonium.kernels.sparse import Columns
from harmonium.kernels.threads import scratch
from harmonium.support import Support

# larger whole numbers are taken to be measurements (times, identifiers); a convention, not far below e¹², the largest
# rate that Poisson can express
_LARGEST_COUNT = 1e5


def are_counts(summary: Any, largest: float = _LARGEST_COUNT) -> bool:
    """Tell whether all values are whole numbers from 0 up that are not too large to be counts."""
    return bool(summary.all_integer and summary.minimum.min() >= 0 and summary.maximum.max() <= largest)


def without_bound(units: Support, reason: str) -> str | None:
    """Return why counts need units with a largest value, and what to use instead; None if the units have one."""
    if units.bounded:
        return None
    return f"{reason}; use BernoulliUnits() or BinomialUnits(), or ReplicatedSoftmax() for counts with Gaussian units"


class Counts(Family):
    """Base of families of independent counts, which can be drawn sparsely.

    A subclass states an upper limit of the probability of a count above zero, and which count a uniform number gives.
    """

    role = "family"  # named here, as this is no family by itself

    def tail_factor(self) -> float:
        """Return a constant c with P(x > 0) <= c exp(natural).

        Returns
        -------
        float
            The constant. The smaller it is, the fewer candidates have to be looked at.
        """
        raise NotImplementedError

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Turn uniform numbers into counts by inversion of the survival function.

        Parameters
        ----------
        uniform : ndarray of shape (entries,)
            Numbers in (0, 1).
        natural : ndarray of shape (entries,)
            Natural parameters, clamped.

        Returns
        -------
        ndarray of float32 of shape (entries,)
            The number of k >= 0 with P(x > k) > uniform.
        """
        raise NotImplementedError

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Find candidates for counts above zero with a kernel, and draw these exactly."""
        n_rows = len(hidden)
        key = np.uint32(rng.integers(2**32))
        factor = self.tail_factor()

        def draw(first: int, last: int) -> tuple[Columns]:
            natural = scratch("natural", (last - first, n_rows), np.float32)
            flags = scratch("flags", (flag_bytes(natural.size),), np.uint8)
            indptr, rows, uniform, kept = sampled_candidates(
                weights[first:last], hidden.T, bias[first:last], factor, key, first * n_rows, natural, flags
            )
            return (drop_zeros(indptr, rows, self.tail_quantile(uniform, self.clamp(kept))),)

        return draw_in_blocks(weights, len(weights), n_rows, draw)
