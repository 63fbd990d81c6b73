"""Edges inside a view: classes that only neighbours tell, missing cells, halves of digits from the other halves.

Made classes are 4 x 16 binary pixels, or 4 x 8 pixels of three codes; every pixel is as often in each of its states in
both classes, but in one neighbours agree and in the other they differ. Made fields are 6 x 6 real numbers: a Gaussian
Markov random field on a grid, shifted by a binary cause. The real data are the digits of scikit-learn (8 x 8 pixels).
Three cells in ten are missing in test fields and digits, or the lower half of test digits: as zeros and ones, as four
grey levels, and as numbers. Edges of grey levels join each pixel to that below it, as a grid of four states is too wide
to be summed; all others join neighbours of the grid. All models of a table have the same units, driver and epochs, and
half of the digits train them. The learning rate of fields and digits was chosen on another seed; that of classes is the
default. Log loss is in nats a pixel; errors of numbers are root mean squares.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.covariance import GraphicalLassoCV
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Bernoulli, Categorical, Columns, Gaussian, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.families import Family, GaussianMRF, Ising, Potts, grid_edges

BENCHMARK = Benchmark(
    title="Edges inside a view",
    claim="what neighbours tell: Ising, Potts and GaussianMRF against views without edges and other methods",
    minutes=6,
    settings={"seeds": 2, "epochs": 30, "units": 10, "rows": 400},
    quick={"seeds": 1, "epochs": 2, "units": 2, "rows": 60},
)
STRENGTH = 0.9  # of couplings in made classes, and its negative
COUPLING = 3.0  # of made fields
RATE = 0.05
SIDE, HALF = 8, 32  # of digits, and their pixels in a half
Ways = dict[str, Callable[[], np.ndarray]]
Task = tuple[Ways, Callable[[np.ndarray], tuple[float, ...]]]


# ---- made classes ----------------------------------------------------------------------------------------------------
def made(n_states: int, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures whose pixels agree or differ by class, and the classes."""
    edges, y = class_edges(n_states), np.arange(n_rows) % 2
    n_pixels = edges.max() + 1
    constants = {"edges": edges, "groups": n_states * np.arange(n_pixels + 1)}
    family = Potts().restore(n_states * n_pixels + len(edges), constants)
    natural = np.zeros((n_rows, family.n_features_))
    natural[:, n_states * n_pixels :] = np.where(y, STRENGTH, -STRENGTH)[:, None] / (2 if n_states == 2 else 1)
    return family.codec.decode(family.sample(natural, np.random.default_rng(seed))), y


def class_edges(n_states: int) -> np.ndarray:
    return grid_edges(4, 16 if n_states == 2 else 8)


def classes(n_states: int, options: SimpleNamespace) -> Iterator[list[Any]]:
    """Yield the accuracy of each kind of view, of other methods, and of a count of equal neighbours."""
    edges, found = class_edges(n_states), dict[str, list[float]]()
    structured, flat = (Ising(edges), Bernoulli()) if n_states == 2 else (Potts(edges), Categorical())
    for seed in range(options.seeds):
        (X, y), (new, truth) = made(n_states, options.rows, 2 * seed), made(n_states, 1000, 2 * seed + 1)
        for family in (structured, flat):
            for what, head in {"": None, ", linear head": Hinge(linear_part="linear")}.items():
                settings = {"driver": Stochastic(max_iter=options.epochs), "random_state": seed, "head": head}
                views = {"pixels": Columns(slice(X.shape[1]), family)}
                model = HarmoniumClassifier(4, views=views, **settings).fit(X, y)
                found.setdefault(type(family).__name__ + what, []).append(model.score(new, truth))
        codes = OneHotEncoder(drop="if_binary").fit(X)
        linear = LogisticRegression().fit(codes.transform(X), y)
        found.setdefault("logistic regression of pixels", []).append(linear.score(codes.transform(new), truth))
        boosted = HistGradientBoostingClassifier(categorical_features=list(range(X.shape[1]))).fit(X, y)
        found.setdefault("gradient boosting of pixels", []).append(boosted.score(new, truth))
        agree = (new[:, edges[:, 0]] == new[:, edges[:, 1]]).mean(axis=1) > (0.5 if n_states == 2 else 1 / n_states)
        found.setdefault("the truth: do neighbours agree more than by chance?", []).append(
            float((agree == truth).mean())
        )
        print(seed, {name: values[-1] for name, values in found.items()}, flush=True)
    for name, values in found.items():
        yield [name, *summary([(value,) for value in values])]


# ---- made fields -----------------------------------------------------------------------------------------------------
def field(n_rows: int, seed: int) -> np.ndarray:
    """Return rows of a Gaussian Markov random field on a grid, half of them shifted by a pattern."""
    edges, rng = grid_edges(6, 6), np.random.default_rng(seed)
    constants = {"edges": edges, "location": np.zeros(36), "scale": np.ones(36)}
    extra = {"log_variance": np.full(36, np.log(2.0)), "coupling": np.full(len(edges), COUPLING)}
    shift = np.outer(rng.random(n_rows) < 0.5, np.random.default_rng(0).normal(size=36))
    return GaussianMRF(edges).restore(36, constants).sample(shift, rng, extra)


def fields(seed: int, options: SimpleNamespace) -> Task:
    """Return ways to fill in missing cells of made fields, and their error."""
    return cells(field(options.rows, 2 * seed), field(400, 2 * seed + 1), 6, seed, options)


def digits(seed: int, options: SimpleNamespace) -> Task:
    """Return ways to fill in missing pixels of digits, and their error."""
    data = load_digits().data
    train, new = np.split(data[np.random.default_rng(seed).permutation(len(data))], [900])
    return cells(train, new, SIDE, seed, options)


def cells(X: np.ndarray, new: np.ndarray, side: int, seed: int, options: SimpleNamespace) -> Task:
    lacks = np.random.default_rng(seed).random(new.shape) < 0.3
    holes, edges = np.where(lacks, np.nan, new), grid_edges(side, side)
    families = GaussianMRF(edges), Gaussian(), Gaussian(variance="learn")
    ways: Ways = {
        described(family): partial(filled, family, X, holes, options.units, seed, options) for family in families
    }
    ways["mean of each cell"] = lambda: np.tile(X.mean(axis=0), (len(new), 1))
    ways["conditional means by the graphical lasso"] = lambda: by_precision(X, holes)
    return ways, lambda found: (float(np.sqrt(np.square((found - new)[lacks]).mean())),)


def by_precision(X: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """Return rows with missing cells at their means given the others, by a normal distribution of sparse precision."""
    spread = X.std(axis=0)
    varies = spread > 0.1 * spread.max()
    centre, scale = X.mean(axis=0), np.where(varies, spread, 1.0)
    precision = np.eye(len(spread))
    precision[np.ix_(varies, varies)] = GraphicalLassoCV().fit(((X - centre) / scale)[:, varies]).precision_
    result = (holes - centre) / scale
    for row, unknown in zip(result, np.isnan(holes), strict=True):
        away = precision[np.ix_(unknown, ~unknown)] @ row[~unknown]
        row[unknown] = -np.linalg.solve(precision[np.ix_(unknown, unknown)], away)
    return centre + scale * result


# ---- halves of digits ------------------------------------------------------------------------------------------------
def halves(n_states: int, seed: int, options: SimpleNamespace) -> Task:
    """Return ways to fill in lower halves, and their losses; of numbers if there are no states."""
    data = load_digits().data
    pictures = {0: data, 2: (data > 8).astype(float), 4: np.minimum(data // 4, 3)}[n_states]
    train, test = np.split(pictures[np.random.default_rng(seed).permutation(len(pictures))], [900])
    upper, lower, seen, truth = train[:, :HALF], train[:, HALF:], test[:, :HALF], test[:, HALF:]
    holes = np.where(np.arange(SIDE**2) < HALF, test, np.nan)
    ways: Ways = {
        described(family): partial(lower_half, family, train, holes, n_states, seed, options)
        for family in digit_families(n_states)
    }
    targets = lower if n_states == 0 else indicators(lower, n_states)
    ways["mean of each pixel"] = lambda: np.tile(targets.mean(axis=0), (len(test), 1))
    ways["ten nearest neighbours"] = lambda: KNeighborsRegressor(10).fit(upper, targets).predict(seen)
    if n_states == 0:
        ways["ridge regression"] = lambda: Ridge(alpha=100.0).fit(upper, lower).predict(seen)
        return ways, lambda found: (float(np.sqrt(np.square(found - truth).mean())),)
    ways["logistic regression a pixel"] = lambda: logistic(upper, lower, seen, n_states)
    return ways, lambda found: state_losses(found, truth, n_states)


def digit_families(n_states: int) -> list[Family]:
    grid, down = grid_edges(SIDE, SIDE), np.stack([np.arange(56), np.arange(8, 64)], axis=1)
    return {
        0: [GaussianMRF(grid), Gaussian(), Gaussian(variance="learn")],
        2: [Ising(grid), Bernoulli()],
        4: [Potts(down, "table", 4), Potts(down, "agree", 4), Categorical(4)],
    }[n_states]


def lower_half(
    family: Family, train: np.ndarray, holes: np.ndarray, n_states: int, seed: int, options: SimpleNamespace
) -> np.ndarray:
    """Return expected lower halves: numbers, or probabilities of all states of each pixel."""
    found = filled(family, train, holes, options.units, seed, options)
    if n_states == 2:
        return np.stack([1 - found[:, HALF:], found[:, HALF:]], axis=2).reshape(len(holes), -1)
    width = max(n_states, 1)
    return found[:, HALF * width : 2 * HALF * width]


def indicators(states: np.ndarray, n_states: int) -> np.ndarray:
    return (states[:, :, None] == np.arange(n_states)).reshape(len(states), -1).astype(float)


def logistic(upper: np.ndarray, lower: np.ndarray, new: np.ndarray, n_states: int) -> np.ndarray:
    """Return probabilities of states of each lower pixel by a regression on all upper ones."""
    codes = OneHotEncoder(handle_unknown="ignore", drop="if_binary").fit(upper)
    X, result = codes.transform(upper), np.zeros((len(new), lower.shape[1], n_states))
    for column, target in enumerate(lower.T):
        present = np.unique(target).astype(int)
        result[:, column, present] = 1.0
        if len(present) > 1:
            model = LogisticRegression(C=0.1, max_iter=300).fit(X, target)
            result[:, column, present] = model.predict_proba(codes.transform(new))
    return result.reshape(len(new), -1)


def state_losses(filled: np.ndarray, truth: np.ndarray, n_states: int) -> tuple[float, ...]:
    """Return log loss in nats a pixel and the share of pixels whose likeliest state is wrong."""
    probability = np.clip(filled.reshape(len(truth), -1, n_states), 1e-3, None)
    probability /= probability.sum(axis=2, keepdims=True)
    of_truth = np.take_along_axis(probability, truth.astype(int)[:, :, None], axis=2)
    return float(-np.log(of_truth).mean()), float(100 * (probability.argmax(axis=2) != truth).mean())


# ---- what tables share -----------------------------------------------------------------------------------------------
def filled(
    family: Family, X: np.ndarray, holes: np.ndarray, n_units: int, seed: int, options: SimpleNamespace
) -> np.ndarray:
    """Return rows as a model expects them that was fitted to others."""
    driver = Stochastic(max_iter=options.epochs, learning_rate=RATE)
    views = {"cells": Columns(slice(X.shape[1]), family)}
    return (
        Harmonium(n_units, views=views, hidden="bernoulli", driver=driver, random_state=seed).fit(X).reconstruct(holes)
    )


def compared(task: Callable[[int, SimpleNamespace], Task], options: SimpleNamespace) -> Iterator[list[Any]]:
    """Yield losses and seconds of every way to fill in what is missing."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(options.seeds):
        ways, losses = task(seed, options)
        for name, way in ways.items():
            begin = time.process_time()
            result = way()
            found.setdefault(name, []).append((*losses(result), time.process_time() - begin))
            print(seed, name, found[name][-1], flush=True)
    for name, values in found.items():
        yield [name, *summary(values)]


def described(family: Family) -> str:
    """Return the name of a family with the settings that tell it from others in its table."""
    settings = {key: value for key, value in family.get_params(deep=False).items() if key in ("coupling", "variance")}
    return ", ".join([type(family).__name__, *(str(v) for v in settings.values() if isinstance(v, str))])


def summary(values: list[tuple[float, ...]]) -> list[Any]:
    """Return mean and deviation of losses; of several numbers the last is a time, of which the median counts."""
    ddof = 1 if len(values) > 1 else 0
    columns = list(np.array(values).T)
    losses = columns if len(columns) == 1 else columns[:-1]
    return [
        *(with_deviation(loss, ddof=ddof) for loss in losses),
        *(float(np.median(s)) for s in columns[len(losses) :]),
    ]


def run(options: SimpleNamespace) -> Result:
    """Return accuracies on made pictures, errors of made fields and losses of lower halves of digits, on one thread."""
    result = Result()
    nats = {"log loss": "{:.3f}", "wrong pixels, %": "{:.1f}", "s": "{:.1f}"}
    tables: list[tuple[str, dict[str, Any], Iterator[list[Any]]]] = [
        ("zeros and ones", {"accuracy": "{:.3f}"}, classes(2, options)),
        ("three codes", {"accuracy": "{:.3f}"}, classes(3, options)),
        ("missing cells of fields", {"error": "{:.3f}", "s": "{:.1f}"}, compared(fields, options)),
        ("missing pixels of digits", {"error": "{:.2f}", "s": "{:.1f}"}, compared(digits, options)),
        ("lower halves of zeros and ones", nats, compared(partial(halves, 2), options)),
        ("lower halves of four grey levels", nats, compared(partial(halves, 4), options)),
        (
            "lower halves of numbers from 0 to 16",
            {"error": "{:.2f}", "s": "{:.1f}"},
            compared(partial(halves, 0), options),
        ),
    ]
    with threadpool_limits(1):
        for title, columns, rows in tables:
            result.table(title, {title: None, **columns}, list(rows))
    result.text("s: processor time of a fit and filling in, median over seeds. Mean ± standard deviation over seeds.")
    return result
