"""Does the order of paragraphs help? Ratings of hotels (Fig. 9a of the paper), and digits read row by row.

Hotels: 600 reviews for each of five ratings, cut into paragraphs by a heuristic (the crawl lost the line breaks); half
of each to train on and half to test on, drawn anew for each of three splits. Words: the 5,000 most frequent of the
training half. To see what order does, paragraphs are also put in random order.

Digits (mfeat): images as sequences of 16 rows of 15 binary pixels, 600 to train on and 1,400 to test on, three splits.
Here order is real: a column's chain follows a stroke from row to row. Shuffled rows keep the counts, not the strokes.

All settings are chosen on training items. Harmoniums have the Gaussian units of the paper on hotels and Bernoulli units
on digits; those with a head choose C and epochs inside `fit`, and for digits a weight decay of 0.5 or 0.05 by the
held-out error that `fit` records. Harmoniums without a head are followed by a linear SVM. Of all SVMs the weighting of
words, the scaling of numbers, the choice of views and C are chosen together by cross-validation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.datasets import load_mfeat
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import NUMBERS, RIVALS, accuracy, preparations, trivial, tuned
from harmonium import DWH, MMH, Bernoulli, Sequences, Stochastic, Views, structDWH, structMMH
from harmonium.datasets import load_hotels
from harmonium.families import Binomial
from harmonium.hidden import BernoulliUnits, GaussianUnits

BENCHMARK = Benchmark(
    title="Order of paragraphs, and of rows of digits",
    claim="structMMH against MMH, DWH and SVMs on paragraphs of hotel reviews and on digits read row by row; shuffled"
    " controls",
    minutes=2,
    data=("hotels", "mfeat"),
    settings={
        "sizes": (20,),
        "splits": 3,
        "rows": 1500,
        "digit_sizes": (50,),
        "digit_splits": 3,
        "digit_rows": 600,
    },
    quick={
        "sizes": (5,),
        "splits": 2,
        "rows": 200,
        "digit_sizes": (10,),
        "digit_splits": 2,
        "digit_rows": 100,
    },
)
Scores = dict[tuple[str, int], float]
Gathered = dict[str, dict[int, list[float]]]  # by method and number of topics, 0 without any: splits


def driver(weight_decay: float = 0.5) -> Stochastic:
    """The default of classifiers, but for the decay."""
    return Stochastic(
        batch_size=0.05,
        learning_rate=0.01,
        max_update=0.5,
        schedule="constant",
        weight_decay=weight_decay,
        average=True,
    )


def svm(views: Mapping[str, Any], y: np.ndarray, new: Mapping[str, Any], truth: np.ndarray) -> float:
    """Return the accuracy of a linear SVM that is prepared as a practitioner would."""
    found = tuned(RIVALS["linear SVM"], views, y, new, ways=preparations(views, tuple(NUMBERS)))
    return accuracy(truth, found.predicted)


def add_rivals(scores: Scores, inputs: Mapping[str, tuple[Any, Any]], y: np.ndarray, truth: np.ndarray) -> None:
    """Add what one predicts without looking, and an SVM for each choice of inputs, given as views."""
    scores["most frequent class", 0] = accuracy(truth, trivial(y, len(truth), classes=True).predicted)
    for name, (views, new) in inputs.items():
        scores[name, 0] = svm(views, y, new, truth)


def best(variants: list[Callable[[], Any]], X: Any, y: np.ndarray) -> Any:
    """The variant with the smallest error on rows that `fit` held out."""
    models = [variant().fit(X, y) for variant in variants]
    return min(models, key=lambda model: min(model.fitted_.validation["error"]))


def svm_on(model: Any, X: Any, y: np.ndarray, new: Any, truth: np.ndarray) -> float:
    latent = model.fit(X)
    return svm({"topics": latent.transform(X)}, y, {"topics": latent.transform(new)}, truth)


def by_place(sequences: Sequences) -> dict[str, Any]:
    """Return words of the first, of the last and of the other paragraphs, as views."""
    last = sequences.offsets[1:] - 1
    first = sequences.offsets[:-1]
    items = np.repeat(np.arange(len(sequences)), sequences.lengths)
    rows = np.arange(sequences.rows.shape[0])
    is_first, is_last = rows == first[items], rows == last[items]
    views = {}
    for name, chosen in (("first", is_first), ("last", is_last), ("others", ~(is_first | is_last))):
        kept = np.flatnonzero(chosen)
        gather = scipy.sparse.csr_array((np.ones(len(kept)), (items[kept], kept)), shape=(len(sequences), len(rows)))
        views[name] = scipy.sparse.csr_array(gather @ sequences.rows)
    return views


def counted(sequences: Sequences) -> dict[str, Any]:
    """Return counts of features and of neighbours that share them, as views."""
    n_features = sequences.shape[1]
    return {"counts": sequences.counts[:, :n_features], "neighbours": sequences.counts[:, n_features:]}


# ---- hotels --------------------------------------------------------------------------------------------------------
def hotels(seed: int, sizes: tuple[int, ...], n_rows: int) -> Scores:
    """Return accuracies on one split of the reviews."""
    loaded = load_hotels("paragraphs")
    paragraphs, y = loaded.views["paragraphs"], loaded.target.astype(int)
    rows, held = next(StratifiedShuffleSplit(1, train_size=n_rows, test_size=n_rows, random_state=seed).split(y, y))
    words: dict[str, Any] = {"stop_words": None, "min_length": 2}
    train = Sequences.from_texts([paragraphs[i] for i in rows], max_features=5000, **words)
    test = Sequences.from_texts([paragraphs[i] for i in held], vocabulary=train.feature_names, **words)
    y, truth = y[rows], y[held]
    scores: Scores = {}
    inputs: dict[str, tuple[Any, Any]] = {
        "SVM, bag of words": tuple({"words": counted(part)["counts"]} for part in (train, test)),
        "SVM, words by paragraph position": (by_place(train), by_place(test)),
        "SVM, counts and neighbours": (counted(train), counted(test)),
    }
    add_rivals(scores, inputs, y, truth)
    bag, new_bag = Views({"words": train.presence()}), Views({"words": test.presence()})
    mixed, new_mixed = train.shuffled(seed), test.shuffled(seed)
    for K in sizes:
        parts: dict[str, Any] = {"hidden": GaussianUnits(), "random_state": seed, "n_jobs": 1}
        scores["structMMH", K] = structMMH(K, **parts).fit(train, y).score(test, truth)
        scores["structMMH, shuffled paragraphs", K] = structMMH(K, **parts).fit(mixed, y).score(new_mixed, truth)
        scores["MMH", K] = MMH(K, **parts).fit(bag, y).score(new_bag, truth)
        parts["driver"] = driver().set_params(max_iter=40)
        scores["structDWH + SVM", K] = svm_on(structDWH(K, **parts), train, y, test, truth)
        families = {"words": Bernoulli()}
        scores["DWH + SVM", K] = svm_on(DWH(K, families, **parts), bag, y, new_bag, truth)
        print(seed, {name: round(score, 3) for (name, k), score in scores.items() if k in (0, K)}, flush=True)
    return scores


# ---- digits --------------------------------------------------------------------------------------------------------
def digits(seed: int, sizes: tuple[int, ...], n_rows: int) -> Scores:
    """Return accuracies on one split of the digits."""
    loaded = load_mfeat()
    y = np.asarray(loaded.target).astype(int)
    images = (np.asarray(loaded.views["pix"]).reshape(-1, 16, 15) > 3).astype(np.float32)
    rows, held = next(StratifiedShuffleSplit(1, train_size=n_rows, random_state=seed).split(y, y))
    train, test = Sequences.from_matrices(images[rows]), Sequences.from_matrices(images[held])
    y, truth = y[rows], y[held]
    dense = [{name: view.toarray() for name, view in counted(part).items()} for part in (train, test)]
    counts, new_counts = ({"counts": views["counts"]} for views in dense)
    scores: Scores = {}
    inputs: dict[str, tuple[Any, Any]] = {
        "SVM, counts": (counts, new_counts),
        "SVM, counts and neighbours": (dense[0], dense[1]),
        "SVM, pixels by position": tuple({"pixels": images[part].reshape(len(part), -1)} for part in (rows, held)),
    }
    add_rivals(scores, inputs, y, truth)
    mixed, new_mixed = train.shuffled(seed), test.shuffled(seed)
    for K in sizes:

        def variants(recipe: Any, K: int = K, **more: Any) -> list[Callable[[], Any]]:
            return [
                lambda decay=decay: recipe(K, driver=driver(decay), random_state=seed, n_jobs=1, **more)
                for decay in (0.5, 0.05)
            ]

        flat = variants(MMH, families={"counts": Binomial(16)})
        scores["structMMH", K] = best(variants(structMMH), train, y).score(test, truth)
        scores["structMMH, shuffled rows", K] = best(variants(structMMH), mixed, y).score(new_mixed, truth)
        scores["MMH, counts", K] = best(flat, counts, y).score(new_counts, truth)
        parts: dict[str, Any] = {"hidden": BernoulliUnits(), "random_state": seed, "n_jobs": 1}
        parts["driver"] = driver(0.05).set_params(max_iter=40)
        scores["structDWH + SVM", K] = svm_on(structDWH(K, **parts), train, y, test, truth)
        print(seed, {name: round(score, 3) for (name, k), score in scores.items() if k in (0, K)}, flush=True)
    return scores


# ---- tables --------------------------------------------------------------------------------------------------------
def gathered(runs: list[Scores]) -> Gathered:
    """Return the scores of all splits by method and number of topics."""
    result: Gathered = defaultdict(dict)
    for name, K in runs[0]:
        result[name][K] = [run[name, K] for run in runs]
    return result


def add_table(result: Result, name: str, found: Gathered, sizes: tuple[int, ...]) -> None:
    """Add accuracies over the number of topics."""
    columns = {"model": None, **{f"K={K}": "{:.3f}" for K in sizes}, "no topics": "{:.3f}"}
    rows = [
        [model, *(with_error(by_size[K]) if K in by_size else None for K in (*sizes, 0))]
        for model, by_size in found.items()
    ]
    result.table(name, columns, rows)


def gain(found: Gathered, one: str, two: str, K: int) -> str:
    """Return the mean difference of two methods over splits, with its standard error."""
    difference = with_error([a - b for a, b in zip(found[one][K], found[two][K], strict=True)])
    return f"{difference['mean']:.3f} ± {difference['spread']:.3f}"


def run(options: SimpleNamespace) -> Result:
    """Measure accuracies on splits of hotels and of digits."""
    by_rating = gathered([hotels(seed, options.sizes, options.rows) for seed in range(options.splits)])
    by_digit = gathered([digits(seed, options.digit_sizes, options.digit_rows) for seed in range(options.digit_splits)])
    K, D = options.sizes[-1], options.digit_sizes[-1]
    result = Result()
    result.text(
        "Ratings of hotels, test accuracy over the number of topics, mean and standard error over "
        f"{options.splits} splits:"
    )
    add_table(result, "hotels", by_rating, options.sizes)
    result.text(
        f"Pairwise over splits, K={K}: structMMH - MMH {gain(by_rating, 'structMMH', 'MMH', K)}, structMMH - its "
        f"shuffled control {gain(by_rating, 'structMMH', 'structMMH, shuffled paragraphs', K)}."
    )
    result.text(f"Digits read row by row, test accuracy over {options.digit_splits} splits:")
    add_table(result, "digits", by_digit, options.digit_sizes)
    result.text(
        f"Pairwise over splits, K={D}: structMMH - MMH on counts {gain(by_digit, 'structMMH', 'MMH, counts', D)}, "
        f"structMMH - its shuffled control {gain(by_digit, 'structMMH', 'structMMH, shuffled rows', D)}."
    )
    return result
