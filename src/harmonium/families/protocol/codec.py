"""Codecs: the relation between the columns of a view's data and the features of its statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Codec:
    """Relation between the data of a view and its statistic, by default the same.

    A *site* is a variable that is observed or missing as a whole: a feature unless a subclass says otherwise.

    Parameters
    ----------
    n_features : int
        Width of the statistic.

    Attributes
    ----------
    is_affine : bool
        Whether the statistic of the mean of the data is the mean of the statistic.
    rises_together : bool
        Whether the statistics of a column rise and fall together, so that steps of the hidden bias alone cannot follow
        them and training centres the view.

    Examples
    --------
    >>> codec = Codec(2)
    >>> codec.decode(codec.encode(np.array([[1.0, 3.0]]))).tolist(), codec.feature_names(["width", "length"])
    ([[1.0, 3.0]], ['width', 'length'])
    """

    n_features: int
    is_affine: ClassVar[bool] = True
    rises_together: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """Number of columns of the data."""
        return self.n_features

    @property
    def n_sites(self) -> int:
        """Number of variables that are observed or missing as a whole."""
        return self.n_features

    @property
    def keeps_zeros(self) -> bool:
        """Whether the statistic of zero is zero, which keeps sparse data sparse."""
        return True

    @property
    def largest(self) -> np.ndarray | None:
        """Largest value of each column, where columns differ in it.

        It is None if the support says all there is to say.
        """
        return None

    @property
    def log_volume(self) -> np.ndarray:
        """Logarithm of how much encoding stretches each feature, of shape (features,).

        Added to a log-density of the statistic, it gives that of the data in the user's units.
        """
        return np.zeros(self.n_features)

    @property
    def data_scale(self) -> np.ndarray:
        """Factors of the statistic by which features of the view compare.

        Only their ratios count. By default they lead back to the units of the data, so that features that vary more
        count more.
        """
        return np.exp(-self.log_volume)

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Groups of features that are ranked among each other.

        The keys say what the weights of a group mean; the key is "" where that goes without saying.
        """
        return {"": slice(None)}

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
            Statistics, as `encode` and `Family.sample` return them.

        Returns
        -------
        ndarray of shape (rows, columns)
            Values within the support.
        """
        return statistic

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
            A name for each feature.
        """
        return columns


class WholeRows(Codec):
    """Codec of rows that are observed or missing as a whole."""

    @property
    def n_sites(self) -> int:
        """One, the row."""
        return 1

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which rows are missing."""
        return np.isnan(statistic[:, :1])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat the value of each row over its features."""
        return np.broadcast_to(sites, (len(sites), self.n_features))


@dataclass(frozen=True)
class Standardized(Codec):
    """Codec of columns from which a location is taken, and which are then divided by a scale."""

    location: np.ndarray
    scale: np.ndarray

    @property
    def keeps_zeros(self) -> bool:
        """Whether no column is centred."""
        return not self.location.any()

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the standardised values."""
        return (values - self.location) / self.scale

    def encode_nonzeros(self, values: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the scaled values."""
        return values / self.scale[columns]

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the values on the scale of the data."""
        return statistic * self.scale + self.location

    @property
    def log_volume(self) -> np.ndarray:
        """Minus the logarithm of each column's scale."""
        return -np.log(self.scale)
