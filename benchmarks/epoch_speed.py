"""CD-1 on 20 Newsgroups (5,000 words, binary, 200 units): throughput against scikit-learn's BernoulliRBM.

The second yardstick is the one dense product of a CD-1 step that cannot be avoided, hidden (batch × 200) @ weights^T
(200 × 5,000), computed by NumPy with all the threads it likes.
"""

from __future__ import annotations

import numpy as np
from sklearn.neural_network import BernoulliRBM

from common import alternate, median, table, write
from harmonium import Harmonium, Momentum, Stochastic
from harmonium.datasets import load_newsgroups
from harmonium.features.text import text_counts

N_UNITS, N_WORDS, EPOCHS, ROUNDS = 200, 5000, 4, 7


def main() -> None:
    texts = load_newsgroups("train", remove=("headers",)).views["text"]
    words, _ = text_counts(texts, max_features=N_WORDS, binary=True)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(N_WORDS, N_UNITS)).astype(np.float32)
    rows = []
    for batch_size in (100, 512):
        hidden = (rng.random((batch_size, N_UNITS)) < 0.5).astype(np.float32)
        n_batches = -(-words.shape[0] // batch_size)

        # whole fits of a few epochs each, so that what a fit does once is shared out alike
        def ours(optimiser: Momentum | None, size: int = batch_size) -> Harmonium:
            driver = Stochastic(EPOCHS, size, learning_rate=0.01 if optimiser else 0.002, optimiser=optimiser)
            return Harmonium(N_UNITS, driver=driver, random_state=0)

        sgd, adam = ours(Momentum(0.0)), ours(None)
        rival = BernoulliRBM(N_UNITS, batch_size=batch_size, n_iter=EPOCHS, learning_rate=0.01, random_state=0)

        def products(state: np.ndarray = hidden, number: int = n_batches) -> None:
            for _ in range(number * EPOCHS):
                state @ weights.T

        seconds = alternate(
            {
                "BernoulliRBM": lambda r=rival: r.fit(words),
                "plain SGD": lambda m=sgd: m.fit(words),
                "Adam": lambda m=adam: m.fit(words),
                "dense product": products,
            },
            ROUNDS,
        )
        for name, values in seconds.items():
            # ratios of runs that stood next to each other
            speedup = median([a / b for a, b in zip(seconds["BernoulliRBM"], values, strict=True)])
            share = median([b / a for a, b in zip(seconds["dense product"], values, strict=True)])
            label = f"harmonium, {name}" if name in ("plain SGD", "Adam") else name
            epoch = median(values) / EPOCHS
            rows.append([batch_size, label, epoch, words.shape[0] / epoch, speedup, share])
    header = ["batch", "method", "seconds an epoch", "documents/s", "× BernoulliRBM", "× dense product"]
    write(
        "epoch_speed",
        "Epoch speed: CD-1 on 20 Newsgroups",
        f"{words.shape[0]:,} documents × {N_WORDS:,} words (CSR float32, {words.nnz / words.shape[0]:.0f} a document), "
        f"{N_UNITS} units; whole fits of {EPOCHS} epochs, median of {ROUNDS} alternate rounds. Goals: at least 5 times "
        "BernoulliRBM's throughput, at most 2 times the time of the dense product.\n\n" + table(header, rows),
        "python benchmarks/epoch_speed.py",
    )


if __name__ == "__main__":
    main()
