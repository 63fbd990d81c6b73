"""A table with words, numbers, classes and labels, small enough to be fitted in a moment."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harmonium import TableViews

RNG = np.random.default_rng(0)
N = 160
KIND = RNG.integers(0, 2, N)
FRAME = pd.DataFrame(
    {
        "text": [" ".join(RNG.choice(["dirty rude noisy", "clean quiet kind"][k].split(), 3)) for k in KIND],
        "price": np.where(RNG.random(N) < 0.1, np.nan, 50.0 + 30 * KIND + 5 * RNG.normal(size=N)),
        "stars": 1.0 + 3 * KIND + 0.3 * RNG.normal(size=N),
        "class": np.array(["bad", "good"])[KIND],
        "tags": np.array(["bad|cheap", "good|dear"])[KIND],
    }
)
READER = TableViews({"text": "words", "price": "number"}, remainder="drop")
