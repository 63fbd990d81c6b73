"""Tables as they come: columns of text, numbers and categories, some of them untidy."""

from __future__ import annotations

import os

import pandas as pd

from harmonium.datasets._base import archive_path


def load_wines(data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Load reviews of wines as a raw table.

    It is read from ``wines/wines.csv.gz``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    DataFrame
        5,141 rows. Columns: varietal (4 kinds), title, excerpt and description (texts), points (80 to 100; what is to
        be predicted), price, location (70 places), alcohol (as "13%") and year; some cells are missing.

    Examples
    --------
    >>> load_wines().shape  # doctest: +SKIP
    (5141, 9)
    """
    return pd.read_csv(archive_path("wines", "wines.csv.gz", data_home))
