"""What a view's family must be able to say: support, sufficient statistic, log-partition, mean and sampler.

A family describes ``p(x | natural) = exp(natural . statistic(x) + log_base(x) - log_partition(natural))`` and nothing
about training. Throughout, ``natural``, ``mean`` and ``statistic`` are arrays of shape (rows, features) in the
*statistic* space of the family, and ``own`` holds the family's own free parameters (a Gaussian's log-variances).

A *site* is a variable that is observed or missing as a whole: a feature for most families, a group of one-hot features
for `Categorical`, the whole row for `ReplicatedSoftmax` and `Chain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

import numpy as np

from harmonium.kernels.sparse import SparseRows
from harmonium.parts import Part
from harmonium.support import Support

Own = Mapping[str, np.ndarray]
NOTHING: Own = {}


class Growth(Enum):
    """How fast a log-partition grows with its natural parameter; decides what may be normalised together."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"
    EXPONENTIAL = "exponential"
    POLE = "pole"  # infinite from natural = 0 on


class Family(Part):
    """Exponential family of one view. Subclasses with independent features only fill in the elementwise maths.

    Attributes
    ----------
    n_features_ : int
        Width of the statistic, set by `bind`.
    natural_limits : tuple of float
        Where drivers clamp natural parameters before they form means: beyond, float32 means turn into denormals (which
        make matrix products about twenty times slower) or overflow. The exact energy never clamps.
    """

    role = "family"
    growth: Growth = Growth.LINEAR
    natural_limits: tuple[float, float] = (-30.0, 30.0)
    #: True if a zero statistic is the common case for sparse input and `tail_quantile` can draw from candidate cells
    samples_sparsely: bool = False
    #: True if `sample_rows` draws whole rows sparsely
    samples_rows: bool = False
    #: True if the features of a site exclude one another (one-hot codes, tokens of a document)
    exclusive: bool = False
    #: True if items are ordered lists of rows (`Sequences`); their size is the number of rows
    ordered: bool = False
    #: True if a row of the view is observed or missing as a whole
    whole_rows: bool = False
    n_features_: int

    @property
    def support(self) -> Support:
        """Values the view's data may take."""
        raise NotImplementedError

    # ---- between the user's data and the statistic -------------------------------------------------------------
    def bind(self, summary: Any) -> Self:
        """Copy of the family that knows the width and the constants of the data (see `views.Summary`)."""
        return self.bound(n_features_=summary.n_columns)

    @property
    def n_sites(self) -> int:
        """Number of variables that are observed or missing as a whole."""
        return self.n_features_

    @property
    def n_columns(self) -> int:
        """Number of columns of the data."""
        return self.n_features_

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Statistic of dense data; NaN stays NaN."""
        return values

    @property
    def keeps_zeros(self) -> bool:
        """Whether the statistic of zero is zero, so that sparse data have a sparse statistic."""
        return True

    def largest_by_column(self) -> np.ndarray | None:
        """Largest value of each column of the data where that differs from column to column; the family is bound."""
        return None

    def encode_nonzeros(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Statistic of the stored entries of sparse data (zero must map to zero)."""
        return values

    def decode(self, mean: np.ndarray) -> np.ndarray:
        """Mean of the statistic in the user's units."""
        return mean

    def log_volume(self) -> np.ndarray:
        """Logarithm, by feature, of how much encoding stretches the data: turns densities back to the user's units."""
        return np.zeros(self.n_features_)

    def decode_sample(self, statistic: np.ndarray) -> np.ndarray:
        """A drawn statistic as data."""
        return self.decode(statistic)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Boolean (rows, sites): which sites of a dense statistic are missing."""
        return np.isnan(statistic)

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """From (rows, sites) to (rows, features)."""
        return sites

    def feature_names(self, columns: list[str]) -> list[str]:
        """Names of the statistic's features, given those of the data's columns."""
        return columns

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Features that are ranked among each other, by what their weights say; "" if that goes without saying."""
        return {"": slice(None)}

    def constants(self) -> dict[str, np.ndarray]:
        """Fitted constants, to be saved with a model and handed to `restore`."""
        return {}

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Inverse of `bind` and `constants`: a bound copy."""
        return self.bound(n_features_=n_features, **{f"{name}_": value for name, value in constants.items()})

    # ---- the exponential family --------------------------------------------------------------------------------
    def own_parameters(self) -> dict[str, np.ndarray]:
        """Start values of the family's own free parameters."""
        return {}

    def own_bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of the own parameters; equal bounds mean: fixed."""
        return {}

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """Logarithm of the base measure, elementwise: dense (rows, features), or stored entries with their columns."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Log-normaliser per site, (rows, sites)."""
        raise NotImplementedError

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Expected statistic."""
        raise NotImplementedError

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """One draw of the statistic per row."""
        raise NotImplementedError

    def sample_rows(self, natural: np.ndarray, rng: np.random.Generator, size: np.ndarray | None) -> SparseRows:
        """One draw of the statistic per row, sparse."""
        raise NotImplementedError

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Most probable statistic."""
        raise NotImplementedError

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Natural parameter that has the given mean; ``mean`` is strictly inside its range."""
        raise NotImplementedError

    def statistic_variance(self, mean: np.ndarray, own: Own = NOTHING) -> np.ndarray:
        """Variance of each statistic, (features,), at a mean such as that of the training data."""
        mean, step = mean.astype(np.float64), 1e-3
        size = self.typical_sizes(1)
        if size is not None or self.exclusive:  # features that share a total
            total = 1.0 if size is None else float(size[0])
            return np.maximum(mean * (1 - mean / total), 0)
        natural = self.natural_from_mean(mean)
        own = {name: value.astype(np.float64) for name, value in own.items()}
        # the slope of the mean by the natural parameter
        upper, lower = (self.mean(natural[None, :] + shift, own)[0] for shift in (step, -step))
        return np.maximum(upper - lower, 0) / (2 * step)

    def own_statistics(
        self, mean: np.ndarray, own: Own, is_sample: bool, columns: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Expected derivative of ``log_base`` by each own parameter, elementwise (shapes as in `log_base`).

        ``mean`` is an observed or sampled statistic when ``is_sample``, else the mean of a distribution of this family.
        """
        return {}

    # ---- sparse sampling ---------------------------------------------------------------------------------------
    def tail_factor(self) -> float:
        """A constant c with P(x > 0) <= c exp(natural)."""
        raise NotImplementedError

    def tail_quantile(self, uniform: np.ndarray, natural: np.ndarray) -> np.ndarray:
        """Inverse of the survival function: the number of k >= 0 with P(x > k) > uniform."""
        raise NotImplementedError

    # ---- sizes (of families whose rows have a total or a length) --------------------------------------------------
    def sizes(self, totals: np.ndarray) -> np.ndarray | None:
        """Size of each row, given its total; None if the family has no such notion."""
        return None

    def typical_sizes(self, n_rows: int) -> np.ndarray | None:
        """Size of rows that are not observed."""
        return None
