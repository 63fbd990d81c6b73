"""Seconds of fit and predict: MMH against TWH, DWH + SVR and tomotopy's SLDA, on ratings of hotels, in one run.

K=20, the words of 2,500 reviews to train on and of 2,500 to predict. Fits are of one model at fixed settings: 40 epochs
for the harmoniums, 200 sweeps for SLDA. Predictions are timed alternately.

Run: ``python benchmarks/supervised_speed.py``.
"""

from __future__ import annotations

import time
from typing import Any

from sklearn.svm import LinearSVR

from common import alternate, median, table, write
from harmonium import DWH, MMH, TWH, BernoulliUnits, Stochastic
from hotel_regression import data
from rivals.slda import SLDA

K = 20


def main() -> None:
    views, y, unseen, _, _, _ = data()
    words, new = views["words"], unseen["words"]
    driver = Stochastic(max_iter=40, learning_rate=0.01, reach=0.5, schedule="constant", weight_decay=0.5, average=True)
    settings: dict[str, Any] = {"driver": driver, "random_state": 0}
    models: dict[str, Any] = {
        "MMH": MMH(K, task="regression", C=0.4, validation_fraction=0, **settings),
        "TWH": TWH(K, task="regression", hidden=BernoulliUnits(), validation_fraction=0, **settings),
        "DWH + SVR": DWH(K, hidden=BernoulliUnits(), **settings),
        "tomotopy SLDA": SLDA(K, n_iter=200),
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
        rounds=3,
    )
    reference = median(predicting["MMH"])
    rows: list[list[object]] = [
        [name, seconds[name], 1000 * median(predicting[name]), median(predicting[name]) / reference] for name in models
    ]
    write(
        "supervised_speed",
        "Speed of supervised models",
        table(["model", "fit, s", "predict 2,500 reviews, ms", "predict / MMH"], rows),
        "python benchmarks/supervised_speed.py",
    )


if __name__ == "__main__":
    main()
