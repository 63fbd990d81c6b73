"""Real-valued hidden units whose coordinates are chosen after a fit, so that they can be read: factors."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Literal, Self

import numpy as np

from harmonium.core.support import Support
from harmonium.core.validation import Choice
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.groups import ROTATIONS, Coordinates

_LOG_TWO_PI = float(np.log(2 * np.pi))


class FactorUnits(HiddenLayer):
    """Hidden layer of factors: real units in coordinates that people can read.

    What real units mean is settled up to linear maps alone: with h = B f, p(x) stays as it is for every invertible B.
    After `fit` the units are the factors f for which, over the training rows, expectations are uncorrelated and have
    mean 0 and variance 1, and which are simple: each has few large weights. They come in the order of the variance that
    they explain, and the largest weight of each is positive. Factors that no row needs are dropped.

    Parameters
    ----------
    rotation : {"varimax", "promax"} or None, default="varimax"
        What is simple: "varimax" has uncorrelated factors whose squared loadings vary most, "promax" lets them
        correlate, and None takes principal axes, so that no other factor explains more than the first.
    equal : {"views", "features"}, default="views"
        What counts the same when it is judged what is simple. With "views" loadings are in the units of the data, and
        every view has the same total variance; with "features" they are those of standardised features, so that views
        with many of them count more.
    n_units : int, optional
        Largest number of factors. By default it is the ``n_components`` of the estimator.

    See Also
    --------
    GaussianUnits : Real units in the coordinates in which they were trained.
    harmonium.training.Spectral : The driver that finds factors, and how many there are; the default for this layer.

    Notes
    -----
    Given x, factors are normal with covariance S and mean S (λ + Wᵀφ(x)). Training begins with S = 1, as the units of
    Chen et al. (2012) have it; B turns S into B⁻¹ S B⁻ᵀ, W into W B, and the weights V of a head into Bᵀ V.

    Draws from a posterior, and models that are trained by ``partial_fit`` alone, stay in the coordinates in which they
    were trained.

    Loadings of balanced views are those that principal components of such views have. As what is simple is judged by
    fourth powers, views of few features have more say in it, whose loadings are larger: factors come near to single
    features of theirs, such as mutations. With ``equal="features"`` factors are simple for the views with many
    features, and are found there even if nothing in the small views stands for them (``benchmarks/factors``).

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(300, 2))
    >>> X = factors @ np.kron(np.eye(2), np.ones((1, 10))) + rng.normal(size=(300, 20))
    >>> model = Harmonium(10, hidden=FactorUnits(), random_state=0).fit(X)
    >>> found = model.transform(X)
    >>> found.shape, bool(np.abs(np.corrcoef(found.T, factors.T)[:2, 2:]).max(axis=1).min() > 0.9)
    ((300, 2), True)
    """

    settings = {
        **HiddenLayer.settings,
        "equal": Choice(("views", "features"), remedy="'views' is usual"),
        "rotation": Choice(tuple(ROTATIONS), remedy="'varimax' is usual"),
    }
    linear_mean = True
    covariance_: np.ndarray

    def __init__(
        self,
        rotation: Literal["varimax", "promax"] | None = "varimax",
        equal: Literal["views", "features"] = "views",
        n_units: int | None = None,
    ) -> None:
        super().__init__(n_units)
        self.rotation = rotation
        self.equal = equal

    def restore(self, n_units: int) -> Self:
        """Return a fitted copy with a given number of units, whose covariance is 1."""
        layer = super().restore(n_units)
        return layer.at(layer.extra_parameters())

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Tell whether the settings are the same, and no units were added."""
        return self._same_settings(began) and began.n_units_ <= self.n_units_

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates of simple structure."""
        return Coordinates(self.rotation, balances_views=self.equal == "views")

    # ---- extra parameters ----------------------------------------------------------------------------------------
    def extra_parameters(self) -> dict[str, np.ndarray]:
        """Return the covariance that training begins with."""
        return {"covariance": np.eye(self.n_units_)}

    def at(self, extra: Mapping[str, np.ndarray]) -> Self:
        """Return the layer with a given covariance."""
        layer = copy(self)
        for name in ("_precision", "_factor", "_log_volume"):
            layer.__dict__.pop(name, None)
        layer.covariance_ = extra["covariance"]
        return layer

    @cached_property
    def _precision(self) -> np.ndarray:
        return np.asarray(np.linalg.inv(self.covariance_.astype(np.float64)))

    @cached_property
    def _factor(self) -> np.ndarray:
        return np.asarray(np.linalg.cholesky(self.covariance_.astype(np.float64)))

    @cached_property
    def _log_volume(self) -> float:
        """Share of each unit in the logarithm of the normaliser at zero."""
        return float(np.log(np.diag(self._factor)).mean() + 0.5 * _LOG_TWO_PI)

    # ---- distribution ------------------------------------------------------------------------------------------
    @property
    def support(self) -> Support:
        """All finite real numbers."""
        return Support("finite real numbers")

    @property
    def conditional_variance(self) -> np.ndarray:
        """Covariance S of the units."""
        return self.covariance_

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return the terms of -hᵀ S⁻¹ h / 2, unit by unit."""
        return _kept(-0.5 * values * (values @ self._precision), values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the terms of ``(aᵀ S a + log |2πS|) / 2`` for naturals a, unit by unit."""
        return _kept(0.5 * natural * self.mean(natural) + self._log_volume, natural)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return S times the naturals."""
        return natural @ self.covariance_.astype(natural.dtype, copy=False)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Return the variance of each unit."""
        return np.broadcast_to(np.diag(self.covariance_).astype(natural.dtype), natural.shape)

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the units of each row together."""
        noise = rng.standard_normal(natural.shape, dtype=np.float32)
        return self.mean(natural) + _kept(noise @ self._factor.T, natural)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the mean."""
        return self.mean(natural)


def _kept(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return values in the precision of others."""
    return values.astype(like.dtype, copy=False)
