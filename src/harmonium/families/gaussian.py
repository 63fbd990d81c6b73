"""Real-valued features."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.core.validation import Choice, Number
from harmonium.families.normal import LogVariances, Normal, RealLine
from harmonium.families.protocol.codec import Standardized
from harmonium.families.protocol.scale import scales_of, view_scale


class Gaussian(Normal):
    """Family of real values, whose statistic is the standardised value.

    Standardising makes features of any scale train alike. Given the hidden units, a standardised feature has mean
    σ² · natural and variance σ². Dense columns are centred and scaled; sparse ones are only scaled, as centring would
    make them dense.

    Parameters
    ----------
    variance : float or "learn", default=1.0
        Conditional variance σ² of the standardised features. A number fixes it for all of them, 1.0 being the variance
        of the data; "learn" fits one for each feature, between 0.01 and 1.
    scale : {"auto", "column", "view"}, default="auto"
        What values are divided by: "column" is the standard deviation of each column, so that all columns count alike;
        "view" is one number for all of them, the root of their mean variance, so that columns that vary more count
        more, as for principal components or values of one unit. "auto" is "column", unless something is predicted and
        a linear model of columns on their own scales is clearly better on held-out rows.

    Notes
    -----
    A learned variance starts at 0.5. It cannot exceed the variance of the data, which already holds what hidden units
    explain; the lower limit of 0.01 keeps the likelihood from growing without limit on features that are nearly
    determined. Start and lower limit are conventions.

    Examples
    --------
    >>> Gaussian().mean(np.array([[2.0]]), {"log_variance": np.log([0.5])}).tolist()
    [[1.0]]
    """

    domain = RealLine(-1e4, 1e4)
    location_: np.ndarray
    scale_: np.ndarray

    settings = {
        "variance": Number(remedy="1.0 means: that of the data, or pass 'learn'", also=("learn",)),
        "scale": Choice(("auto", "column", "view")),
    }

    def __init__(
        self, variance: float | Literal["learn"] = 1.0, scale: Literal["auto", "column", "view"] = "auto"
    ) -> None:
        self.variance = variance
        self.scale = scale

    def check(self) -> None:
        """Refuse variances to be learned on a scale on which those of the data differ."""
        super().check()
        if self.scale == "view" and self.variance == "learn":
            raise ValueError(
                "Gaussian learns variances up to those of the data, which must be 1; got scale='view'; pass "
                "scale='column', or a number as variance."
            )

    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 1, as any numbers will do if no other family suits them better."""
        return 1

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows the location and the scale of each column.

        The scale of a column that never varies is 1.
        """
        scale = scales_of(summary.variance, summary.mean, summary.is_sparse)
        location = np.zeros_like(summary.mean) if summary.is_sparse else summary.mean
        scale = view_scale(scale) if self.scale == "view" else scale
        return self.with_fitted(n_features_=summary.n_columns, location_=location, scale_=scale)

    @property
    def codec(self) -> Standardized:
        """The standardised values."""
        return Standardized(self.n_features_, self.location_, self.scale_)

    @property
    def extra_parameters(self) -> LogVariances:
        """Logarithms of the variances, with equal limits if the variance is fixed."""
        if self.variance == "learn":
            return LogVariances(self.n_features_, np.log(0.5), float(np.log(0.01)), 0.0)
        fixed = float(np.log(self.variance))
        return LogVariances(self.n_features_, fixed, fixed, fixed)
