"""Small raw tables for the tests of `harmonium.tables`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from harmonium import HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.heads import EpsilonInsensitive
from harmonium.tables.column import Column

PLACES = ["Rioja", "Mosel", "Napa"]
WORDS = ["dark", "cherry", "oak", "fresh", "lemon", "crisp", "plum", "smoke"]


def column(values: Any, name: str = "x") -> Column:
    return Column(name, nw.from_native(pd.Series(values), series_only=True))


def wine_list(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """A table with a column of every role; "points" depends on price and on a word."""
    rng = np.random.default_rng(seed)
    dark = rng.random(n_rows) < 0.5
    price = np.exp(rng.normal(3, 0.6, n_rows)).round(2)
    frame = pd.DataFrame(
        {
            "wine_id": np.arange(1000, 1000 + n_rows),
            "review": [
                " ".join(["dark" if d else "crisp", *rng.choice(["cherry", "oak", "fresh", "lemon", "plum"], 6)])
                + f" wine {i % 7} of the year"
                for i, d in enumerate(dark)
            ],
            "place": rng.choice(PLACES, n_rows),
            "price": price,
            "alcohol": [f"{value:.1f}%" for value in rng.normal(13, 1, n_rows)],
            "year": rng.integers(2005, 2020, n_rows),
            "awards": rng.poisson(0.7, n_rows),
            "organic": rng.choice(["yes", "no"], n_rows),
            "grapes": ["|".join(sorted(set(rng.choice(["a", "b", "c", "d"], 2)))) for _ in range(n_rows)],
            "tasted": [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 700, n_rows)],
            "country": "Spain",
        }
    )
    frame["points"] = 85 + 3 * np.log(price) + 2 * dark + rng.normal(0, 0.3, n_rows)
    return frame


def quick_regressor(**settings: Any) -> HarmoniumRegressor:
    settings = {"driver": Stochastic(max_iter=2), "head": EpsilonInsensitive(C=1.0), "random_state": 0} | settings
    return HarmoniumRegressor(3, validation_fraction=0.0, **settings)


def quick_classifier(**settings: Any) -> HarmoniumClassifier:
    settings = {"driver": Stochastic(max_iter=2), "head": Hinge(C=1.0), "random_state": 0} | settings
    return HarmoniumClassifier(3, validation_fraction=0.0, **settings)
