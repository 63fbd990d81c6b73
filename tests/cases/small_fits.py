"""Small fits of every kind and what they answer: `python -m tests.cases.small_fits ANSWERS.npz`.

Whoever runs it in another environment, without compiled loops or with another BLAS, can compare.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Langevin, Stochastic
from harmonium.recipes import BEFH, RAP, iEFH, structMMH
from harmonium.views import Sequences
from harmonium.weak import Bags, LatentSVM

N_ROWS = 48


def rows(n_columns: int) -> np.ndarray:
    """Numbers between -1 and 1 that look as if they were drawn, by exact arithmetic alone."""
    row, column = np.arange(N_ROWS)[:, None], np.arange(n_columns)
    return ((row * 37 + column * 53 + row * row * 3) % 128) / 64.0 - 1.0


CLASSES = np.arange(N_ROWS) % 2
NUMBERS = 3.0 * CLASSES + rows(1)[:, 0]
_SPREAD = (np.arange(N_ROWS)[:, None] * 7 + np.arange(8) * 5) % 11
WORDS = (np.where(np.arange(8) % 2 == CLASSES[:, None], 7, 2) > _SPREAD).astype(float)
COLOURS = rows(3) + 2.0 * CLASSES[:, None]


def table() -> pd.DataFrame:
    names = np.array([["sea", "snow"], ["sand", "rope"], ["boat", "hut"], ["wave", "pass"]])
    texts = [" ".join(names[(row[::2] > 0) | (kind > 0), kind]) for row, kind in zip(WORDS, CLASSES, strict=True)]
    return pd.DataFrame({"text": texts, "height": COLOURS[:, 0], "where": np.array(list("abc"))[np.arange(N_ROWS) % 3]})


def views() -> Any:
    return {"words": WORDS, "colour": COLOURS}


def of_views() -> dict[str, np.ndarray]:
    model = Harmonium(3, driver=Stochastic(max_iter=3), random_state=0).fit(views())
    return {"transform": model.transform(views()), "predict_view": model.predict_view("words", {"colour": COLOURS})}


def of_classes() -> dict[str, np.ndarray]:
    driver = Stochastic(max_iter=10)  # the slowest without compiled loops
    model = HarmoniumClassifier(3, driver=driver, random_state=0).fit(views(), CLASSES)
    return {"transform": model.transform(views()), "predict_proba": model.predict_proba(views())}


def of_table() -> dict[str, np.ndarray]:
    model = HarmoniumRegressor(3, random_state=0).fit(table(), NUMBERS)
    return {"transform": model.transform(table()), "predict": model.predict(table())}


def of_counts() -> dict[str, np.ndarray]:
    counts = np.floor(8 * np.abs(rows(6))) * WORDS[:, :6]
    model = RAP(3, driver=Stochastic(max_iter=3), random_state=0).fit(counts)
    return {"transform": model.transform(counts)}


def of_infinite() -> dict[str, np.ndarray]:
    model = iEFH(6, driver=Stochastic(max_iter=3), random_state=0).fit(WORDS)
    return {"transform": model.transform(WORDS)}


def of_sequences() -> dict[str, np.ndarray]:
    items = Sequences(WORDS, np.arange(0, N_ROWS + 1, 3))
    model = structMMH(2, driver=Stochastic(max_iter=2), random_state=0).fit(items, CLASSES[::3])
    return {"transform": model.transform(items), "decision_function": model.decision_function(items)}


def of_draws() -> dict[str, np.ndarray]:
    driver = Langevin(n_chains=2, n_draws=4, n_warmup=6, thin=2, start=Stochastic(max_iter=2))
    model = BEFH(2, driver=driver, random_state=0).fit(WORDS)
    return {"transform": model.transform(WORDS)}


def of_bags() -> dict[str, np.ndarray]:
    bags = Bags.from_list(list(COLOURS.reshape(-1, 3, 3)))
    model = LatentSVM(max_iter=2, random_state=0).fit(bags, CLASSES[::3])
    return {"decision_function": model.decision_function(bags)}


FITS: dict[str, Callable[[], dict[str, np.ndarray]]] = {
    "views": of_views,
    "classes": of_classes,
    "table": of_table,
    "counts": of_counts,
    "infinite": of_infinite,
    "sequences": of_sequences,
    "draws": of_draws,
    "bags": of_bags,
}


def answers() -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, fit in FITS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found |= {f"{name}: {question}": np.asarray(answer) for question, answer in fit().items()}
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **answers())
