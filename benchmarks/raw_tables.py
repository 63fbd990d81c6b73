"""Raw tables: from a data frame to a saved model that predicts in a new process, beside skrub's pipelines.

Points of wines (texts, price, places, year, alcohol as "13%"), income of adult (whole numbers and categories) and
ratings of hotels (the text of a review and contextual numbers). Harmonium gets the frame as it is and nothing is set:
``fit(frame, target)``, ``save``, and in a new process ``load(path).predict(new_frame)``. The rivals are
``tabular_pipeline`` of skrub with boosting (its default) and with a linear model, and a linear model on columns
prepared by hand: tf-idf of all texts, one-hot categories, scaled numbers (logarithm of the price), with the strength of
its penalty chosen by cross-validation on training rows. Wines and adult are split 70 / 30 with seed 0.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler, StandardScaler

from benchmarks.features.contextual import contextual_features
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_adult, load_hotels, load_wines

BENCHMARK = Benchmark(
    title="Raw tables: data frames as they are, beside skrub",
    claim="raw frames of wines, adult and hotels against skrub's pipelines and linear models on prepared columns",
    minutes=12,
    data=("wines", "adult", "hotels"),
    settings={"topics": 50, "seeds": 3},
)
LEVELS = (0.5, 0.8, 0.9)  # of intervals
IN_A_NEW_PROCESS = """
import sys, harmonium, numpy, pandas
numpy.save(sys.argv[3], harmonium.load(sys.argv[1]).predict(pandas.read_pickle(sys.argv[2])))
"""


def wines() -> tuple[pd.DataFrame, pd.DataFrame, str, Any]:
    train, test = train_test_split(load_wines(), test_size=0.3, random_state=0)
    texts = [(TfidfVectorizer(min_df=2), name) for name in ("title", "excerpt", "description")]
    logarithm = make_pipeline(SimpleImputer(), FunctionTransformer(np.log), StandardScaler())
    percent = make_pipeline(FunctionTransformer(_percent), SimpleImputer(), StandardScaler())
    prepared = make_column_transformer(
        *texts,
        (OneHotEncoder(handle_unknown="ignore"), ["varietal", "location"]),
        (logarithm, ["price"]),
        # one year is out by centuries
        (make_pipeline(SimpleImputer(strategy="median"), RobustScaler(), FunctionTransformer(_clipped)), ["year"]),
        (percent, ["alcohol"]),
    )
    blank = FunctionTransformer(lambda frame: frame.fillna({name: "" for _, name in texts}))
    return train, test, "points", make_pipeline(blank, prepared)


def _clipped(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -3, 3)


def _percent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(lambda column: column.str.rstrip("%").astype(float))


def adult() -> tuple[pd.DataFrame, pd.DataFrame, str, Any]:
    table = load_adult()
    train, test = train_test_split(table, test_size=0.3, random_state=0)
    names = [name for name in table.columns if name != "income"]
    categories = [name for name in names if table[name].dtype.kind not in "iuf"]
    numbers = [name for name in names if name not in categories]
    prepared = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories), (StandardScaler(), numbers)
    )
    return train, test, "income", prepared


def hotels() -> tuple[pd.DataFrame, pd.DataFrame, str, Any]:
    loaded = load_hotels()
    tables = []
    for views, rating in (loaded.train(), loaded.test()):
        values, names = contextual_features(views["text"])
        tables.append(pd.DataFrame(values, columns=names).assign(text=views["text"], rating=rating))
    prepared = make_column_transformer((TfidfVectorizer(min_df=2), "text"), (StandardScaler(), names))
    return tables[0], tables[1], "rating", prepared


def run(options: SimpleNamespace) -> Result:
    """Fit harmonium and its rivals on each table."""
    from skrub import tabular_pipeline

    result = Result()
    for name, load in (("wines", wines), ("adult", adult), ("hotels", hotels)):
        train, test, target, prepared = load()
        classes = train[target].dtype.kind not in "iuf"
        X, y, unseen, truth = train.drop(columns=target), train[target], test.drop(columns=target), test[target]
        measure = accuracy_score if classes else r2_score
        linear: Any = LogisticRegression(max_iter=3000) if classes else Ridge()
        grid = {"C": [0.03, 0.1, 0.3, 1, 3]} if classes else {"alpha": [0.1, 0.3, 1, 3, 10, 30]}
        step = type(linear).__name__.lower()
        rivals = {
            "most frequent class" if classes else "mean": DummyClassifier() if classes else DummyRegressor(),
            "skrub, boosting": tabular_pipeline("classifier" if classes else "regressor"),
            f"skrub, {_words(linear)}": tabular_pipeline(linear),
            f"{_words(linear)}, columns prepared by hand": GridSearchCV(
                make_pipeline(prepared, linear), {f"{step}__{key}": values for key, values in grid.items()}, cv=3
            ),
        }
        rows: list[list[Any]] = []
        for label, rival in rivals.items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = rival.fit(X, y).predict(unseen)
            rows.append([label, float(measure(truth, found)), time.perf_counter() - begin])
            print(name, rows[-1], flush=True)
        scores, seconds, widths = [], [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            kind = HarmoniumClassifier if classes else HarmoniumRegressor
            model: Any = kind(options.topics, random_state=seed).fit(train, target)
            seconds.append(time.perf_counter() - begin)
            scores.append(float(measure(truth, _predicted_elsewhere(model, test))))
            if not classes:
                widths.append([_covered(model.predict(unseen, interval=level), truth) for level in LEVELS])
        rows.append([f"`{kind.__name__}()`, raw frame", with_deviation(scores), float(np.median(seconds))])
        print(name, rows[-1], flush=True)
        columns = {"model": None, "accuracy" if classes else "R²": "{:.4f}", "fit, s": "{:.0f}"}
        result.table(name, columns, rows)
        if not classes:
            lines = [
                [level, *(with_deviation([one[place][part] for one in widths]) for part in range(2))]
                for place, level in enumerate(LEVELS)
            ]
            result.text(f"Intervals of {name}: what share of test rows lies in them, and how wide they are.")
            formats = {"interval": "{:.2f}", "covered": "{:.3f}", f"width, {target}": "{:.2f}"}
            result.table(f"{name}_intervals", formats, lines)
        shown = model.views_.reset_index()
        if len(shown) > 20:  # the contextual columns of hotels are alike
            shown = shown.groupby(["role", "view", "family"], sort=False).agg({"column": "count", "features": "sum"})
            shown = shown.reset_index()[["column", "role", "view", "family", "features"]]
        result.text(f"What was decided about the columns of {name} (C = {model.C_:g}, {model.n_iter_} epochs):")
        result.table(f"{name}_columns", list(shown.columns), shown.to_numpy().tolist())
    result.text(
        f"{options.topics} topics, {options.seeds} seeds, everything else default. Every model was saved, and "
        "predicted in a new process. Times of rivals include the choice of their settings where they have one, as ours "
        "do."
    )
    return result


def _covered(found: Any, truth: Any) -> tuple[float, float]:
    """Return the share of rows that intervals hold, and their width."""
    _, lower, upper = found
    return float(np.mean((lower <= truth) & (truth <= upper))), float(np.mean(upper - lower))


def _words(linear: Any) -> str:
    return {"Ridge": "ridge", "LogisticRegression": "logistic regression"}[type(linear).__name__]


def _predicted_elsewhere(model: Any, frame: pd.DataFrame) -> np.ndarray:
    """Return what the saved model predicts in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("model.safetensors", "frame.pkl", "predicted.npy")]
        model.save(paths[0])
        frame.to_pickle(paths[1])
        subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_NEW_PROCESS, *paths], check=True)
        return np.load(paths[2], allow_pickle=True)
