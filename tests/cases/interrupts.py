"""A process that interrupts itself at random moments and prints, as JSON, what came of it (arguments: times, seed)."""

from __future__ import annotations

import collections
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from harmonium import Harmonium
from harmonium.kernels.runtime import threads
from harmonium.training import Stochastic
from harmonium.weak import Bags, DissimilarityClassifier

RNG = np.random.default_rng(0)
WORDS = scipy.sparse.csr_array((RNG.random((300, 6000)) < 0.02).astype(np.float32))
FEW_WORDS = WORDS[:, :500]
#: weights of two blocks, so that a helper has something to do
WIDE = Harmonium(96, driver=Stochastic(max_iter=1), n_jobs=2, random_state=0)
LONG = Harmonium(8, driver=Stochastic(max_iter=10_000), n_jobs=2, random_state=0)
LABELS = np.arange(60) % 3
BAGS = Bags.from_list(list(RNG.normal(size=(60, 5, 6)) + np.eye(6)[LABELS][:, None]))
WEAK = DissimilarityClassifier(C=10.0, n_jobs=2, random_state=0)


def ask() -> None:
    while True:
        WIDE.transform(WORDS)
        WIDE.score_samples(WORDS)
        WIDE.sample(5, n_steps=3)
        WIDE.score(WORDS[:5])


def weak() -> None:
    while True:
        WEAK.fit(BAGS, LABELS).predict(BAGS)


WORK: list[Callable[[], object]] = [
    lambda: LONG.fit(FEW_WORDS),
    lambda: clone(LONG).set_params(n_components=96).fit(WORDS),
    lambda: cross_val_score(LONG, FEW_WORDS, cv=3),
    ask,
    weak,
]


def interrupted(work: Callable[[], object], wait: float) -> tuple[str, float]:
    """Return the name of the exception that came out, and how long it took."""
    sent = [0.0]

    def send() -> None:
        time.sleep(wait)
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        work()
        outcome = "nothing"
    except BaseException as error:  # whatever it is, it is counted
        outcome = type(error).__name__
    late = time.perf_counter() - sent[0]
    sender.join()
    return outcome, late


def main() -> None:
    times, random_moments = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    blas = [library.num_threads for library in threads._controller().lib_controllers]
    WIDE.fit(WORDS)
    for work in WORK:  # so that nothing has to be compiled any more
        interrupted(work, 0.5)
    outcomes = [interrupted(WORK[i % len(WORK)], random_moments.uniform(0.0, 0.06)) for i in range(times)]
    report = {
        "kinds": collections.Counter(outcome for outcome, _ in outcomes),
        "latest": max(late for _, late in outcomes),
        "threads": threading.active_count(),
        "blas_as_before": blas == [library.num_threads for library in threads._controller().lib_controllers],
        "handler_as_before": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
