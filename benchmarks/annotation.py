"""Image annotation on Corel-5k (Chen et al. 2012, §6): words from blobs, by harmoniums and by two plain rivals.

Every method's settings are chosen by the mean F1 of five words on 500 training images held out, twice; the test images
are used once, at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.comparing import interval
from benchmarks.datasets import load_corel5k
from benchmarks.features.words import few
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, WORDS, Preparation
from harmonium import DWH, TWH, Bernoulli, HarmoniumClassifier, Stochastic
from harmonium.heads import MultiLabelHinge
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.metrics import AnnotationReport, annotation_report, f1_at

BENCHMARK = Benchmark(
    title="Corel-5k: annotation",
    claim="words for images of Corel5k: a multi-label hinge against words as a view (DWH, TWH) and plain rivals",
    minutes=20,
    data=("corel5k",),
    settings={"seeds": 3, "inner_splits": 2, "rows": 0},
    quick={"seeds": 1, "inner_splits": 1, "rows": 200},
)
OURS = "harmonium, multi-label hinge"
DEFAULTS = "`HarmoniumClassifier()`"
CUTOFFS = (3, 4, 5, 6, 7)
HELD_OUT = 500  # training images that settings are chosen on, but at most a third
CHOSEN = 5  # words of an image by whose F1 settings are chosen
UNITS = {"Gaussian": GaussianUnits(), "binary": BernoulliUnits()}
IDF = list(WORDS)[1]  # of blobs that are there or not
Settings = dict[str, float | str]


@dataclass
class Images:
    """Blobs and words of training and test images."""

    train: scipy.sparse.csr_array
    train_words: np.ndarray
    test: scipy.sparse.csr_array
    test_words: np.ndarray

    def inner(self, seed: int) -> Images:
        """Return some training images against the others."""
        order = np.random.default_rng(seed).permutation(len(self.train_words))
        n_held = min(HELD_OUT, len(order) // 3)
        held_out, rest = np.sort(order[:n_held]), np.sort(order[n_held:])
        return Images(self.train[rest], self.train_words[rest], self.train[held_out], self.train_words[held_out])


def load(limit: int = 0) -> Images:
    """The files' own split, without the last blob, which is faulty in the test file; at most so many rows (0: all)."""
    data = load_corel5k()
    blobs = scipy.sparse.csr_array(data.views["blobs"][:, :-1])
    blobs.indices, blobs.indptr = blobs.indices.astype(np.int32), blobs.indptr.astype(np.int32)
    words = np.asarray(data.target, dtype=np.float64)
    train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    return Images(blobs[train], words[train], blobs[test], words[test])


def driver(settings: Settings) -> Stochastic:
    """The same for all harmoniums."""
    return Stochastic(
        max_iter=int(settings["epochs"]),
        batch_size=100,
        learning_rate=0.01,
        max_update=0.5,
        schedule="constant",
        weight_decay=settings["decay"],
        average=True,
    )


def score_hinge(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """A hinge loss for each word."""
    model = HarmoniumClassifier(
        int(settings["K"]),
        views={"blobs": Bernoulli()},
        hidden=UNITS[str(settings["hidden"])],
        head=MultiLabelHinge(settings["C"], positive_weight=settings["positive"]),
        driver=driver(settings),
        validation_fraction=0,
        random_state=seed,
    )
    return model.fit({"blobs": images.train}, words).decision_function({"blobs": images.test})


def score_defaults(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """A hinge loss for each word, with all defaults: C and epochs are chosen, and scores calibrated, by `fit`."""
    model = HarmoniumClassifier(random_state=seed).fit({"blobs": images.train}, words)
    return model.predict_proba({"blobs": images.test})


def score_dwh(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """Words are the second view, inferred from the blobs through the topics by mean field, as in the paper."""
    model = DWH(
        int(settings["K"]),
        {"blobs": Bernoulli(), "words": Bernoulli()},
        hidden=UNITS[str(settings["hidden"])],
        driver=driver(settings),
        random_state=seed,
    )
    model.fit({"blobs": images.train, "words": words})
    return np.asarray(model.predict_view("words", {"blobs": images.test}))


def score_twh(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """Words are the label view."""
    model = TWH(
        int(settings["K"]),
        {"blobs": Bernoulli()},
        hidden=UNITS[str(settings["hidden"])],
        driver=driver(settings),
        validation_fraction=0,
        random_state=seed,
    )
    return model.fit({"blobs": images.train}, words).decision_function({"blobs": images.test})


def score_logistic(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """A logistic regression for each word."""
    train, test = weighted(images, str(settings["blobs"]))
    model = RIVALS["logistic regression, one against the rest"].made(float(settings["strength"]), {}, train)
    return model.fit(train, words).predict_proba(test)


def weighted(images: Images, way: str) -> list[Any]:
    """Return training and test blobs, weighted in one of the ways of rivals."""
    return Preparation(("blobs",), words=way).matrices({"blobs": images.train}, {"blobs": images.test})


def score_neighbours(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """Mean of the words of the most similar training images."""
    common = (images.test @ images.train.T).toarray()
    sizes, other = images.test.sum(axis=1)[:, None], images.train.sum(axis=1)[None]
    if settings["similarity"] == "cosine, idf":
        train, test = weighted(images, IDF)
        similarity = (test @ train.T).toarray()
    elif settings["similarity"] == "cosine":
        similarity = common / np.sqrt(np.maximum(sizes * other, 1))
    else:
        similarity = common / np.maximum(sizes + other - common, 1)
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, : int(settings["k"])]
    return words[nearest].mean(axis=1) + 1e-6 * words.mean(axis=0)  # of equal shares the more frequent word


def score_frequency(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """The same words for every image."""
    return np.tile(words.mean(axis=0), (len(images.test_words), 1))


Score = Callable[[Images, np.ndarray, Settings, int], np.ndarray]
SHARED: dict[str, tuple[float | str, ...]] = {
    "K": (50, 20, 100),
    "hidden": ("binary", "Gaussian"),
    "decay": (0.5, 0.1, 2.0),
    "epochs": (30, 15),
}
# the first value of each setting is where the search begins; settings are searched one after the other
METHODS: dict[str, tuple[Score, dict[str, tuple[float | str, ...]]]] = {
    OURS: (score_hinge, {"C": (0.4, 0.1, 1.6), "positive": (1.0, 3.0, 10.0, 30.0), **SHARED}),
    DEFAULTS: (score_defaults, {}),
    "DWH": (score_dwh, SHARED),
    "TWH": (score_twh, SHARED),
    # the strength is in units of the mean squared length of a row, so that both ways have the same values
    "logistic regression": (score_logistic, {"strength": (3.0, 0.3, 1.0, 10.0, 30.0), "blobs": ("binary", IDF)}),
    "k nearest neighbours": (
        score_neighbours,
        {"k": (30, 10, 20, 40, 60, 100), "similarity": ("cosine", "Jaccard", "cosine, idf")},
    ),
    "word frequency": (score_frequency, {}),
}


def scores_of(score: Score, images: Images, settings: Settings, seed: int = 0) -> np.ndarray:
    """Scores of all words; those without a training image come last."""
    known = images.train_words.sum(axis=0) > 0
    found = score(images, images.train_words[:, known], settings, seed)
    result = np.full(images.test_words.shape, found.min() - 1)
    result[:, known] = found
    return result


def choose(name: str, score: Score, axes: dict[str, tuple[float | str, ...]], parts: list[Images]) -> Settings:
    """Search one setting after the other."""
    tried: dict[tuple[float | str, ...], float] = {}

    def quality(settings: Settings) -> float:
        key = tuple(settings.values())
        if key not in tried:
            found = [f1_at(scores_of(score, part, settings), part.test_words, CHOSEN) for part in parts]
            tried[key] = float(np.mean(found))
            print(f"{name} {settings}: validation F1@{CHOSEN} {tried[key]:.4f}", flush=True)
        return tried[key]

    best: Settings = {key: values[0] for key, values in axes.items()}
    for key, values in axes.items():
        best = max([{**best, key: value} for value in values], key=quality)
    return {**best, "validation": quality(best)}


def item_f1(scores: np.ndarray, words: np.ndarray, n: int = CHOSEN) -> np.ndarray:
    """F1 of each image."""
    hits = np.take_along_axis(words, np.argsort(-scores, axis=1, kind="stable")[:, :n], axis=1).sum(axis=1)
    return 2 * hits / (n + words.sum(axis=1))


def best_methods(f1: dict[str, np.ndarray], precision: dict[str, float]) -> str:
    """Return who is best, and by how much."""
    lines = []
    for place, cutoff in enumerate(CUTOFFS):
        first, second = sorted(f1, key=lambda name: -f1[name][place])[:2]
        ratio = f1[first][place] / f1[second][place] - 1
        lines.append(f"- F1@{cutoff}: {first} is best, {100 * ratio:.1f} % above {second}.")
    first, second = sorted(precision, key=lambda name: -precision[name])[:2]
    lines.append(
        f"- Mean average precision: {first} is best, {100 * (precision[first] / precision[second] - 1):.1f} % above "
        f"{second}."
    )
    return "\n".join(lines)


def lead(items: dict[str, np.ndarray]) -> list[list[object]]:
    """Return the mean difference of our F1 of an image to that of every other method, with its interval."""
    rows: list[list[object]] = []
    for name, values in items.items():
        if name != OURS:
            difference = items[OURS] - values
            ends = interval(lambda rows, of=difference: float(of[rows].mean()), len(difference))
            rows.append([name, float(difference.mean()), *ends])
    return rows


def predicted(images: Images, seeds: int) -> list[list[object]]:
    """Return how many words `predict` gives an image, and the mean F1 of an image's words."""
    rows: list[list[object]] = []
    for seed in range(seeds):
        model = HarmoniumClassifier(random_state=seed).fit({"blobs": images.train}, images.train_words)
        found = model.predict({"blobs": images.test})
        hits, number = (found * images.test_words).sum(axis=1), found.sum(axis=1) + images.test_words.sum(axis=1)
        rows.append([seed, float(found.sum(axis=1).mean()), float(np.mean(2 * hits / number))])
    return rows


def run(options: SimpleNamespace) -> Result:
    """Choose settings on held-out training images, then annotate the test images."""
    images = load(options.rows)
    parts = [images.inner(1 + number) for number in range(options.inner_splits)]
    rows: list[list[object]] = []
    f1: dict[str, np.ndarray] = {}
    precision: dict[str, float] = {}
    items: dict[str, np.ndarray] = {}
    for name, (score, axes) in METHODS.items():
        begin = time.perf_counter()
        settings = choose(name, score, axes, parts)
        validation = settings.pop("validation")
        seeds = options.seeds if name == DEFAULTS or "epochs" in axes else 1
        all_scores = [scores_of(score, images, settings, seed) for seed in range(seeds)]
        reports: list[AnnotationReport] = [
            annotation_report(scores, images.test_words, CUTOFFS) for scores in all_scores
        ]
        tables = [report.table for report in reports]
        f1[name] = np.mean([one["f1"].to_numpy() for one in tables], axis=0)
        precision[name] = float(np.mean([report.mean_average_precision for report in reports]))
        items[name] = np.mean([item_f1(scores, images.test_words) for scores in all_scores], axis=0)
        spread = float(np.std([one.loc[CHOSEN, "f1"] for one in tables]))
        recalled = float(np.mean([one.loc[CHOSEN, "labels_recalled"] for one in tables]))
        shown = ", ".join(f"{key} {value}" for key, value in settings.items()) or "–"
        rows.append([name, shown, validation, *(float(value) for value in f1[name]), spread, precision[name], recalled])
        print(f"{name} took {time.perf_counter() - begin:.0f} s: F1 {f1[name]}", flush=True)
    result = Result()
    result.text(
        f"{images.train.shape[0]:,} training and {images.test.shape[0]:,} test images, {images.train.shape[1]} blobs "
        f"(the faulty last one is left out), {int((images.train_words.sum(axis=0) > 0).sum())} words that occur in "
        f"training, {reports[0].n_labels} words that occur in test images. Settings are chosen by the mean F1@{CHOSEN} "
        f"on {options.inner_splits} random splits of the training images, {parts[0].train.shape[0]:,} against "
        f"{parts[0].test.shape[0]:,}, one setting after the other; all harmoniums have the same driver and grid. "
        f"Harmoniums: means of {options.seeds} random starts; ± is the standard deviation of F1@{CHOSEN} over starts. "
        "F1 is the mean over images; average precision is the mean over the words of the test images; N+ is the number "
        f"of words recalled at least once with {CHOSEN} words per image."
    )
    by_cutoff = [f"F1@{cutoff}" for cutoff in CUTOFFS]
    columns = ["method", "chosen", f"validation F1@{CHOSEN}", *by_cutoff, "±", "average precision", "N+"]
    result.table("methods", columns, rows)
    result.text(best_methods(f1, precision))
    result.text(
        "What `predict` returns with all defaults, where fit chooses the cut of probabilities for the F1 of an image:"
    )
    result.table("predicted", {"seed": None, "words": "{:.2f}", "F1": "{:.3f}"}, predicted(images, options.seeds))
    result.text(
        f"Difference of the F1@{CHOSEN} of {OURS} to the others', and where 95 % of a bootstrap over test images lie:"
    )
    result.table("lead", {"method": None, **dict.fromkeys(["difference", "from", "to"], "{:+.4f}")}, lead(items))
    return result
