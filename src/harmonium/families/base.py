"""The protocol of a view's family: support, sufficient statistic, log-partition, mean and sampler.

A family describes ``p(x | natural) = exp(natural . statistic(x) + log_base(x) - log_partition(natural))`` and nothing
about training. Throughout, ``natural``, ``mean`` and ``statistic`` are arrays of shape (rows, features) in the
*statistic* space of the family, and ``extra`` holds its extra parameters (a Gaussian's log-variances). What few
families have to say something about is the matter of small objects that each of them carries: how data become
statistics (`Codec`), which natural parameters are allowed (`Domain`), what is learned besides weights and bias
(`ExtraParameters`) and what sizes rows have (`Length`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from harmonium.core.distributions import Distribution
from harmonium.core.parts import Part
from harmonium.core.support import Support
from harmonium.families.numerics.sparse_draws import SparseDraw
from harmonium.families.protocol.codec import Codec
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra, ExtraParameters
from harmonium.families.protocol.length import Length
from harmonium.families.protocol.sites import Rest, probe_feature

# data are at most so large, and so are their means and scales
_LARGEST_CONSTANT = 1e18
_POSITIVE = ("scale", "deviation")


class Family(Part):
    """Base of the families: an exponential family that describes one view.

    A subclass with independent features defines `distribution` and `natural_from_mean`; the rest follows.
    Other families define support, log-partition, mean, sampler and mode themselves. A family as the user makes it holds
    settings alone; `bind` returns a fitted copy that also knows the data, and only such copies are asked for densities.

    Attributes
    ----------
    n_features_ : int
        Width of the statistic, set by `bind`.
    meant_for : str
        What the family is meant for, in words that complete "pass Family() for …".
    counts_something : bool
        Whether a value says how often something is there, so that zero means absence and rare features tell more than
        frequent ones.

    See Also
    --------
    harmonium.hidden.HiddenLayer : The counterpart for hidden units.

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
    meant_for: str = ""
    counts_something: bool = False
    #: names of the fitted constants that are whole numbers
    whole_constants: ClassVar[tuple[str, ...]] = ()
    n_features_: int

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return how well the family suits data for which no family was given.

        The family with the largest number is taken.

        Parameters
        ----------
        summary : harmonium.views.sources.source.Summary
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

    # ---- capabilities ----------------------------------------------------------------------------------------------
    @property
    def codec(self) -> Codec:
        """Relation between the data and the statistic."""
        return Codec(self.n_features_)

    @property
    def domain(self) -> Domain:
        """Natural parameters that are allowed."""
        return Domain()

    @property
    def extra_parameters(self) -> ExtraParameters:
        """Free parameters besides weights and bias."""
        return ExtraParameters()

    @property
    def length(self) -> Length:
        """Sizes of rows, which are given and not modelled."""
        return Length()

    # ---- fitted copies ---------------------------------------------------------------------------------------------
    def bind(self, summary: Any) -> Self:
        """Return a fitted copy, which knows the width and the constants of the data.

        Parameters
        ----------
        summary : harmonium.views.sources.source.Summary
            Column statistics of the training data.

        Returns
        -------
        Family
            A copy with `n_features_` and whatever else `constants` returns.
        """
        return self.with_fitted(n_features_=summary.n_columns)

    def constants(self) -> dict[str, np.ndarray]:
        """Return the fitted constants, which are saved with a model.

        Returns
        -------
        dict of str to ndarray
            Values by name; the attribute of the same name has a trailing underscore.
        """
        return {name[:-1]: value for name, value in vars(self).items() if name[-1] == "_" and name != "n_features_"}

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

        Raises
        ------
        ValueError
            If constants are no numbers that `bind` could have found.
        """
        for name, value in constants.items():
            if value.dtype.kind not in ("iu" if name in self.whole_constants else "iuf"):
                raise ValueError(f"{name} must not be of the type {value.dtype}")
            positive = name in _POSITIVE
            if not (np.abs(value) <= _LARGEST_CONSTANT).all() or (positive and not (value > 0).all()):
                raise ValueError(f"{name} must hold finite numbers{' above 0' if positive else ''}")
        return self.with_fitted(n_features_=n_features, **{f"{name}_": value for name, value in constants.items()})

    # ---- the exponential family --------------------------------------------------------------------------------
    def distribution(self, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> Distribution:
        """Return the distribution of each feature, if features are independent.

        Families whose features depend on each other define all methods that follow themselves.

        Parameters
        ----------
        extra : mapping of str to ndarray
            Extra parameters of the family.
        columns : ndarray of int of shape (entries,), optional
            Columns of the entries that the distribution is for; by default it is for arrays of shape (rows, features).

        Returns
        -------
        Distribution
            A distribution that works elementwise on such arrays.
        """
        raise NotImplementedError

    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the base measure of each statistic.

        Parameters
        ----------
        values : ndarray of shape (rows, features) or (entries,)
            Statistics, dense or stored entries.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        columns : ndarray of int of shape (entries,), optional
            Columns of stored entries.

        Returns
        -------
        ndarray of the shape of `values`
            Logarithms. The statistic 0 of a feature must have 0, as sparse views leave it out.
        """
        return self.distribution(extra, columns).log_base(values)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithm of the normaliser of each site.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, sites)
            Logarithms, exact and in the precision of `natural`.
        """
        return self.distribution(extra).log_partition(natural)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the expected statistic, the gradient of the log-partition.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, features)
            Means, in the precision of `natural`.
        """
        return self.distribution(extra).mean(natural)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw the statistic of each row once.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters, clamped.
        rng : numpy.random.Generator
            Source of randomness.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, features)
            Statistics, in the precision of `natural`.
        """
        return self.distribution(extra).sample(natural, rng)

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
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        SparseDraw or None
            Sparse statistics and, where they came for free, their products with the weights; None if the family has no
            faster way than `sample`.
        """
        return None

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the most probable statistic of each row.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters, clamped.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, features)
            Statistics, in the precision of `natural`.
        """
        return self.distribution(extra).mode(natural)

    def given(self, statistic: np.ndarray, missing: np.ndarray) -> Self:
        """Return the family of missing sites of some rows given their observed ones.

        Its log-partitions and means, at natural parameters of this family, are those of missing sites; they say
        nothing about observed ones.

        Parameters
        ----------
        statistic : ndarray of shape (rows, features)
            Statistics of the rows; what they hold at missing sites does not matter.
        missing : ndarray of bool of shape (rows, sites)
            True where a site is missing.

        Returns
        -------
        Family
            The family itself where sites are independent given the hidden units.
        """
        return self

    def expected(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return expected data, in the user's units.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.
        extra : mapping of str to ndarray, optional
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, columns)
            Expected values of the columns. Families whose data have none, such as codes, return the expected statistic
            of the columns in their place, (rows, features).
        """
        return self.codec.decode(self.mean(natural, extra, size))

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return the natural parameters that have given means.

        The biases of a model start from them. They are taken at the initial values of the extra parameters.

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
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the natural parameters under which each row is most probable.

        Parameters
        ----------
        statistic : ndarray of shape (rows, features)
            Observed statistics.
        natural : ndarray of shape (rows, features)
            Natural parameters that the model has for these rows. A family under which a single value can be made as
            probable as one likes takes from them how closely values lie together, which a single one says nothing of.
        extra : mapping of str to ndarray
            Extra parameters of the family.
        size : ndarray of shape (rows,), optional
            Sizes of the rows; given for families whose rows have sizes.

        Returns
        -------
        ndarray of shape (rows, features)
            Finite natural parameters, close to the best where that is infinite.
        """
        return self.natural_from_mean(statistic)

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variance of each statistic at a given mean.

        Parameters
        ----------
        mean : ndarray of shape (features,)
            Means of the statistic, such as those of the training data.
        extra : mapping of str to ndarray
            Extra parameters of the family.

        Returns
        -------
        ndarray of shape (features,)
            Variances, in float64.
        """
        # central differences: their error of about step² is far below what any use of a variance can tell
        natural, step = self.natural_from_mean(mean.astype(np.float64)), 1e-3
        extra = {name: value.astype(np.float64) for name, value in extra.items()}
        size = self.length.typical(1)
        slopes = np.empty_like(natural)
        # the slope of each mean by its own natural parameter: groups move one by one, as those of a column interact
        for group in self.codec.feature_groups.values():
            shift = np.zeros_like(natural)
            shift[group] = step
            upper, lower = (self.mean((natural + signed)[None, :], extra, size)[0] for signed in (shift, -shift))
            slopes[group] = (upper - lower)[group]
        return np.maximum(slopes, 0) / (2 * step)

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
        rest : harmonium.families.protocol.sites.Rest
            What the item and the model tell about the site.
        rng : numpy.random.Generator
            Source of randomness.
        size : float, optional
            Size of the item; given for families whose rows have sizes.

        Returns
        -------
        float
            The estimate, in nats.
        """
        return probe_feature(self, values, sites, rest, rng)
