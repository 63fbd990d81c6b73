"""Image annotation on Corel-5k (Chen et al. 2012, §6): words from blobs, by harmoniums and by two plain rivals.

Every method's settings are chosen by the mean F1 of five words on 500 training images held out, twice; the test images
are used once, at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from common import table, write
from harmonium import Bernoulli, BernoulliUnits, GaussianUnits, HarmoniumClassifier, MultiLabelHinge, Stochastic
from harmonium.datasets import load_corel5k
from harmonium.metrics import AnnotationReport, annotation_report, f1_at
from harmonium.recipes import DWH, TWH

CUTOFFS = (3, 4, 5, 6, 7)
SEEDS = 3
UNITS = {"Gaussian": GaussianUnits(), "binary": BernoulliUnits()}
Settings = dict[str, float | str]


@dataclass
class Images:
    """Blobs and words of training and test images."""

    train: scipy.sparse.csr_array
    train_words: np.ndarray
    test: scipy.sparse.csr_array
    test_words: np.ndarray

    def inner(self, seed: int) -> Images:
        """500 training images against the other 4,000."""
        order = np.random.default_rng(seed).permutation(len(self.train_words))
        held_out, rest = np.sort(order[:500]), np.sort(order[500:])
        return Images(self.train[rest], self.train_words[rest], self.train[held_out], self.train_words[held_out])


def load() -> Images:
    """The files' own split, without the last blob, which is faulty in the test file."""
    data = load_corel5k()
    blobs = scipy.sparse.csr_array(data.views["blobs"][:, :-1])
    blobs.indices, blobs.indptr = blobs.indices.astype(np.int32), blobs.indptr.astype(np.int32)
    words = np.asarray(data.target, dtype=np.float64)
    train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    return Images(blobs[train], words[train], blobs[test], words[test])


def driver(settings: Settings) -> Stochastic:
    """The same for all harmoniums."""
    return Stochastic(
        max_iter=int(settings["epochs"]),
        batch_size=100,
        learning_rate=0.01,
        reach=0.5,
        schedule="constant",
        weight_decay=settings["decay"],
        average=True,
    )


def score_mmh(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
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


def score_dwh(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """Words are the second view, inferred by mean field."""
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
    one = LogisticRegression(C=settings["C"], solver="liblinear", random_state=seed)
    return OneVsRestClassifier(one).fit(images.train, words).predict_proba(images.test)


def score_neighbours(images: Images, words: np.ndarray, settings: Settings, seed: int) -> np.ndarray:
    """Mean of the words of the most similar training images."""
    common = (images.test @ images.train.T).toarray()
    sizes, other = images.test.sum(axis=1)[:, None], images.train.sum(axis=1)[None]
    if settings["similarity"] == "cosine":
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
    "MMH": (score_mmh, {"C": (0.4, 0.1, 1.6), "positive": (1.0, 3.0, 10.0, 30.0), **SHARED}),
    "DWH": (score_dwh, SHARED),
    "TWH": (score_twh, SHARED),
    "logistic regression": (score_logistic, {"C": (0.3, 0.03, 0.1, 1.0, 3.0)}),
    "k nearest neighbours": (
        score_neighbours,
        {"k": (30, 10, 20, 40, 60, 100), "similarity": ("cosine", "Jaccard")},
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
            tried[key] = float(np.mean([f1_at(scores_of(score, part, settings), part.test_words, 5) for part in parts]))
            print(f"{name} {settings}: validation F1@5 {tried[key]:.4f}", flush=True)
        return tried[key]

    best: Settings = {key: values[0] for key, values in axes.items()}
    for key, values in axes.items():
        best = max([{**best, key: value} for value in values], key=quality)
    return {**best, "validation": quality(best)}


def item_f1(scores: np.ndarray, words: np.ndarray, n: int = 5) -> np.ndarray:
    """F1 of each image."""
    hits = np.take_along_axis(words, np.argsort(-scores, axis=1, kind="stable")[:, :n], axis=1).sum(axis=1)
    return 2 * hits / (n + words.sum(axis=1))


def interval(difference: np.ndarray) -> tuple[float, float]:
    """95 % of the mean differences of resampled images."""
    rng = np.random.default_rng(0)
    means = [difference[rng.integers(0, len(difference), len(difference))].mean() for _ in range(2000)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def summary(f1: dict[str, np.ndarray], precision: dict[str, float], items: dict[str, np.ndarray]) -> str:
    """Who is best, and by how much."""
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
    lines.append("")
    lines.append("Difference of MMH's F1@5 to the others', with 95 % of a bootstrap over test images:")
    lines.append("")
    for name in items:
        if name != "MMH":
            low, high = interval(items["MMH"] - items[name])
            lines.append(f"- {name}: {(items['MMH'] - items[name]).mean():+.4f} ({low:+.4f} to {high:+.4f})")
    return "\n".join(lines)


def main() -> None:
    images = load()
    parts = [images.inner(1), images.inner(2)]
    rows: list[list[object]] = []
    f1: dict[str, np.ndarray] = {}
    precision: dict[str, float] = {}
    items: dict[str, np.ndarray] = {}
    for name, (score, axes) in METHODS.items():
        begin = time.perf_counter()
        settings = choose(name, score, axes, parts)
        validation = settings.pop("validation")
        seeds = SEEDS if "epochs" in axes else 1
        all_scores = [scores_of(score, images, settings, seed) for seed in range(seeds)]
        reports: list[AnnotationReport] = [
            annotation_report(scores, images.test_words, CUTOFFS) for scores in all_scores
        ]
        tables = [report.table for report in reports]
        f1[name] = np.mean([one["f1"].to_numpy() for one in tables], axis=0)
        precision[name] = float(np.mean([report.mean_average_precision for report in reports]))
        items[name] = np.mean([item_f1(scores, images.test_words) for scores in all_scores], axis=0)
        spread = float(np.std([one.loc[5, "f1"] for one in tables]))
        recalled = float(np.mean([one.loc[5, "labels_recalled"] for one in tables]))
        shown = ", ".join(f"{key} {value}" for key, value in settings.items()) or "–"
        rows.append([name, shown, validation, *(float(value) for value in f1[name]), spread, precision[name], recalled])
        print(f"{name} took {time.perf_counter() - begin:.0f} s: F1@5 {f1[name][2]:.4f}", flush=True)
    body = [
        f"{images.train.shape[0]:,} training and {images.test.shape[0]:,} test images, {images.train.shape[1]} blobs "
        f"(the faulty last one is left out), {int((images.train_words.sum(axis=0) > 0).sum())} words that occur in "
        f"training, {reports[0].n_labels} words that occur in test images. Settings are chosen by the mean F1@5 on two "
        "random splits of the training images, 4,000 against 500, one setting after the other; all "
        f"harmoniums have the same driver and the same grid. Harmoniums: means of {SEEDS} random starts; ± is the "
        "standard deviation of F1@5 over starts. F1 is the mean over images; average precision is the mean over the "
        "words of the test images; N+ is the number of words recalled at least once with five words per image.",
        table(
            [
                "method",
                "chosen",
                "validation F1@5",
                *(f"F1@{cutoff}" for cutoff in CUTOFFS),
                "±",
                "average precision",
                "N+",
            ],
            rows,
        ),
        summary(f1, precision, items),
    ]
    write("annotation", "Corel-5k: annotation", "\n\n".join(body), "python benchmarks/annotation.py")


if __name__ == "__main__":
    main()
