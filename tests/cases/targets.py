"""Quick models and targets of every make, for the tests of y."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.heads import MultiLabelHinge

N_ROWS = 12
ROWS = [f"item {number}" for number in range(N_ROWS)]
X = np.random.default_rng(0).normal(size=(N_ROWS, 3))
CODES = np.arange(N_ROWS) % 3
WORDS = np.array(["low", "middle", "high"])
TEXTS = WORDS[CODES]
LABELS = np.stack([CODES == 0, CODES > 0, np.arange(N_ROWS) % 2 == 0], axis=1).astype(int)
NAMES = ["sea", "sky", "sun"]
QUICK: dict[str, Any] = {
    "n_components": 2,
    "driver": Stochastic(max_iter=1),
    "validation_fraction": 0,
    "random_state": 0,
}

#: makes of data frames, from a dict of columns
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
}
#: makes of columns, from a list
COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas categories": pd.Categorical,
    "pandas index": pd.Index,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values]),
    "pyarrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "narwhals": lambda values: nw.from_native(pl.Series(values), series_only=True),
}


def classifier(**keywords: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(**{**QUICK, "head": Hinge(C=1.0), **keywords})


def tagger(**keywords: Any) -> HarmoniumClassifier:
    return classifier(**{"head": MultiLabelHinge(C=1.0), **keywords})


def regressor(**keywords: Any) -> HarmoniumRegressor:
    return HarmoniumRegressor(**{**QUICK, "head": EpsilonInsensitive(C=1.0), **keywords})
