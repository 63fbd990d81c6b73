"""Denormal numbers make matrix products some twenty times slower: training on rare words must not run into them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import scipy.sparse

from benchmarks.measuring import median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Bernoulli, Harmonium, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.objectives import MeanFieldCD

BENCHMARK = Benchmark(
    title="No denormal numbers",
    claim="training stays fast when means become tiny",
    minutes=1,
    settings={"documents": 2000, "words": 3000, "epochs": 12, "rounds": 5},
    quick={"documents": 100, "words": 200, "epochs": 3, "rounds": 1},
)
SHARE = 0.02  # of the documents that have a word
RARE = 0.001  # share of those that have it still where words are rare
GOAL = 1.5


def run(options: SimpleNamespace) -> Result:
    """Time a product of denormal numbers, and epochs on frequent and on rare words."""
    rng = np.random.default_rng(0)
    shape = (options.documents, options.words)
    common = scipy.sparse.random_array(shape, density=SHARE, format="csr", dtype=np.float32, rng=rng)
    common.data[:] = 1.0
    # words that hardly ever occur drive their naturals, and with them the means, towards nothing
    rare = common.copy()
    rare.data[rng.random(rare.nnz) < 1 - RARE] = 0.0
    rare.eliminate_zeros()

    left = rng.normal(size=(500, options.words)).astype(np.float32)
    right = rng.normal(size=(options.words, 100)).astype(np.float32)
    tiny = np.full_like(left, 1e-40)
    products = {}
    for name, matrix in (("ordinary numbers", left), ("denormal numbers", tiny)):
        seconds = []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            matrix @ right
            seconds.append(time.perf_counter() - begin)
        products[name] = median(seconds)
    rows = [
        [f"NumPy product of {name}", seconds, seconds / products["ordinary numbers"]]
        for name, seconds in products.items()
    ]
    for share, words in ((SHARE, common), (SHARE * RARE, rare)):
        name = f"mean-field epoch, words in {100 * share:g} % of the documents"
        model = Harmonium(
            100,
            views=Bernoulli(),
            hidden=BernoulliUnits(),
            objective=MeanFieldCD(),
            driver=Stochastic(max_iter=options.epochs, learning_rate=0.05, weight_decay=0.0),
            random_state=0,
        ).fit(words)
        first, last = model.history_["seconds"][1], model.history_["seconds"][-1]
        rows += [[f"{name}, first", first, 1.0], [f"{name}, last", last, last / first]]
    result = Result()
    result.text(
        "The first two rows show what denormal numbers cost on this machine; the others that epochs do not slow down "
        f"as means approach zero (goal: ratio below {GOAL})."
    )
    result.table("seconds", ["what", "seconds", "ratio"], rows)
    return result
