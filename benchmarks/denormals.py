"""Denormal numbers make matrix products some twenty times slower: training on rare words must not run into them."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse

from common import median, table, write
from harmonium import Bernoulli, BernoulliUnits, Harmonium, MeanFieldCD, Stochastic


def main() -> None:
    rng = np.random.default_rng(0)
    common = scipy.sparse.random_array((2000, 3000), density=0.02, format="csr", dtype=np.float32, rng=rng)
    common.data[:] = 1.0
    # words that hardly ever occur drive their naturals, and with them the means, towards nothing
    rare = common.copy()
    rare.data[rng.random(rare.nnz) < 0.999] = 0.0
    rare.eliminate_zeros()

    left = rng.normal(size=(500, 3000)).astype(np.float32)
    right = rng.normal(size=(3000, 100)).astype(np.float32)
    tiny = np.full_like(left, 1e-40)
    products = {}
    for name, matrix in (("ordinary numbers", left), ("denormal numbers", tiny)):
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            matrix @ right
            seconds.append(time.perf_counter() - begin)
        products[name] = median(seconds)
    rows = [
        [f"NumPy product of {name}", seconds, seconds / products["ordinary numbers"]]
        for name, seconds in products.items()
    ]
    epochs = {}
    for name, words in (("words in 2 % of the documents", common), ("words in 0.002 % of the documents", rare)):
        model = Harmonium(
            100,
            views=Bernoulli(),
            hidden=BernoulliUnits(),
            objective=MeanFieldCD(),
            driver=Stochastic(max_iter=12, learning_rate=0.05, weight_decay=0.0),
            random_state=0,
        ).fit(words)
        epochs[name] = model.history_["seconds"]
        rows.append([f"mean-field epoch, {name}, first", epochs[name][1], 1.0])
        rows.append([f"mean-field epoch, {name}, last", epochs[name][-1], epochs[name][-1] / epochs[name][1]])
    write(
        "denormals",
        "No denormal numbers",
        "The first two rows show what denormal numbers cost on this machine; the others that epochs do not slow down "
        "as means approach zero (goal: ratio below 1.5).\n\n" + table(["what", "seconds", "ratio"], rows),
        "python benchmarks/denormals.py",
    )


if __name__ == "__main__":
    main()
