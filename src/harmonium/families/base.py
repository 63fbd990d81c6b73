"""What a view's family must be able to say: support, sufficient statistic, log-partition, mean and sampler.

A family describes ``p(x | natural) = exp(natural . statistic(x) + log_base(x) - log_partition(natural))`` and nothing
about training. Throughout, ``natural``, ``mean`` and ``statistic`` are arrays of shape (rows, features) in the
*statistic* space of the family, and ``own`` holds the family's own free parameters (a Gaussian's log-variances).

A *site* is a variable that is observed or missing as a whole: a feature for most families, a group of one-hot features
for `Categorical`, the whole row for `ReplicatedSoftmax` and `Chain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from harmonium.families.sites import Rest, probe_feature
from harmonium.families.sparse_draws import SparseDraw
from harmonium.kernels.products import Matrix
from harmonium.laws import Law
from harmonium.parts import Part
from harmonium.support import Support

Own = Mapping[str, np.ndarray]
NOTHING: Own = {}


class Family(Part):
    """Exponential family of one view. Subclasses with independent features name their law.

    Attributes
    ----------
    n_features_ : int
        Width of the statistic, set by `bind`.
    natural_limits : tuple of float
        Where drivers clamp natural parameters before they form means: beyond, float32 means turn into denormals (which
        make matrix products about twenty times slower) or overflow. The exact energy never clamps.
    """

    role = "family"
    natural_limits: tuple[float, float] = (-30.0, 30.0)
    #: what the family is meant for, in words that end "pass Family() for …"
    meant_for: str = ""
    #: what items are: rows of a matrix, or `Sequences` of rows, whose number is then the size of an item
    data: Literal["matrix", "sequences"] = "matrix"
    #: True if a row of the view is observed or missing as a whole
    whole_rows: bool = False
    #: True if the features of a column rise and fall together, which steps of the hidden bias alone cannot follow
    rises_together: bool = False
    n_features_: int

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """How well the family suits data that came without one: the family with the largest number is taken.

        Parameters
        ----------
        summary : views.Summary
            What is known of the columns.
        bounded : bool
            Whether hidden units have a largest value.

        Returns
        -------
        int
            0 if the family has to be asked for by name; 1 if it takes any numbers; more, the more special they are.
            A family that suits anything can be made without arguments.
        """
        return 0

    @property
    def support(self) -> Support:
        """Values the view's data may take."""
        return self.law().support

    @property
    def binary(self) -> bool:
        """Whether every feature is a zero or a one that is independent of the others given the hidden units."""
        support = self.support
        return support.integer and (support.lower, support.upper) == (0, 1) and self.n_sites == self.n_features_

    # ---- what may be normalised together ---------------------------------------------------------------------------
    def conflict(self, units: Support) -> str | None:
        """Why the family has no finite partition function with such hidden units, and what to take; None if it has."""
        return None

    def project(self, weights: np.ndarray, bias: np.ndarray, own: Own, units: Support) -> None:
        """Move parameters, in place, to where naturals are allowed whatever the values of the units."""

    def curvature(self, weights: np.ndarray, own: Own) -> np.ndarray | None:
        """The matrix G, (units, units), if log-partitions grow as hᵀ G h / 2; None if they grow more slowly.

        Asked for only if units have no largest value: what they lose by their own -h²/2s² must be more than that.
        """
        return None

    # ---- between the user's data and the statistic -------------------------------------------------------------
    def bind(self, summary: Any) -> Self:
        """Copy of the family that knows the width and the constants of the data (see `views.Summary`)."""
        return self.with_fitted(n_features_=summary.n_columns)

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
        return self.with_fitted(n_features_=n_features, **{f"{name}_": value for name, value in constants.items()})

    # ---- the exponential family --------------------------------------------------------------------------------
    def own_parameters(self) -> dict[str, np.ndarray]:
        """Start values of the family's own free parameters."""
        return {}

    def own_bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of the own parameters; equal bounds mean: fixed."""
        return {}

    def clamp(self, natural: np.ndarray) -> np.ndarray:
        """Keep naturals, in place, where float32 means are neither denormal nor infinite; the exact energy does not."""
        return np.clip(natural, *self.natural_limits, out=natural)

    def law(self, own: Own = NOTHING, columns: np.ndarray | None = None) -> Law:
        """The law of each feature, or of stored entries with their columns, if features are independent.

        Families whose features are not say all that follows themselves.
        """
        raise NotImplementedError

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """Logarithm of the base measure, elementwise: dense (rows, features), or stored entries with their columns."""
        return self.law(own, columns).log_base(values)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Log-normaliser per site, (rows, sites)."""
        return self.law(own).log_partition(natural)

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Expected statistic."""
        return self.law(own).mean(natural)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """One draw of the statistic per row."""
        return self.law(own).sample(natural, rng)

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """One draw of the statistic per row of ``hidden``, sparse; None if the family cannot do better than `sample`.

        Parameters
        ----------
        weights, bias : ndarray
            Those of the view: naturals are bias + hidden @ weights^T, clamped.
        hidden : ndarray of shape (rows, units)
        rng : numpy.random.Generator
        size : ndarray of shape (rows,), optional
            Sizes of the rows, if the family has such a notion.
        """
        return None

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Most probable statistic."""
        return self.law(own).mode(natural)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Natural parameter that has the given mean; ``mean`` is strictly inside its range."""
        raise NotImplementedError

    def saturated_natural(self, statistic: np.ndarray, own: Own, size: np.ndarray | None = None) -> np.ndarray:
        """Natural parameters under which dense statistics, (rows, features), are as probable as they can be."""
        return self.natural_from_mean(statistic)

    def deviation(self, own: Own) -> np.ndarray:
        """Standard deviation of each feature given the hidden units; asked for only if it takes any real number."""
        raise NotImplementedError

    def statistic_variance(self, mean: np.ndarray, own: Own = NOTHING) -> np.ndarray:
        """Variance of each statistic, (features,), at a mean such as that of the training data."""
        natural, step = self.natural_from_mean(mean.astype(np.float64)), 1e-3
        own = {name: value.astype(np.float64) for name, value in own.items()}
        size = self.typical_sizes(1)
        slopes = np.empty_like(natural)
        # the slope of each mean by its own natural parameter: features of a column move each other, not themselves
        for group in self.feature_groups.values():
            shift = np.zeros_like(natural)
            shift[group] = step
            upper, lower = (self.mean((natural + signed)[None, :], own, size)[0] for signed in (shift, -shift))
            slopes[group] = (upper - lower)[group]
        return np.maximum(slopes, 0) / (2 * step)

    def own_statistics(
        self, mean: np.ndarray, own: Own, is_sample: bool, columns: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Expected derivative of ``log_base`` by each own parameter, elementwise (shapes as in `log_base`).

        ``mean`` is an observed or sampled statistic when ``is_sample``, else the mean of a distribution of this family.
        """
        return {}

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Log-probability of an observed site drawn at random, given all others, times the number of sites.

        Parameters
        ----------
        values : ndarray of shape (features,)
            Statistic of an item.
        sites : ndarray of int
            Numbers of the sites that are observed, at least one.
        rest : Rest
            What the item and the model tell the site.
        rng : numpy.random.Generator
        size : float, optional
            Size of the item, if the family has such a notion.
        """
        return probe_feature(self, values, sites, rest, rng)

    # ---- sizes (of families whose rows have a total or a length) --------------------------------------------------
    def sizes(self, statistic: Matrix) -> np.ndarray | None:
        """Size of each row; None if the family has no such notion."""
        return None

    def typical_sizes(self, n_rows: int) -> np.ndarray | None:
        """Size of rows that are not observed."""
        return None
