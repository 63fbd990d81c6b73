"""What families of counts share: most cells are zero, and those that are not can be drawn from candidates alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.families.base import Family
from harmonium.families.sparse_draws import SparseDraw, draw_in_blocks
from harmonium.kernels.sampling import drop_zeros, flag_bytes, sampled_candidates
from harmonium.kernels.sparse import Columns
from harmonium.kernels.threads import scratch
from harmonium.support import Support

# whole numbers beyond are measurements (times, identifiers), and log-rates are clamped not far above
_LARGEST_COUNT = 1e5


def are_counts(summary: Any, largest: float = _LARGEST_COUNT) -> bool:
    """Whether all values are whole numbers from 0 up that are not too large to be counts."""
    return bool(summary.all_integer and summary.minimum.min() >= 0 and summary.maximum.max() <= largest)


def without_bound(units: Support, reason: str) -> str | None:
    """Why counts cannot be normalised with units that have no largest value, and what to take; None if they have."""
    if units.bounded:
        return None
    return f"{reason}; use BernoulliUnits() or BinomialUnits(), or ReplicatedSoftmax() for counts with Gaussian units"


class Counts(Family):
    """Independent counts. Subclasses bound how probable a count above zero is and say which uniform number gives it."""

    role = "family"  # named here, as this is no family by itself

    def tail_factor(self) -> float:
        """A constant c with P(x > 0) <= c exp(natural)."""
        raise NotImplementedError

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Inverse of the survival function: the number of k >= 0 with P(x > k) > uniform."""
        raise NotImplementedError

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Candidates found by a kernel, decided about exactly by `tail_quantile`."""
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
