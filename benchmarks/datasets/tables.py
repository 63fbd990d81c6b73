"""Tables that only benchmarks read, as they come."""

from __future__ import annotations

import os

import pandas as pd

from harmonium.core.extras import require
from harmonium.datasets._base import archive_path


def load_adult(data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Load the census table "adult", whose column income is to be predicted.

    It is read from ``adult/adult.parquet``, which needs pyarrow (extra ``arrow``).

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    DataFrame
        48,842 rows and 15 columns of whole numbers and categories; "?" stands for a missing one.

    Examples
    --------
    >>> load_adult()["income"].value_counts().tolist()  # doctest: +SKIP
    [37155, 11687]
    """
    require("pyarrow", "A Parquet file")
    return pd.read_parquet(archive_path("adult", "adult.parquet", data_home))


def load_bikewale(data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Load the table of used motor bikes "bikewale", whose column price is to be predicted.

    It is read from ``bikewale/bikewale.csv.gz``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    DataFrame
        9,003 rows and 10 columns: names of bikes, places, colours, addresses of pages, years, kilometres, price.

    Examples
    --------
    >>> int(load_bikewale()["price"].median())  # doctest: +SKIP
    40000
    """
    return pd.read_csv(archive_path("bikewale", "bikewale.csv.gz", data_home))


def load_netflix(data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Load the table of films and series "netflix", whose rating or genres are to be predicted.

    It is read from ``netflix/netflix.csv.gz``, which is encoded as Windows-1252.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    DataFrame
        8,807 rows and 12 columns: titles, people, countries, dates, durations such as "90 min" and "2 Seasons", genres
        separated by commas (``"listed_in"``), and descriptions.

    Examples
    --------
    >>> load_netflix()["movie_type"].value_counts().tolist()  # doctest: +SKIP
    [6131, 2676]
    """
    return pd.read_csv(archive_path("netflix", "netflix.csv.gz", data_home), encoding="cp1252")
