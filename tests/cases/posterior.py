"""Two views, and models that are sampled quickly."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium import BDWH, Harmonium, Langevin, Stochastic

QUICK = {"n_draws": 6, "n_warmup": 20, "thin": 2, "n_chains": 2, "start": Stochastic(max_iter=2)}


def two_views(n_rows: int = 40, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n_rows, 2))
    return {
        "words": (rng.random((n_rows, 9)) < 1 / (1 + np.exp(-topics @ rng.normal(size=(2, 9))))).astype(float),
        "colour": topics @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(n_rows, 4)),
    }


def fitted(**settings: Any) -> Harmonium:
    return BDWH(3, driver=Langevin(**{**QUICK, **settings}), random_state=0).fit(two_views())
