"""Known numbers of binary features, from 3 to 50: how many does the Indian buffet process find?

Three generators of 144 columns, each feature had by 10-40 % of the items. Sparse: binary pixels with log-odds -2, a
feature moves 20 of them by 2.4 to 4.8, three in four upwards. Dense: binary columns, a feature moves the log-odds of
all by standard normal numbers. Gaussian: real columns, a feature moves all by standard normal numbers, noise 1. Also
white noise, real and binary, and real-valued features (a normal number for each item that has one). With labels, `iMMH`
is told one of three classes too, the largest of three normal combinations of the features with noise of 0.3.

Other truths are of kinds that nothing was tuned on. Unequal: real columns whose noise is 0.5 to 1.5, features of 0.4 to
1.6 times the size that 5-50 % of the items have. Correlated: dense, but features come in threes of which items tend to
have several. Rare: binary columns, a feature moves 30 of them by 1.5 to 4, two in three upwards, and 3-10 % of the
items have it. Positive: real-valued features of gamma numbers. Pictures: 12 by 12 binary pixels, a feature is a
rectangle of 20 of them that it raises as in sparse columns, so that 12 rectangles already overlap a lot.

The algorithm was developed on draws 1, 2 and 1000 to 1003 of the same generators; of other truths draw 1000 alone was
looked at, where pictures showed that units may have to stand for sources of more than two values. All draws shown here
begin at 200. Everything runs with default settings. Nats are -log p(x | inferred features) on 1,000 items not trained
on; Gaussian columns count with noise 1. The model told K has as many binary units from a random start, at the better of
two learning rates, judged by the same held-out items, which favours it.
"""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import IBP, Bernoulli, Gaussian, Harmonium, HarmoniumWarning, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.recipes import iMMH

BENCHMARK = Benchmark(
    title="Known truth: from 3 to 50 features",
    claim="3 to 50 known features: how many IBP finds on fresh draws, of nine kinds, in 1,000 to 10,000 items; α",
    minutes=8,
    settings={
        "numbers": (3, 6, 12, 24, 40, 50),
        "items": 2000,
        "seeds": 2,
        "truncation": 100,
        "fewer": 1000,
        "many": 10_000,
        "compare": (24, 40),
        "others": (12, 24, 40),
        "labelled": (8, 20),
        "labelled_seeds": 1,
    },
)
N_COLUMNS, N_HELD_OUT, FIRST_FRESH = 144, 1000, 200
KINDS = ("sparse", "dense", "Gaussian")
OTHERS = ("unequal", "correlated", "rare", "positive", "pictures")
REAL_VALUED, REAL_COLUMNS = ("real", "positive"), ("Gaussian", "real", "unequal", "positive")
RATES = (0.01, 0.1)
GOAL, NATS_GOAL = 0.05, 1.03
ALPHAS, WEAK = (1e-6, 2.0, 1e6), 0.16
N_CLASSES, LABEL_NOISE = 3, 0.3
Draw = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(kind: str, n_features: int, n_items: int, seed: int, size: float = 1.0) -> Draw:
    """Columns, features, and what the features make of the columns: probabilities, or means."""
    rng = np.random.default_rng(seed)
    usage = rng.uniform(0.1, 0.4, n_features)
    if kind in OTHERS:
        return other_draw(kind, usage, n_items, rng)
    has = (rng.random((n_items, n_features)) < usage).astype(np.float32)
    if kind == "sparse":
        weights = np.zeros((N_COLUMNS, n_features))
        for k in range(n_features):
            pixels = rng.choice(N_COLUMNS, 20, replace=False)
            weights[pixels, k] = rng.choice([1, 1, 1, -1], 20) * rng.uniform(2.4, 4.8, 20)
        expected = expit(-2.0 + has @ weights.T)
    elif kind == "dense":
        weights = rng.normal(size=(N_COLUMNS, n_features))
        expected = expit(0.5 * rng.normal(size=N_COLUMNS) - weights @ usage + has @ weights.T)
    else:
        if kind == "real":
            has = has * rng.normal(size=has.shape)
        expected = has @ rng.normal(size=(n_features, N_COLUMNS)) * size
    return columns_of(kind, expected, rng), has, expected


def other_draw(kind: str, usage: np.ndarray, n_items: int, rng: np.random.Generator) -> Draw:
    """Return what `draw` does, of other truths; ``usage`` is 0.1 to 0.4."""
    n_features, spread = len(usage), 1.0
    weights = rng.normal(size=(N_COLUMNS, n_features))
    if kind == "unequal":
        usage, spread = 0.05 + 1.5 * (usage - 0.1), rng.uniform(0.5, 1.5, N_COLUMNS)
        weights *= np.exp(rng.uniform(np.log(0.4), np.log(1.6), n_features))
    elif kind == "rare":
        usage, weights = 0.03 + 0.07 / 0.3 * (usage - 0.1), np.zeros_like(weights)
        for k in range(n_features):
            pixels = rng.choice(N_COLUMNS, 30, replace=False)
            weights[pixels, k] = rng.uniform(1.5, 4, 30) * rng.choice([1, 1, -1], 30)
    elif kind == "pictures":
        weights = np.zeros_like(weights)
        for k in range(n_features):
            height, width = rng.permutation([4, 5])
            top, left = rng.integers(13 - height), rng.integers(13 - width)
            picture = weights[:, k].reshape(12, 12)
            picture[top : top + height, left : left + width] = rng.uniform(2.4, 4.8, (height, width))
    liking = rng.normal(size=(n_items, n_features))
    if kind == "correlated":
        liking = 0.8 * liking + 0.6 * rng.normal(size=(n_items, n_features))[:, np.arange(n_features) // 3]
    has = (liking > norm.isf(usage)).astype(np.float32)
    if kind == "positive":
        has = has * rng.gamma(2.0, 0.5, has.shape).astype(np.float32)
    natural = has @ weights.T
    if kind in REAL_COLUMNS:
        return columns_of(kind, natural, rng, spread), has, natural
    start = {"correlated": -weights @ usage, "rare": -1.0, "pictures": -2.0}[kind]
    expected = expit(natural + start)
    return columns_of(kind, expected, rng), has, expected


def columns_of(
    kind: str, expected: np.ndarray, rng: np.random.Generator, spread: np.ndarray | float = 1.0
) -> np.ndarray:
    """Draw columns, given what is expected of them."""
    if kind in REAL_COLUMNS:
        return (expected + spread * rng.normal(size=expected.shape)).astype(np.float32)
    return (rng.random(expected.shape) < expected).astype(np.float32)


def family(kind: str) -> Any:
    return Gaussian() if kind in REAL_COLUMNS else Bernoulli()


def units_for(kind: str) -> Any:
    return "real" if kind in REAL_VALUED else "binary"


def nats(kind: str, columns: np.ndarray, expected: np.ndarray) -> float:
    """What the columns cost, given what was expected of them."""
    if kind not in REAL_COLUMNS:
        p = np.clip(expected, 1e-6, 1 - 1e-6)
        return float(-(columns * np.log(p) + (1 - columns) * np.log(1 - p)).sum(axis=1).mean())
    return float((np.square(columns - expected) + np.log(2 * np.pi)).sum(axis=1).mean() / 2)


def n_matched(inferred: np.ndarray, has: np.ndarray) -> int:
    """Return how many features some unit has a correlation with of more than 0.8, or less than -0.8."""
    k = inferred.shape[1]
    return int((np.abs(np.nan_to_num(np.corrcoef(inferred.T, has.T)[:k, k:])).max(axis=0) > 0.8).sum())


def trial(kind: str, n_features: int, n_items: int, seed: int, truncation: int, units: str) -> dict[str, Any]:
    """Units, features found (|correlation| above 0.8), nats and seconds."""
    columns, has, expected = draw(kind, n_features, n_items + N_HELD_OUT, seed)
    train, test = slice(0, n_items), slice(n_items, None)
    begin = time.perf_counter()
    model = Harmonium(hidden=IBP(truncation=truncation, kind=units), views=family(kind), random_state=seed)
    inferred = model.fit(columns[train]).transform(columns[test])
    seconds = time.perf_counter() - begin
    found = {"units": model.n_components_, "matched": n_matched(inferred, has[test]), "seconds": seconds}
    found["nats"] = nats(kind, columns[test], model.reconstruct(columns[test]))
    found["of truth"] = nats(kind, columns[test], expected[test])
    return found


def told(kind: str, n_features: int, n_items: int, seed: int) -> float:
    """Nats of a model that is told the number, at the better rate."""
    columns, _, _ = draw(kind, n_features, n_items + N_HELD_OUT, seed)
    results = []
    for rate in RATES:
        driver = Stochastic(batch_size=0.05, learning_rate=rate)
        model = Harmonium(n_features, hidden=BernoulliUnits(), views=family(kind), driver=driver, random_state=seed)
        model.fit(columns[:n_items])
        results.append(nats(kind, columns[n_items:], model.reconstruct(columns[n_items:])))
    return min(results)


def classes_of(has: np.ndarray, seed: int) -> np.ndarray:
    """Return the class of each item: the largest of some combinations of its features."""
    rng = np.random.default_rng([seed, 1])
    scores = has @ rng.normal(size=(has.shape[1], N_CLASSES))
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return np.asarray((scores + LABEL_NOISE * rng.normal(size=scores.shape)).argmax(axis=1))


LABELLED = ("kind", "true", "items", "units", "within 5 %", "matched", "accuracy", "seconds")


def labelled_row(kind: str, n_features: int, n_items: int, seeds: range, truncation: int) -> dict[str, Any]:
    """Return the units of iMMH for every draw, and means of accuracy and seconds."""
    units, matched, accuracy, seconds = [], [], [], []
    for seed in seeds:
        columns, has, _ = draw(kind, n_features, n_items + N_HELD_OUT, seed)
        y, train, test = classes_of(has, seed), slice(0, n_items), slice(n_items, None)
        begin = time.perf_counter()
        model = iMMH(
            truncation, kind="real" if kind in REAL_VALUED else "binary", views=family(kind), random_state=seed
        )
        inferred = model.fit(columns[train], y[train]).transform(columns[test])
        seconds.append(time.perf_counter() - begin)
        units.append(model.n_components_)
        matched.append(n_matched(inferred, has[test]))
        accuracy.append(model.score(columns[test], y[test]))
    inside = sum(abs(one - n_features) <= GOAL * n_features for one in units)
    row: dict[str, Any] = {"kind": kind, "true": n_features, "items": n_items, "units": units}
    row |= {"within 5 %": f"{inside} of {len(units)}", "matched": matched}
    row |= {"accuracy": float(np.mean(accuracy)), "seconds": float(np.mean(seconds))}
    print(row, flush=True)
    return row


COLUMNS = ("kind", "true", "items", "units", "within 5 %", "matched", "nats", "told K", "of truth", "seconds")


def row_of(kind: str, n_features: int, n_items: int, seeds: range, truncation: int, compare: bool) -> dict[str, Any]:
    """Return the units of every draw, and means of what was measured; the model told K is fitted to the first draw."""
    units = units_for(kind)
    found = [trial(kind, n_features, n_items, seed, truncation, units) for seed in seeds]
    inside = sum(abs(one["units"] - n_features) <= GOAL * n_features for one in found)
    row: dict[str, Any] = {"kind": kind, "true": n_features, "items": n_items, "units": [one["units"] for one in found]}
    row |= {"within 5 %": f"{inside} of {len(found)}", "matched": [one["matched"] for one in found]}
    row["nats"] = found[0]["nats"]
    row["told K"] = told(kind, n_features, n_items, seeds[0]) if compare else None
    row |= {"of truth": found[0]["of truth"], "seconds": float(np.mean([one["seconds"] for one in found]))}
    print(row, flush=True)
    return row


def white_noise(n_items: int, seed: int, truncation: int) -> list[Any]:
    """Units that are kept of real and of binary noise."""
    rng = np.random.default_rng(seed)
    real = rng.normal(size=(n_items, N_COLUMNS))
    coins = (rng.random((n_items, N_COLUMNS)) < rng.uniform(0.05, 0.5, N_COLUMNS)).astype(float)
    row: list[Any] = [n_items, seed]
    for values, views in ((real, Gaussian()), (coins, Bernoulli())):
        row.append(
            Harmonium(hidden=IBP(truncation=truncation), views=views, random_state=seed).fit(values).n_components_
        )
    print(row, flush=True)
    return row


def alpha_row(alpha: float, seeds: range) -> list[Any]:
    """Units found among 12 features that hardly stand out."""
    found = []
    for seed in seeds:
        columns, _, _ = draw("Gaussian", 12, 1000, seed, WEAK)
        model = Harmonium(hidden=IBP(alpha, truncation=50), views=Gaussian(), random_state=seed).fit(columns)
        found.append(model.n_components_)
    print(alpha, found, flush=True)
    return [f"{alpha:g}", found, float(np.mean(found))]


def n_inside(rows: list[dict[str, Any]]) -> str:
    """Return how many fits have a number of units near the truth, of how many."""
    inside = [abs(k - row["true"]) <= GOAL * row["true"] for row in rows for k in row["units"]]
    return f"{sum(inside)} of {len(inside)}"


def with_labels(result: Result, rows: list[dict[str, Any]]) -> None:
    """Add what iMMH finds to a result."""
    result.heading("With labels")
    result.text("Units of `iMMH` with its defaults; accuracy is on the items not trained on.")
    result.table("labelled", LABELLED, rows)


def run(options: SimpleNamespace) -> Result:
    """Find features of three kinds, noise, and features that hardly stand out."""
    warnings.simplefilter("ignore", HarmoniumWarning)
    seeds, T = range(FIRST_FRESH, FIRST_FRESH + options.seeds), options.truncation
    rows = [
        row_of(kind, n_features, options.items, seeds, T, n_features in options.compare)
        for kind in KINDS
        for n_features in options.numbers
    ]
    noise = [white_noise(options.items, seed, T) for seed in seeds]
    alphas = [alpha_row(alpha, range(FIRST_FRESH, FIRST_FRESH + 3)) for alpha in ALPHAS]
    real = [row_of("real", n_features, options.items, seeds[:1], T, False) for n_features in options.numbers]
    other_sizes = [
        row_of(kind, n_features, n_items, seeds[:1], T, False)
        for n_items in (options.fewer, options.many)
        for kind in KINDS
        for n_features in (6, 40)
    ]
    others = [row_of(kind, n, options.items, seeds[:1], T, False) for kind in OTHERS for n in options.others]
    labelled = [
        labelled_row(kind, n_features, options.items, seeds[: options.labelled_seeds], T)
        for kind in (*KINDS, "real")
        for n_features in options.labelled
    ]
    ratios = [row["nats"] / row["told K"] for row in rows if row["told K"] is not None]
    result = Result()
    result.text(
        f"Units within 5 % of the truth in {n_inside(rows + other_sizes)} fits, with real-valued features in "
        f"{n_inside(real)}, of other truths in {n_inside(others)}, and with labels in {n_inside(labelled)}. Fewer than "
        "20 units have to be the right number. Nats, and those of the truth, are of the first draw."
    )
    if ratios:
        result.text(
            f"Nats divided by those of the model told K: {min(ratios):.3f} to {max(ratios):.3f} (goal: at most "
            f"{NATS_GOAL})."
        )
    result.table("fresh draws", COLUMNS, rows)
    result.heading("Fewer and more items")
    result.table("other sizes", COLUMNS, other_sizes)
    result.heading("White noise")
    result.text("At least one unit is kept, and a notice says so if none stands out of chance.")
    result.table("white noise", ["items", "draw", "units, real noise", "units, binary noise"], noise)
    result.heading("Real-valued features")
    result.table("real", COLUMNS, real)
    result.heading("Other truths")
    result.text("Nats of unequal features are those of noise 1.")
    result.table("others", COLUMNS, others)
    with_labels(result, labelled)
    result.heading("α")
    result.text(f"Units among 12 Gaussian features of {WEAK} times the size, which hardly stand out; 1,000 items.")
    result.table("alpha", ["α", "units", "mean"], alphas)
    return result
