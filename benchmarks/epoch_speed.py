"""CD-1 on 20 Newsgroups (5,000 words, binary, 200 units): throughput against scikit-learn's BernoulliRBM.

The second yardstick is the one dense product of a CD-1 step that cannot be avoided, hidden (batch × 200) @ weights^T
(200 × 5,000), computed by NumPy with all the threads it likes.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.neural_network import BernoulliRBM

from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts
from harmonium.training import Momentum

BENCHMARK = Benchmark(
    title="Epoch speed: CD-1 on 20 Newsgroups",
    claim="CD-1 epochs against scikit-learn's BernoulliRBM and against the one dense product that cannot be avoided",
    minutes=2,
    data=("newsgroups",),
    settings={"units": 200, "words": 5000, "batches": (100, 512), "epochs": 4, "rounds": 3},
    quick={"units": 20, "words": 200, "batches": (512,), "epochs": 1, "rounds": 1},
)
SPEEDUP_GOAL, PRODUCT_GOAL = 5, 2


def run(options: SimpleNamespace) -> Result:
    """Time whole fits of a few epochs each, so that what a fit does once is shared out alike."""
    texts = load_newsgroups("train", remove=("headers",)).views["text"]
    words, _ = text_counts(texts, max_features=options.words, binary=True)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(options.words, options.units)).astype(np.float32)
    rows = []
    for batch_size in options.batches:
        hidden = (rng.random((batch_size, options.units)) < 0.5).astype(np.float32)
        n_batches = -(-words.shape[0] // batch_size)

        def ours(optimizer: Momentum | None, size: int = batch_size) -> Harmonium:
            driver = Stochastic(options.epochs, size, learning_rate=0.01 if optimizer else 0.002, optimizer=optimizer)
            return Harmonium(options.units, driver=driver, random_state=0)

        sgd, adam = ours(Momentum(0.0)), ours(None)
        rival = BernoulliRBM(
            options.units, batch_size=batch_size, n_iter=options.epochs, learning_rate=0.01, random_state=0
        )

        def products(state: np.ndarray = hidden, number: int = n_batches) -> None:
            for _ in range(number * options.epochs):
                state @ weights.T

        seconds = alternate(
            {
                "BernoulliRBM": lambda r=rival: r.fit(words),
                "plain SGD": lambda m=sgd: m.fit(words),
                "Adam": lambda m=adam: m.fit(words),
                "dense product": products,
            },
            options.rounds,
        )
        for name, values in seconds.items():
            # ratios of runs that stood next to each other
            speedup = median([a / b for a, b in zip(seconds["BernoulliRBM"], values, strict=True)])
            share = median([b / a for a, b in zip(seconds["dense product"], values, strict=True)])
            label = f"harmonium, {name}" if name in ("plain SGD", "Adam") else name
            epoch = median(values) / options.epochs
            rows.append([batch_size, label, epoch, words.shape[0] / epoch, speedup, share])
    result = Result()
    result.text(
        f"{words.shape[0]:,} documents × {options.words:,} words (CSR float32, {words.nnz / words.shape[0]:.0f} a "
        f"document), {options.units} units; whole fits of {options.epochs} epochs, median of {options.rounds} "
        f"alternate rounds. Goals: at least {SPEEDUP_GOAL} times BernoulliRBM's throughput, at most {PRODUCT_GOAL} "
        "times the time of the dense product."
    )
    result.table(
        "epochs",
        ["batch", "method", "seconds an epoch", "documents/s", "× BernoulliRBM", "× dense product"],
        rows,
    )
    return result
