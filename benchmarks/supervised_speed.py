"""Seconds of fit and predict: MMH against TWH, DWH + SVR and tomotopy's SLDA, on ratings of hotels, in one run.

K=20, the words of 2,500 reviews to train on and of 2,500 to predict. Fits are of one model at fixed settings: 40 epochs
for the harmoniums, 200 sweeps for SLDA. Predictions are timed alternately.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from sklearn.svm import LinearSVR

from benchmarks.hotel_regression import as_binary, data
from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.slda import SLDA
from harmonium import DWH, MMH, TWH, Stochastic
from harmonium.hidden import BernoulliUnits

BENCHMARK = Benchmark(
    title="Speed of supervised models",
    claim="seconds of fit and predict against TWH, DWH + SVR and SLDA",
    minutes=2,
    data=("hotels",),
    settings={"topics": 20, "epochs": 40, "sweeps": 200, "rounds": 3},
)


def run(options: SimpleNamespace) -> Result:
    """Time one fit of each model, and predictions alternately."""
    K = options.topics
    counted, ratings, new, _, _ = data(5000)
    views, unseen, y = as_binary(counted), as_binary(new), ratings[:, 0]
    words, new = views["words"], unseen["words"]
    driver = Stochastic(
        max_iter=options.epochs,
        learning_rate=0.01,
        max_update=0.5,
        schedule="constant",
        weight_decay=0.5,
        average=True,
    )
    settings: dict[str, Any] = {"driver": driver, "random_state": 0}
    models: dict[str, Any] = {
        "MMH": MMH(K, task="regression", C=0.4, validation_fraction=0, **settings),
        "TWH": TWH(K, task="regression", hidden=BernoulliUnits(), validation_fraction=0, **settings),
        "DWH + SVR": DWH(K, hidden=BernoulliUnits(), **settings),
        "tomotopy SLDA": SLDA(K, n_iter=options.sweeps),
    }
    models["MMH"].fit(words[:200], y[:200])  # kernels are compiled once
    seconds = {}
    for name, model in models.items():
        begin = time.perf_counter()
        model.fit(words, y[:, None] if name == "tomotopy SLDA" else y)
        if name == "DWH + SVR":
            svr = LinearSVR(C=0.1).fit(model.transform(words), y)
        seconds[name] = time.perf_counter() - begin
    predicting = alternate(
        {
            "MMH": lambda: models["MMH"].predict(new),
            "TWH": lambda: models["TWH"].predict(new),
            "DWH + SVR": lambda: svr.predict(models["DWH + SVR"].transform(new)),
            "tomotopy SLDA": lambda: models["tomotopy SLDA"].predict(new),
        },
        options.rounds,
    )
    reference = median(predicting["MMH"])
    result = Result()
    result.table(
        "seconds",
        ["model", "fit, s", f"predict {new.shape[0]:,} reviews, ms", "predict / MMH"],
        [[name, seconds[name], 1000 * median(times), median(times) / reference] for name, times in predicting.items()],
    )
    return result
