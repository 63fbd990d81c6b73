"""Raw tables: from a data frame to a saved model that predicts in a new process, beside skrub's pipelines.

Points of wines (texts, price, places, year, alcohol as "13%"), income of adult (whole numbers and categories) and
ratings of hotels (the text of a review and contextual numbers). Harmonium gets the frame as it is and nothing is set:
``fit(frame, target)``, ``save``, and in a new process ``load(path).predict(new_frame)``. The rivals are
``tabular_pipeline`` of skrub with boosting (its default) and with a linear model, and a linear model on columns that
were made views by hand: counts of the words of each text, one-hot categories, and numbers (logarithm of the price). How
words are weighted, how numbers are scaled and which views are used is chosen with the strength of its penalty by
cross-validation on training rows, and so is the strength of the linear model behind skrub. Wines and adult are split
70 / 30 with seed 0.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, RobustScaler

from benchmarks.datasets import load_adult
from benchmarks.features.contextual import contextual_features
from benchmarks.features.words import few
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import FOLDS, RIVALS, Rival, Tuned, trivial, tuned
from harmonium import HarmoniumClassifier, HarmoniumRegressor
from harmonium.datasets import load_hotels, load_wines

BENCHMARK = Benchmark(
    title="Raw tables: data frames as they are, beside skrub",
    claim="raw frames of wines, adult and hotels against skrub's pipelines and linear models on prepared columns",
    minutes=12,
    data=("wines", "adult", "hotels"),
    settings={"topics": 50, "seeds": 3, "rows": 0},
    quick={"topics": 5, "seeds": 1, "rows": 300},
)
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the linear model behind skrub
LEVELS = (0.5, 0.8, 0.9)  # of intervals
IN_A_NEW_PROCESS = """
import sys, harmonium, numpy, pandas
numpy.save(sys.argv[3], harmonium.load(sys.argv[1]).predict(pandas.read_pickle(sys.argv[2])))
"""


@dataclass(frozen=True)
class ByHand:
    """How a practitioner makes views of a table: words of each text, categories, and numbers.

    Parameters
    ----------
    texts, categories : list of str
        Columns of each kind.
    numbers : transformer
        What makes numbers of the other columns.
    """

    texts: list[str]
    categories: list[str]
    numbers: Any

    def views(self, train: pd.DataFrame, test: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the views of training and test rows; all is learnt from training rows."""
        makers: dict[str, tuple[Any, Any]] = {name: (CountVectorizer(min_df=2), name) for name in self.texts}
        makers["numbers"] = self.numbers, list(train.columns)
        if self.categories:
            makers["categories"] = OneHotEncoder(handle_unknown="ignore"), self.categories
        found: list[dict[str, Any]] = [{}, {}]
        blank = dict.fromkeys(self.texts, "")
        train, test = train.fillna(blank), test.fillna(blank)
        for name, (maker, columns) in makers.items():
            maker.fit(train[columns])
            for views, frame in zip(found, (train, test), strict=True):
                views[name] = maker.transform(frame[columns])
        return found


def wines() -> tuple[pd.DataFrame, pd.DataFrame, str, ByHand]:
    train, test = train_test_split(load_wines(), test_size=0.3, random_state=0)
    numbers = make_column_transformer(
        (make_pipeline(SimpleImputer(), FunctionTransformer(np.log)), ["price"]),
        # one year is out by centuries
        (make_pipeline(SimpleImputer(strategy="median"), RobustScaler(), FunctionTransformer(_clipped)), ["year"]),
        (make_pipeline(FunctionTransformer(_percent), SimpleImputer()), ["alcohol"]),
    )
    return train, test, "points", ByHand(["title", "excerpt", "description"], ["varietal", "location"], numbers)


def _clipped(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -3, 3)


def _percent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(lambda column: column.str.rstrip("%").astype(float))


def adult() -> tuple[pd.DataFrame, pd.DataFrame, str, ByHand]:
    table = load_adult()
    train, test = train_test_split(table, test_size=0.3, random_state=0)
    names = [name for name in table.columns if name != "income"]
    categories = [name for name in names if table[name].dtype.kind not in "iuf"]
    numbers = [name for name in names if name not in categories]
    return train, test, "income", ByHand([], categories, make_column_transformer(("passthrough", numbers)))


def hotels() -> tuple[pd.DataFrame, pd.DataFrame, str, ByHand]:
    loaded = load_hotels()
    tables = []
    for views, rating in (loaded.train(), loaded.test()):
        values, names = contextual_features(views["text"])
        tables.append(pd.DataFrame(values, columns=names).assign(text=views["text"], rating=rating))
    return tables[0], tables[1], "rating", ByHand(["text"], [], make_column_transformer(("passthrough", names)))


def run(options: SimpleNamespace) -> Result:
    """Fit harmonium and its rivals on each table."""
    from skrub import tabular_pipeline

    result = Result()
    for name, load in (("wines", wines), ("adult", adult), ("hotels", hotels)):
        train, test, target, by_hand = load()
        train, test = (frame.iloc[few(len(frame), options.rows)] for frame in (train, test))
        classes = train[target].dtype.kind not in "iuf"
        X, y, unseen, truth = train.drop(columns=target), train[target], test.drop(columns=target), test[target]
        measure = accuracy_score if classes else r2_score
        linear = "logistic regression" if classes else "ridge"
        rows: list[list[Any]] = []

        def add(label: str, found: Tuned, truth=truth, measure=measure, rows=rows) -> None:
            rows.append([label, found.setting, float(measure(truth, found.predicted)), found.seconds])
            print(rows[-1], flush=True)

        add("most frequent class" if classes else "mean", trivial(y.to_numpy(), len(truth), classes))
        boosting = tabular_pipeline("classifier" if classes else "regressor")
        add("skrub, boosting", _fitted(boosting, X, y, unseen))
        add(f"skrub, {linear}", _fitted(_searched(tabular_pipeline, RIVALS[linear]), X, y, unseen))
        seen, new = by_hand.views(X, unseen)
        add(f"{linear}, columns prepared by hand", tuned(RIVALS[linear], seen, y.to_numpy(), new))
        scores, seconds, widths = [], [], []
        for seed in range(options.seeds):
            begin = time.perf_counter()
            kind = HarmoniumClassifier if classes else HarmoniumRegressor
            model: Any = kind(options.topics, random_state=seed).fit(train, target)
            seconds.append(time.perf_counter() - begin)
            scores.append(float(measure(truth, _predicted_elsewhere(model, test))))
            if not classes:
                widths.append([_covered(model.predict(unseen, interval=level), truth) for level in LEVELS])
        setting = f"C {model.fitted_.C:.3g}, {model.n_iter_} epochs"
        rows.append([f"`{kind.__name__}()`, raw frame", setting, with_deviation(scores), float(np.median(seconds))])
        print(name, rows[-1], flush=True)
        columns = {"model": None, "chosen": None, "accuracy" if classes else "R²": "{:.4f}", "fit, s": "{:.0f}"}
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
        result.text(f"What was decided about the columns of {name}:")
        result.table(f"{name}_columns", list(shown.columns), shown.to_numpy().tolist())
    result.text(
        f"{options.topics} topics, {options.seeds} seeds, everything else default. Every model was saved, and "
        "predicted in a new process. Times of rivals include the choice of their settings, as ours do; boosting has "
        "those of skrub."
    )
    return result


def _covered(found: Any, truth: Any) -> tuple[float, float]:
    """Return the share of rows that intervals hold, and their width."""
    _, lower, upper = found
    return float(np.mean((lower <= truth) & (truth <= upper))), float(np.mean(upper - lower))


def _searched(made: Callable[[Any], Any], rival: Rival) -> GridSearchCV:
    """Return a pipeline that ends with a rival, whose strength is chosen by cross-validation."""
    step = type(rival.estimator).__name__.lower()
    return GridSearchCV(made(rival.estimator), {f"{step}__{rival.strength}": STRENGTHS}, cv=FOLDS)


def _fitted(model: Any, X: pd.DataFrame, y: pd.Series, unseen: pd.DataFrame) -> Tuned:
    """Return what a model of frames predicts."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        predicted = model.predict(unseen)
    chosen = getattr(model, "best_params_", {})
    setting = ", ".join(f"{name.split('__')[-1]} {value:g}" for name, value in chosen.items())
    return Tuned(predicted, setting or "–", getattr(model, "best_score_", np.nan), seconds, time.perf_counter() - begin)


def _predicted_elsewhere(model: Any, frame: pd.DataFrame) -> np.ndarray:
    """Return what the saved model predicts in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("model.safetensors", "frame.pkl", "predicted.npy")]
        model.save(paths[0])
        frame.to_pickle(paths[1])
        subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_NEW_PROCESS, *paths], check=True)
        return np.load(paths[2], allow_pickle=True)
