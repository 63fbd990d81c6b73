"""Extra parameters: what a family learns besides the weights and the bias of its view."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Extra = Mapping[str, np.ndarray]
NO_EXTRA: Extra = {}


class ExtraParameters:
    """Free parameters of a family besides weights and bias, by default none.

    Examples
    --------
    >>> from harmonium import Gaussian, Poisson
    >>> Poisson().extra_parameters.bounds, sorted(Gaussian().restore(1, {}).extra_parameters.bounds)
    ({}, ['log_variance'])
    """

    @property
    def pools_variance(self) -> bool:
        """Whether features of all such views have one variance given the hidden units."""
        return False

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest value of each, by name.

        Those with two equal limits are not learned.
        """
        return {}

    @property
    def initial(self) -> dict[str, np.ndarray]:
        """Values at the start, by name, those of features along their first axis."""
        return {}

    def from_residuals(self, variance: np.ndarray) -> dict[str, np.ndarray]:
        """Return values that fit what hidden units leave out.

        Parameters
        ----------
        variance : ndarray of shape (features,)
            Variance of each statistic around its mean given the hidden units.

        Returns
        -------
        dict of str to ndarray
            Those that follow from it, by name.
        """
        return {}

    def statistics(
        self,
        mean: np.ndarray,
        extra: Extra,
        inferred: bool | np.ndarray,
        columns: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:
        """Return the expected derivative of `Family.log_base` by each of them.

        Parameters
        ----------
        mean : ndarray of shape (rows, features) or (entries,)
            Statistics, dense or stored entries.
        extra : mapping of str to ndarray
            Their values.
        inferred : bool or ndarray of bool of the shape of `mean`
            False where `mean` holds observed or drawn statistics; where it holds means of distributions of this family,
            their spread counts too.
        columns : ndarray of int of shape (entries,), optional
            Columns of stored entries.

        Returns
        -------
        dict of str to ndarray
            Derivatives by name, in the shape of `mean`; those of parameters that are not of features have a row for
            each row of `mean`, and a column for each number of the parameter.
        """
        return {}
