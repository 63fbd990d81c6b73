"""The protocol of a view's family: support, sufficient statistic, log-partition, mean and sampler.

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

from harmonium.distributions import Distribution
from harmonium.families.sites import Rest, probe_feature
from harmonium.families.sparse_draws import SparseDraw
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.parts import Part
from harmonium.support import Support

Own = Mapping[str, np.ndarray]
NOTHING: Own = {}


class Family(Part):
    """Base of the families: an exponential family that describes one view.

    A subclass with independent features defines `distribution` and `natural_from_mean`; the rest follows.
    Other families define support, log-partition, mean, sampler and mode themselves. A family as the user makes it holds
    settings alone; `bind` returns a fitted copy that also knows the data, and only such copies are asked for densities.

    Attributes
    ----------
    n_features_ : int
        Width of the statistic, set by `bind`.
    natural_limits : tuple of float
        Limits to which `clamp` keeps natural parameters before means are formed. Beyond them float32 means become
        denormal numbers, which make matrix products about twenty times slower on some processors
        (``benchmarks/denormals``), or overflow. The exact energy never clamps.
    meant_for : str
        What the family is meant for, in words that complete "pass Family() for …".
    remedy : str
        What to do about data outside the support, in words that complete "pass another family, or …".
    data : {"matrix", "sequences"}
        What the items are: rows of a matrix, or `Sequences` of rows, whose number is then the size of an item.
    whole_rows : bool
        Whether a row of the view is observed or missing as a whole.
    rises_together : bool
        Whether the statistics of a column rise and fall together, so that steps of the hidden bias alone cannot follow
        them and training centres the view.
    counts_something : bool
        Whether a value says how often something is there, so that zero means absence and rare features tell more than
        frequent ones.
    encodes_means : bool
        Whether the statistic of the mean of the data is the mean of the statistic.
    pools_variance : bool
        Whether features on a common scale have one variance given the hidden units, the same in all such views.

    See Also
    --------
    harmonium.hidden.HiddenLayer : The counterpart for hidden units.

    Notes
    -----
    The limits of ±30 are a convention: e⁻³⁰ is about 1e-13, far above the smallest normal float32 of about 1e-38, so
    that products of several means are not denormal either.

    Examples
    --------
    >>> from harmonium import Poisson, Views
    >>> counts = np.array([[1, 0], [3, 4]])
    >>> family = Poisson().bind(Views({"words": counts}).source("words").summary())
    >>> natural = family.natural_from_mean(np.array([2.0, 2.0]))
    >>> family.mean(natural[None, :]).round(6).tolist()
    [[2.0, 2.0]]
    """

    role = "family"
    natural_limits: tuple[float, float] = (-30.0, 30.0)
    meant_for: str = ""
    remedy: str = "transform the view first"
    data: Literal["matrix", "sequences"] = "matrix"
    whole_rows: bool = False
    rises_together: bool = False
    counts_something: bool = False
    encodes_means: bool = True
    pools_variance: bool = False
    n_features_: int

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return how well the family suits data for which no family was given.

        The family with the largest number is taken.

        Parameters
        ----------
        summary : harmonium.views.source.Summary
            Column statistics of the data.
        bounded : bool
            Whether hidden units have a largest value.

        Returns
        -------
        int
            0 if the family is only taken when asked for by name, 1 if it takes any numbers, and more the more special
            the numbers are that it takes. A family that may return more than 0 must have defaults for all arguments.
        """
        return 0

    @property
    def support(self) -> Support:
        """Set of values that the data of the view may take."""
        return self.distribution().support

    @property
    def binary(self) -> bool:
        """Whether all features are independent zeros and ones given the hidden units."""
        support = self.support
        return support.integer and (support.lower, support.upper) == (0, 1) and self.n_sites == self.n_features_

    # ---- what may be normalised together ---------------------------------------------------------------------------
    def conflict(self, units: Support) -> str | None:
        """Return why the family cannot be normalised with such hidden units.

        Parameters
        ----------
        units : Support
            Values that a hidden unit may take.

        Returns
        -------
        str or None
            The reason why the partition function is infinite whatever the non-zero weights, and what to use instead;
            None if there is no such reason.
        """
        return None

    def project(self, weights: np.ndarray, bias: np.ndarray, own: Own, units: Support) -> None:
        """Move parameters, in place, to where all natural parameters are allowed.

        Drivers call it after each step. Afterwards the natural parameters must lie where the log-partition is finite,
        whatever the values of the hidden units.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        bias : ndarray of shape (features,)
            Bias of the view.
        own : mapping of str to ndarray
            Own parameters of the family.
        units : Support
            Values that a hidden unit may take.
        """

    def curvature(self, weights: np.ndarray, own: Own) -> np.ndarray | None:
        """Return how fast the log-partitions grow with the square of the hidden units.

        It is only asked for if hidden units have no largest value: their own term -h² / 2s² must outweigh that growth,
        or the model has no finite partition function.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        own : mapping of str to ndarray
            Own parameters of the family.

        Returns
        -------
        ndarray of shape (units, units), or None
            The matrix G if log-partitions grow as hᵀ G h / 2; None if they grow more slowly than any square.
        """
        return None

    # ---- between the user's data and the statistic -------------------------------------------------------------
    def length_normalized(self, summary: Any) -> Self:
        """Return the family as it serves a model that predicts from its hidden means.

        It is asked before `bind`.

        Parameters
        ----------
        summary : harmonium.views.source.Summary
            Column statistics of the training data.

        Returns
        -------
        Family
            The family itself, or a copy in which settings that depend on it are decided.
        """
        return self

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy, which knows the width and the constants of the data.

        Parameters
        ----------
        summary : harmonium.views.source.Summary
            Column statistics of the training data.

        Returns
        -------
        Family
            A copy with `n_features_` and whatever else `constants` returns.
        """
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
        """Return the statistic of dense data.

        Parameters
        ----------
        values : ndarray of shape (rows, columns)
            Data within the support; NaN where a cell is missing.

        Returns
        -------
        ndarray of shape (rows, features)
            The statistic, NaN where it is missing.
        """
        return values

    @property
    def keeps_zeros(self) -> bool:
        """Whether the statistic of zero is zero, which keeps sparse data sparse."""
        return True

    def largest_by_column(self) -> np.ndarray | None:
        """Return the largest value of each column, where columns differ in it.

        Returns
        -------
        ndarray of shape (columns,), or None
            Largest values that the fitted family knows; None if the support says all there is to say.
        """
        return None

    def encode_nonzeros(self, values: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the statistic of the stored entries of sparse data.

        It is only asked for if `keeps_zeros`.

        Parameters
        ----------
        values : ndarray of shape (entries,)
            Stored values.
        columns : ndarray of int of shape (entries,)
            Column of each value.
        starts : ndarray of int of shape (rows + 1,)
            Where the entries of each row begin, and the end of the last.

        Returns
        -------
        ndarray of shape (entries,)
            The statistic of each value.
        """
        return values

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return statistics as data: the inverse of `encode`.

        Parameters
        ----------
        statistic : ndarray of shape (rows, features)
            Statistics, as `encode` and `sample` return them.

        Returns
        -------
        ndarray of shape (rows, columns)
            Values within the support.
        """
        return statistic

    def expected(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Return expected data, in the user's units.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        own : mapping of str to ndarray, optional
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, columns)
            Expected values of the columns. Families whose data have none, such as codes, return the expected statistic
            in their place, (rows, features).
        """
        return self.decode(self.mean(natural, own, size))

    def log_volume(self) -> np.ndarray:
        """Return the logarithm of how much encoding stretches each feature.

        Added to a log-density of the statistic, it gives that of the data in the user's units.

        Returns
        -------
        ndarray of shape (features,)
            Logarithms, zero where the statistic has the scale of the data.
        """
        return np.zeros(self.n_features_)

    def data_scale(self) -> np.ndarray:
        """Return factors of the statistic by which features of the view compare.

        Returns
        -------
        ndarray of shape (features,)
            Factors that only count relative to each other; by default they lead back to the units of the data, so that
            features that vary more count more.
        """
        return np.exp(-self.log_volume())

    def with_view_scale(self) -> Self:
        """Return a fitted copy whose features keep their relative scales.

        Returns
        -------
        Family
            The copy; the family itself, unless it standardises features and may leave that.
        """
        return self

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which sites of a dense statistic are missing.

        Parameters
        ----------
        statistic : ndarray of shape (rows, features)
            Statistics, as `encode` returns them, with NaN where something is missing.

        Returns
        -------
        ndarray of bool of shape (rows, sites)
            True where a site is missing.
        """
        return np.isnan(statistic)

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat values of sites for all features of each site.

        Parameters
        ----------
        sites : ndarray of shape (rows, sites)
            Values of any type.

        Returns
        -------
        ndarray of shape (rows, features)
            For each feature, the value of its site.
        """
        return sites

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return the names of the statistic's features.

        Parameters
        ----------
        columns : list of str
            Names of the columns of the data.

        Returns
        -------
        list of str
            A name for each of the `n_features_` features.
        """
        return columns

    def expected_names(self, features: list[str]) -> list[str]:
        """Return the names of what `expected` returns.

        Parameters
        ----------
        features : list of str
            Names of the features, as `feature_names` returns them.

        Returns
        -------
        list of str
            A name for each column of the expected data.
        """
        return features

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Groups of features that are ranked among each other.

        The keys say what the weights of a group mean; the key is "" where that goes without saying.
        """
        return {"": slice(None)}

    def constants(self) -> dict[str, np.ndarray]:
        """Return the fitted constants, which are saved with a model.

        Returns
        -------
        dict of str to ndarray
            Values by name; the attribute of the same name has a trailing underscore.
        """
        return {}

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy of the family from what was saved.

        Parameters
        ----------
        n_features : int
            Width of the statistic.
        constants : mapping of str to ndarray
            Fitted constants, as `constants` returns them.

        Returns
        -------
        Family
            A copy like the one that `bind` returned.
        """
        return self.with_fitted(n_features_=n_features, **{f"{name}_": value for name, value in constants.items()})

    # ---- the exponential family --------------------------------------------------------------------------------
    def own_parameters(self) -> dict[str, np.ndarray]:
        """Return initial values of the family's own free parameters.

        Returns
        -------
        dict of str to ndarray
            Arrays by name, with the features along their first axis.
        """
        return {}

    def own_bounds(self) -> dict[str, tuple[float, float]]:
        """Return the limits of the own parameters.

        Returns
        -------
        dict of str to tuple of float
            Smallest and largest value by name. Parameters with two equal limits are not learned.
        """
        return {}

    def clamp(self, natural: np.ndarray) -> np.ndarray:
        """Clip natural parameters, in place, to `natural_limits`.

        Within the limits float32 means are neither denormal nor infinite. The exact energy does not clamp.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, features)
            The same array.
        """
        low, high = self.natural_limits
        # not np.clip, whose Python takes longer than the arithmetic of a few thousand cells
        return np.minimum(np.maximum(natural, low, out=natural), high, out=natural)

    def distribution(self, own: Own = NOTHING, columns: np.ndarray | None = None) -> Distribution:
        """Return the distribution of each feature, if features are independent.

        Families whose features depend on each other define all methods that follow themselves.

        Parameters
        ----------
        own : mapping of str to ndarray
            Own parameters of the family.
        columns : ndarray of int of shape (entries,), optional
            Columns of the entries that the distribution is for; by default it is for arrays of shape (rows, features).

        Returns
        -------
        Distribution
            A distribution that works elementwise on such arrays.
        """
        raise NotImplementedError

    def log_base(self, values: np.ndarray, own: Own = NOTHING, columns: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the base measure of each statistic.

        Parameters
        ----------
        values : ndarray of shape (rows, features) or (entries,)
            Statistics, dense or stored entries.
        own : mapping of str to ndarray
            Own parameters of the family.
        columns : ndarray of int of shape (entries,), optional
            Columns of stored entries.

        Returns
        -------
        ndarray of the shape of `values`
            Logarithms. The statistic 0 of a feature must have 0, as sparse views leave it out.
        """
        return self.distribution(own, columns).log_base(values)

    def log_partition(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the normaliser of each site.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        own : mapping of str to ndarray
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, sites)
            Logarithms, exact and in the precision of `natural`.
        """
        return self.distribution(own).log_partition(natural)

    def log_partition_totals(
        self, weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray, own: Own = NOTHING
    ) -> np.ndarray | None:
        """Return the sum of each row's log-partitions, without naturals of all cells.

        They are taken at the clamped natural parameters ``bias + hidden @ weights.T``.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        bias : ndarray of shape (features,)
            Bias of the view.
        hidden : ndarray of shape (rows, units)
            Values of the hidden units.
        own : mapping of str to ndarray
            Own parameters of the family.

        Returns
        -------
        ndarray of shape (rows,), or None
            Sums in float64; None if the family has no other way than `log_partition`.
        """
        return None

    def mean(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Return the expected statistic, the gradient of the log-partition.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        own : mapping of str to ndarray
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, features)
            Means, in the precision of `natural`.
        """
        return self.distribution(own).mean(natural)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, own: Own = NOTHING, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw the statistic of each row once.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters, clamped.
        rng : numpy.random.Generator
            Source of randomness.
        own : mapping of str to ndarray
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, features)
            Statistics, in the precision of `natural`.
        """
        return self.distribution(own).sample(natural, rng)

    def sample_sparsely(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        hidden: np.ndarray,
        rng: np.random.Generator,
        size: np.ndarray | None = None,
    ) -> SparseDraw | None:
        """Draw the statistic of each row once, as sparse rows.

        The distribution must be the one that `sample` draws from at the clamped natural parameters
        ``bias + hidden @ weights.T``.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        bias : ndarray of shape (features,)
            Bias of the view.
        hidden : ndarray of shape (rows, units)
            Values of the hidden units.
        rng : numpy.random.Generator
            Source of randomness.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        SparseDraw or None
            Sparse statistics and, where they came for free, their products with the weights; None if the family has no
            faster way than `sample`.
        """
        return None

    def mode(self, natural: np.ndarray, own: Own = NOTHING, size: np.ndarray | None = None) -> np.ndarray:
        """Return the most probable statistic of each row.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters, clamped.
        own : mapping of str to ndarray
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, features)
            Statistics, in the precision of `natural`.
        """
        return self.distribution(own).mode(natural)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the natural parameters that have given means.

        The biases of a model start from them. They are taken at the initial values of the own parameters.

        Parameters
        ----------
        mean : ndarray of shape (features,) or (rows, features)
            Means of the statistic. Those at or beyond the ends of the possible range are moved inside, by convention
            by about 1e-6. Families that override `saturated_natural` need only take the first shape.

        Returns
        -------
        ndarray of the shape of `mean`
            Finite natural parameters.
        """
        raise NotImplementedError

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, own: Own, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the natural parameters under which each row is most probable.

        Parameters
        ----------
        statistic : ndarray of shape (rows, features)
            Observed statistics.
        natural : ndarray of shape (rows, features)
            Natural parameters that the model has for these rows. A family under which a single value can be made as
            probable as one likes takes from them how closely values lie together, which a single one says nothing of.
        own : mapping of str to ndarray
            Own parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families for which `sizes` returns some.

        Returns
        -------
        ndarray of shape (rows, features)
            Finite natural parameters, close to the best where that is infinite.
        """
        return self.natural_from_mean(statistic)

    def deviation(self, own: Own) -> np.ndarray:
        """Return the standard deviation of each feature given the hidden units.

        It is only asked of families of real numbers.

        Parameters
        ----------
        own : mapping of str to ndarray
            Own parameters of the family.

        Returns
        -------
        ndarray of shape (features,)
            Standard deviations of the statistic.
        """
        raise NotImplementedError

    def own_from_residuals(self, variance: np.ndarray) -> dict[str, np.ndarray]:
        """Return own parameters that fit what hidden units leave out.

        Parameters
        ----------
        variance : ndarray of shape (features,)
            Variance of each statistic around its mean given the hidden units.

        Returns
        -------
        dict of str to ndarray
            Those own parameters that follow from it; none by default.
        """
        return {}

    def with_categories(self, numbers: list[int]) -> Family:
        """Return the family for columns with a known number of values each.

        Parameters
        ----------
        numbers : list of int
            Number of features of each column.

        Returns
        -------
        Family
            The family itself, unless it has to know.
        """
        return self

    def statistic_variance(self, mean: np.ndarray, own: Own = NOTHING) -> np.ndarray:
        """Return the variance of each statistic at a given mean.

        Parameters
        ----------
        mean : ndarray of shape (features,)
            Means of the statistic, such as those of the training data.
        own : mapping of str to ndarray
            Own parameters of the family.

        Returns
        -------
        ndarray of shape (features,)
            Variances, in float64.
        """
        # central differences: their error of about step² is far below what any use of a variance can tell
        natural, step = self.natural_from_mean(mean.astype(np.float64)), 1e-3
        own = {name: value.astype(np.float64) for name, value in own.items()}
        size = self.typical_sizes(1)
        slopes = np.empty_like(natural)
        # the slope of each mean by its own natural parameter: groups move one by one, as those of a column interact
        for group in self.feature_groups.values():
            shift = np.zeros_like(natural)
            shift[group] = step
            upper, lower = (self.mean((natural + signed)[None, :], own, size)[0] for signed in (shift, -shift))
            slopes[group] = (upper - lower)[group]
        return np.maximum(slopes, 0) / (2 * step)

    def variance_within(self, mean: np.ndarray, spread: np.ndarray, own: Own = NOTHING) -> np.ndarray:
        """Return the average variance of each statistic while its mean moves.

        The average over the naturals between two means is their difference by that of their naturals. A variance that
        does not depend on the mean, as that of normal features, is returned as it is.

        Parameters
        ----------
        mean : ndarray of shape (features,)
            Where means begin.
        spread : ndarray of shape (features,)
            Their standard deviation around it. They move by three of it, to the side where the average is larger.
        own : mapping of str to ndarray
            Own parameters of the family.

        Returns
        -------
        ndarray of shape (features,)
            Variances, at least those at the mean, in float64.

        Examples
        --------
        >>> from harmonium import Bernoulli
        >>> rare, spread = np.array([0.002, 0.002]), np.array([1e-6, 0.02])
        >>> Bernoulli().variance_within(rare, spread).round(3).tolist()
        [0.002, 0.017]
        """
        mean, spread = mean.astype(np.float64), np.maximum(spread, 1e-9)

        def average(shift: np.ndarray) -> np.ndarray:
            moved = self.natural_from_mean(mean + shift) - self.natural_from_mean(mean)
            return np.abs(shift) / np.maximum(np.abs(moved), 1e-12)

        # a thousandth of the spread stands for no way at all
        here = np.maximum(average(1e-3 * spread), average(-1e-3 * spread))
        away = np.maximum(average(3 * spread), average(-3 * spread))
        return self.statistic_variance(mean, own) * np.maximum(away / here, 1.0)

    def own_statistics(
        self, mean: np.ndarray, own: Own, is_sample: bool, columns: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Return the expected derivative of `log_base` by each own parameter.

        Parameters
        ----------
        mean : ndarray of shape (rows, features) or (entries,)
            Statistics, dense or stored entries.
        own : mapping of str to ndarray
            Own parameters of the family.
        is_sample : bool
            Whether `mean` holds observed or drawn statistics; if not, it holds means of distributions of this family,
            whose spread counts too.
        columns : ndarray of int of shape (entries,), optional
            Columns of stored entries.

        Returns
        -------
        dict of str to ndarray
            Derivatives by name of the own parameter, elementwise, in the shape of `mean`.
        """
        return {}

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return an unbiased estimate of the pseudo-log-likelihood of an item.

        It is the log-probability of one observed site, drawn at random, given all others, times the number of sites.

        Parameters
        ----------
        values : ndarray of shape (features,)
            Statistic of the item.
        sites : ndarray of int
            Numbers of the sites that are observed, at least one.
        rest : harmonium.families.sites.Rest
            What the item and the model tell about the site.
        rng : numpy.random.Generator
            Source of randomness.
        size : float, optional
            Size of the item; given for families for which `sizes` returns some.

        Returns
        -------
        float
            The estimate, in nats.
        """
        return probe_feature(self, values, sites, rest, rng)

    # ---- sizes (of families whose rows have a total or a length) --------------------------------------------------
    def sizes(self, statistic: Matrix) -> np.ndarray | None:
        """Return the size of each row, its total or its length.

        Parameters
        ----------
        statistic : ndarray or SparseRows of shape (rows, features)
            Observed statistics, zero where something is missing.

        Returns
        -------
        ndarray of shape (rows,), or None
            Sizes; None if rows of the family have none.
        """
        return None

    def typical_sizes(self, n_rows: int) -> np.ndarray | None:
        """Return the sizes that are assumed for rows that are not observed.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n_rows,), or None
            The same size for all rows; None if rows of the family have none.
        """
        return None

    def pull(self, size: np.ndarray | None) -> np.ndarray | None:
        """Return by how much hidden units and rows of a size pull at each other.

        The coupling φ(x)ᵀ W h of a row is multiplied by it.

        Parameters
        ----------
        size : ndarray of shape (rows,), optional
            Sizes of the rows.

        Returns
        -------
        ndarray of shape (rows,), or None
            Positive factors, 1 for the typical size; None if all of them are 1.
        """
        return None


def scale_factors(before: Family, after: Family) -> np.ndarray:
    """Return what the statistics of a family are multiplied by if the scale of its features is another."""
    factors: np.ndarray = before.data_scale() / after.data_scale()
    return factors
