"""Gaussian priors of weights: given, drawn with them, or estimated from the draws (empirical Bayes)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.core.parts import Part
from harmonium.core.validation import Choice, Flag, Number
from harmonium.training.posterior.normals import SMALLEST, JointMoments, JointNormal, Moments, Normal

# Share of the mean variance that a feature gets at least where the prior begins at given weights: a convention.
_LEAST_SHARE = 0.1
# Most features of a view whose weights have a joint prior: a limit of memory and time, a convention.
_MOST_FEATURES = 2000


class Prior(Part):
    """Base of all priors of a view's weights: normals, the same for all units.

    A subclass defines `start`; and `update`, if it learns from draws, or `draw`, if it is drawn with the weights.

    Attributes
    ----------
    learns : bool
        Whether `update` is called during the warm-up.
    is_drawn : bool
        Whether each chain draws a prior of its own by `draw`, after every move.

    Examples
    --------
    >>> GaussianPrior().learns, EmpiricalBayes().learns
    (False, True)
    """

    role = "prior"
    suffix = "Prior"
    learns = False
    is_drawn = False

    def check_view(self, view: str, n_features: int) -> None:
        """Refuse views that the prior is not made for.

        Parameters
        ----------
        view : str
            Name of the view.
        n_features : int
            Number of its features.
        """

    def moments(self, n_features: int) -> Moments:
        """Return sums over no draws yet, for `update`.

        Parameters
        ----------
        n_features : int
            Number of features of the view.

        Returns
        -------
        Moments
            Sums of the weights of each feature and of their squares, and whatever else `update` needs.
        """
        return Moments.none(n_features)

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """Return the prior as chains begin.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights at which chains start, those of all chains side by side.
        unit_scale : float
            Standard deviation of weights at which hidden naturals vary by about one over the items.

        Returns
        -------
        Normal
            Mean and variance of the weights of each feature.
        """
        raise NotImplementedError

    def update(self, current: Normal, moments: Moments, unit_scale: float = 1.0) -> Normal:
        """Return the prior after the draws of a step of Monte Carlo EM.

        Parameters
        ----------
        current : Normal
            The prior that the draws were made with.
        moments : Moments
            Sums of the weights of each feature, and of their squares, over draws, chains and units.
        unit_scale : float, default=1.0
            Standard deviation of weights at which hidden naturals vary by about one over the items.

        Returns
        -------
        Normal
            Mean and variance of the weights of each feature, with variances above zero.
        """
        return current

    def draw(self, current: Normal, weights: np.ndarray, unit_scale: float, rng: np.random.Generator) -> Normal:
        """Return a draw of the prior given the weights of a chain: a Gibbs step.

        Parameters
        ----------
        current : Normal
            The prior as it is.
        weights : ndarray of shape (features, units)
            Where the chain is.
        unit_scale : float
            Standard deviation of weights at which hidden naturals vary by about one over the items.
        rng : numpy.random.Generator
            Random numbers of the chain.

        Returns
        -------
        Normal
            Mean and variance of the weights of each feature.
        """
        return current


class GaussianPrior(Prior):
    """The same normal prior for all weights of a view.

    Parameters
    ----------
    mean : float, default=0.0
        Mean μ.
    scale : float, optional
        Standard deviation σ. Default: the scale at which naturals of hidden units vary by about one over the items. A
        much larger one leaves weights without hold where data say little, such as features that are nearly always one.

    Examples
    --------
    >>> GaussianPrior(scale=0.1).start(np.ones((2, 3)), unit_scale=1.0).variance.astype(float).round(4).tolist()
    [0.01, 0.01]
    """

    settings = {
        "mean": Number(lower=-np.inf, remedy="0 is usual"),
        "scale": Number(remedy="None takes it from the data", also=(None,)),
    }

    def __init__(self, mean: float = 0.0, scale: float | None = None) -> None:
        self.mean = mean
        self.scale = scale

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """Return the prior itself."""
        return _constant(len(weights), self.mean, unit_scale if self.scale is None else self.scale)


class HierarchicalPrior(Prior):
    """Normal prior around zero whose variance is drawn with the weights.

    The variance, one for all features and units of a view, has a scaled inverse chi-squared prior: it is known
    beforehand as well as from ``degrees`` weights. Each chain draws it from its conditional distribution after every
    move, so that intervals also say how uncertain the scale is. An estimate does not, and falls to zero where items are
    few (`EmpiricalBayes`).

    Parameters
    ----------
    degrees : float, default=1.0
        Number of weights that the variance beforehand counts for.
    scale : float, optional
        Scale beforehand. Default: that of ``GaussianPrior()``.

    References
    ----------
    Gelman (2006), Prior distributions for variance parameters in hierarchical models.

    Examples
    --------
    >>> prior, rng = HierarchicalPrior(), np.random.default_rng(0)
    >>> weights = 0.1 * rng.standard_normal((100, 50))
    >>> before = prior.start(weights, unit_scale=1.0)
    >>> after = prior.draw(before, weights, 1.0, rng)
    >>> before.variance[0].item(), round(float(np.sqrt(after.variance[0])), 2)
    (1.0, 0.1)
    """

    settings = {
        "degrees": Number(remedy="1 is usual"),
        "scale": Number(remedy="None takes it from the data", also=(None,)),
    }
    is_drawn = True

    def __init__(self, degrees: float = 1.0, scale: float | None = None) -> None:
        self.degrees = degrees
        self.scale = scale

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """Return a normal of the scale beforehand."""
        return _constant(len(weights), 0.0, self._scale(unit_scale))

    def draw(self, current: Normal, weights: np.ndarray, unit_scale: float, rng: np.random.Generator) -> Normal:
        """Return a normal whose variance is drawn given the weights."""
        total = np.square(weights, dtype=np.float64).sum() + self.degrees * self._scale(unit_scale) ** 2
        return _constant(len(weights), 0.0, float(np.sqrt(total / rng.chisquare(self.degrees + weights.size))))

    def _scale(self, unit_scale: float) -> float:
        return unit_scale if self.scale is None else self.scale


class EmpiricalBayes(Prior):
    """Normal prior whose mean and variance are estimated from draws of the weights.

    They follow the draws during the warm-up (Monte Carlo EM), and stay as they are while draws are kept.

    Parameters
    ----------
    per : {"view", "input"}, default="view"
        Whether all features of a view share one prior, or each has its own, as in the paper. The latter has as many
        means to learn as there are features; with few items it trusts them too much (benchmark bayes_recovery).
    centred : bool, default=False
        Whether the mean is held at zero. Then the prior is the same in all rotations of Gaussian units, which are
        arbitrary.
    begin : {"data", "weights"}, default="data"
        Where it begins: as ``GaussianPrior()`` does, or at mean and variance of the weights that chains start from, as
        in the paper. It matters where data say little, as Monte Carlo EM then moves little.
    shrinkage : float, default=0.0
        Share of the variance that is that of ``GaussianPrior()``, whatever the draws: the mode of the variance with an
        inverse gamma prior. Where items are few, the variance of the largest likelihood is often near zero, and
        intervals of its draws are too narrow. 0 is maximum likelihood, as in the paper.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums, eq. 23-27.

    Examples
    --------
    >>> moments = Moments.none(2)
    >>> moments.add(np.array([[0.0, 2.0], [3.0, 3.0]]))
    >>> before = GaussianPrior(scale=1.0).start(np.zeros((2, 2)), 1.0)
    >>> EmpiricalBayes().update(before, moments).mean.tolist()
    [2.0, 2.0]
    >>> EmpiricalBayes(per="input").update(before, moments).mean.tolist()
    [1.0, 3.0]
    """

    settings = {
        "per": Choice(("view", "input")),
        "centred": Flag(),
        "begin": Choice(("data", "weights")),
        "shrinkage": Number(inclusive=True, below=1.0, remedy="0.1 keeps the variance from zero, 0 is the paper's"),
    }
    learns = True

    def __init__(
        self,
        per: Literal["view", "input"] = "view",
        centred: bool = False,
        begin: Literal["data", "weights"] = "data",
        shrinkage: float = 0.0,
    ) -> None:
        self.per = per
        self.centred = centred
        self.begin = begin
        self.shrinkage = shrinkage

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """Return a prior of unit scale, or one with the moments of the weights.

        Features whose weights are all alike still get some variance.
        """
        if self.begin == "data":
            return _constant(len(weights), 0.0, unit_scale)
        moments = Moments.none(len(weights))
        moments.add(weights)
        found = self._estimate(moments)
        typical = float(found.variance.mean(dtype=np.float64))
        return Normal(found.mean, np.maximum(found.variance, np.float32(_LEAST_SHARE * typical)))

    def update(self, current: Normal, moments: Moments, unit_scale: float = 1.0) -> Normal:
        """Return the moments of the weights over units, chains and draws.

        The variance is drawn to that of unit scale by ``shrinkage``.
        """
        found = self._estimate(moments)
        variance = (1 - self.shrinkage) * found.variance + self.shrinkage * unit_scale**2
        return Normal(found.mean, variance.astype(np.float32))

    def _estimate(self, moments: Moments) -> Normal:
        """Return mean and variance from moments, shared by features if ``per`` is "view"."""
        mean, square = moments.total / moments.count, moments.squares / moments.count
        if self.centred:
            mean = np.zeros_like(mean)
        if self.per == "view":
            mean, square = np.full_like(mean, mean.mean()), np.full_like(square, square.mean())
        return Normal(mean.astype(np.float32), np.maximum(square - mean**2, SMALLEST).astype(np.float32))


class JointEmpiricalBayes(Prior):
    """Normal prior of a unit's weights, with a full covariance learned from draws.

    Each column of the weights is a draw of N(μ, Σ), where Σ has an entry for each pair of features: features that go
    together in some units are expected to go together in others. It costs the square of the number of features in each
    move and takes many units to learn from; of few, covariances are shrunk to zero.

    Parameters
    ----------
    centred : bool, default=False
        Whether the mean is held at zero. Then the prior is the same in all rotations of Gaussian units, which are
        arbitrary.
    shrinkage : float, default=1.0
        Number of units for each feature that are added to those of the draws, with the same variances and no
        covariances: the mode of the posterior of Σ with an inverse Wishart prior. 0 is maximum likelihood, as in the
        paper.
    begin : {"data", "weights"}, default="data"
        Where it begins: as ``GaussianPrior()`` does, or at the moments of the weights that chains start from.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums, eq. 7 and 23.

    Examples
    --------
    >>> prior = JointEmpiricalBayes(centred=True, shrinkage=0.0)
    >>> moments = prior.moments(2)
    >>> moments.add(np.array([[1.0, -1.0], [2.0, 0.0]]))
    >>> before = prior.start(np.zeros((2, 2)), 1.0)
    >>> prior.update(before, moments).covariance.tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    settings = {
        "centred": Flag(),
        "shrinkage": Number(inclusive=True, remedy="1 is usual"),
        "begin": Choice(("data", "weights")),
    }
    learns = True

    def __init__(
        self, centred: bool = False, shrinkage: float = 1.0, begin: Literal["data", "weights"] = "data"
    ) -> None:
        self.centred = centred
        self.shrinkage = shrinkage
        self.begin = begin

    def check_view(self, view: str, n_features: int) -> None:
        """Refuse views whose covariance would take too much memory and time."""
        if n_features > _MOST_FEATURES:
            raise ValueError(
                f"JointEmpiricalBayes needs views of at most {_MOST_FEATURES} features; {view!r} has {n_features}; use "
                "EmpiricalBayes(per='input'), which has no covariances."
            )

    def moments(self, n_features: int) -> Moments:
        """Return sums over no draws yet, those of products among them."""
        return JointMoments.none(n_features)

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """Return a prior of unit scale, or one with the shrunk moments of the weights."""
        if self.begin == "data":
            like = _constant(len(weights), 0.0, unit_scale)
            return JointNormal.of(like.mean, np.diag(like.variance))
        moments = self.moments(len(weights))
        moments.add(weights)
        found = self._estimate(moments)
        least = _LEAST_SHARE * float(found.variance.mean(dtype=np.float64))
        return JointNormal.of(found.mean, found.covariance + np.diag(np.maximum(least - found.variance, 0)))

    def update(self, current: Normal, moments: Moments, unit_scale: float = 1.0) -> Normal:
        """Return the moments of columns over units, chains and draws, shrunk."""
        return self._estimate(moments)

    def _estimate(self, moments: Moments) -> JointNormal:
        assert isinstance(moments, JointMoments) and moments.products is not None
        mean = np.zeros_like(moments.total) if self.centred else moments.total / moments.count
        covariance = moments.products / moments.count - np.outer(mean, mean)
        added = self.shrinkage * len(mean)
        kept = moments.n_units / (moments.n_units + added)
        variance = np.diag(covariance).copy()
        covariance *= kept
        np.fill_diagonal(covariance, variance)
        return JointNormal.of(mean, covariance)


def _constant(n_features: int, mean: float, scale: float) -> Normal:
    """Return the same mean and standard deviation for all features."""
    return Normal(np.full(n_features, mean, np.float32), np.full(n_features, max(scale**2, SMALLEST), np.float32))
