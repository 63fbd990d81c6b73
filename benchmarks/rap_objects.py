"""Object recognition with RAP (Gehler et al. 2006, §4): Caltech-4, visual words, latent space, linear SVM.

15 training and at most 50 test images a class, 35 random splits; the vocabulary and every latent model are learnt on
the training images of a split alone. Two-sided paired sign tests compare RAP with LSI and PLSI.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from scipy.stats import binomtest
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.features.weights import tf_idf
from benchmarks.measuring import with_error
from benchmarks.prepared.caltech_patches import CaltechPatches, load_patches, split, visual_word_counts
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.plsi import PLSI
from harmonium import RAP, Stochastic

BENCHMARK = Benchmark(
    title="RAP: object recognition",
    claim="RAP against LSI and PLSI on Caltech-4 visual words",
    minutes=5,
    first_minutes=5,
    data=("caltech4",),
    settings={"splits": 35, "train": 15, "test": 50, "choice_splits": 8},
)
WORDS, SIZE = 125, 35  # of the choice of settings, and without frames
MARGIN = 0.05  # cut off at each edge
GOAL = 0.05  # p
DIMENSIONS = (10, 25, 45)
Pair = tuple[np.ndarray, np.ndarray]


def encode_lsi(train: np.ndarray, test: np.ndarray, size: int) -> Pair:
    weighted, idf = tf_idf(scipy.sparse.csr_array(train))
    svd = TruncatedSVD(min(size, len(train) - 1), random_state=0)
    return svd.fit_transform(weighted), svd.transform(tf_idf(scipy.sparse.csr_array(test), idf)[0])


def encode_plsi(train: np.ndarray, test: np.ndarray, size: int) -> Pair:
    model = PLSI(size, random_state=0).fit(scipy.sparse.csr_array(train))
    return (
        model.transform(scipy.sparse.csr_array(train), n_iter=25),
        model.transform(scipy.sparse.csr_array(test), n_iter=25),
    )


def encode_rap(train: np.ndarray, test: np.ndarray, size: int, M: int, epochs: int, decay: float) -> Pair:
    driver = Stochastic(max_iter=epochs, batch_size=20, learning_rate=0.005, weight_decay=decay)
    model = RAP(size, M, driver=driver, random_state=0).fit(train)
    return model.transform(train), model.transform(test)


def classify(train: np.ndarray, labels: np.ndarray) -> GridSearchCV:
    """Linear SVM on standardised coordinates, C by ten-fold cross-validation."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    classifier = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    return GridSearchCV(classifier, {"svc__C": [1e-3, 1e-2, 1e-1, 1, 10]}, cv=folds).fit(train, labels)


class Splits:
    """Visual-word counts of every split, made when first asked for."""

    def __init__(self, data: CaltechPatches, n_train: int, max_test: int) -> None:
        self._data = data
        self._sizes = n_train, max_test
        self._made: dict[tuple[int, int], tuple[np.ndarray, ...]] = {}

    def get(self, seed: int, n_words: int) -> tuple[np.ndarray, ...]:
        """Counts and labels of training images, then of test images."""
        if (seed, n_words) not in self._made:
            labels = self._data.labels
            train, test = split(labels, seed, *self._sizes)
            counts = visual_word_counts(self._data.patches, self._data.offsets, train, n_words, seed)
            self._made[seed, n_words] = counts[train], labels[train], counts[test], labels[test]
        return self._made[seed, n_words]

    def accuracy(self, encode: Callable[..., Pair], seed: int, n_words: int, size: int) -> float:
        """Mean over classes of the share of test images that are recognised."""
        train, train_labels, test, test_labels = self.get(seed, n_words)
        coordinates, unseen = encode(train, test, size)
        predicted = classify(coordinates, train_labels).predict(unseen)
        return float(np.mean([np.mean(predicted[test_labels == c] == c) for c in np.unique(test_labels)]))


def choose(splits: Splits, n_splits: int) -> dict[str, Any]:
    """Return RAP's settings, by three-fold cross-validation on the training images of the first splits.

    The latent space is learnt within each fold, on its training images alone.
    """
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    best, chosen = -1.0, {}
    for M, epochs, decay in itertools.product((1, 20), (300,), (1.0, 3.0)):
        settings = {"M": M, "epochs": epochs, "decay": decay}
        scores = []
        for seed in range(n_splits):
            images, labels, _, _ = splits.get(seed, WORDS)
            for fit, check in folds.split(images, labels):
                coordinates, unseen = encode_rap(images[fit], images[check], SIZE, **settings)
                classifier = make_pipeline(StandardScaler(), SVC(kernel="linear", C=0.1)).fit(coordinates, labels[fit])
                scores.append(classifier.score(unseen, labels[check]))
        print(f"{settings}: {np.mean(scores):.4f}", flush=True)
        if np.mean(scores) > best:
            best, chosen = float(np.mean(scores)), settings
    return chosen


def sign_test(ours: list[float], theirs: list[float]) -> float:
    """p-value of the two-sided paired sign test; ties do not count."""
    difference = np.subtract(ours, theirs)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def run(options: SimpleNamespace) -> Result:
    """Recognise the test images of many splits over the number of dimensions."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    patches = load_patches()
    splits = Splits(patches, options.train, options.test)
    settings = choose(splits, options.choice_splits)

    def rap(train: np.ndarray, test: np.ndarray, size: int) -> Pair:
        return encode_rap(train, test, size, **settings)

    methods = {"RAP": rap, "LSI": encode_lsi, "PLSI": encode_plsi}
    columns = {**dict.fromkeys(methods, "{:.3f}"), "p against LSI": "{:.2g}", "p against PLSI": "{:.2g}"}
    n_classes = len(np.unique(patches.labels))
    result = Result()
    result.text(
        f"{options.splits} random splits, {options.train} training and at most {options.test} test images of each of "
        f"{n_classes} classes (chance {100 / n_classes:g} %). RAP's settings, by cross-validation on training images: "
        f"{', '.join(f'{key} {value:g}' for key, value in settings.items())}. Goal: RAP better, p < {GOAL}."
    )
    rows = []
    for size in DIMENSIONS:
        found = recognised(methods, splits, size, options.splits)
        rows.append([size, *(with_error(found[name]) for name in methods), *p_values(found)])
        print(rows[-1], flush=True)
    result.heading(f"Accuracy by latent dimensions ({WORDS} words)")
    result.table("latent dimensions", {"latent dimensions": None, **columns}, rows)
    cropped = Splits(load_patches(margin=MARGIN), options.train, options.test)
    found = recognised(methods, cropped, SIZE, options.splits)
    result.heading("Without picture frames")
    result.text(
        "Many leopards have a thin black frame and many motorbikes a white one, which give the class away to some "
        f"degree. With {100 * MARGIN:g} % cut off at each edge, {WORDS} words and {SIZE} dimensions:"
    )
    result.table("without frames", columns, [[*(with_error(found[name]) for name in methods), *p_values(found)]])
    return result


def recognised(methods: Mapping[str, Any], splits: Splits, size: int, n_splits: int) -> dict[str, list[float]]:
    """Return the accuracies of all splits by method."""
    return {
        name: [splits.accuracy(encode, seed, WORDS, size) for seed in range(n_splits)]
        for name, encode in methods.items()
    }


def p_values(found: Mapping[str, list[float]]) -> list[float]:
    """Return p of RAP against each rival."""
    return [sign_test(found["RAP"], found[name]) for name in ("LSI", "PLSI")]
