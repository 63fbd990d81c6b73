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
