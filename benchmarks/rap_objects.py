"""Object recognition with RAP (Gehler et al. 2006, §4): Caltech-4, visual words, latent space, linear SVM.

15 training and at most 50 test images a class, 35 random splits; the vocabulary and every latent model are learnt on
the training images of a split alone. Two-sided paired sign tests compare RAP with LSI and PLSI.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse
from scipy.stats import binomtest
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from common import RESULTS, table, write
from features.weights import tf_idf
from harmonium import Stochastic
from harmonium.recipes import RAP
from rivals.plsi import PLSI
from visual_words import CaltechPatches, load_patches, split, visual_word_counts

N_SPLITS = 35
DIMENSIONS = (5, 10, 15, 25, 35, 45)
VOCABULARIES = (50, 75, 100, 125, 150, 200, 250, 300)
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

    def __init__(self, data: CaltechPatches) -> None:
        self._data = data
        self._made: dict[tuple[int, int], tuple[np.ndarray, ...]] = {}

    def get(self, seed: int, n_words: int) -> tuple[np.ndarray, ...]:
        """Counts and labels of training images, then of test images."""
        if (seed, n_words) not in self._made:
            labels = self._data.labels
            train, test = split(labels, seed)
            counts = visual_word_counts(self._data.patches, self._data.offsets, train, n_words, seed)
            self._made[seed, n_words] = counts[train], labels[train], counts[test], labels[test]
        return self._made[seed, n_words]

    def accuracy(self, encode: Callable[..., Pair], seed: int, n_words: int, size: int) -> float:
        """Mean over classes of the share of test images that are recognised."""
        train, train_labels, test, test_labels = self.get(seed, n_words)
        coordinates, unseen = encode(train, test, size)
        predicted = classify(coordinates, train_labels).predict(unseen)
        return float(np.mean([np.mean(predicted[test_labels == c] == c) for c in np.unique(test_labels)]))


def choose(splits: Splits) -> dict[str, float]:
    """RAP's settings, by three-fold cross-validation on the training images of the first eight splits.

    The latent space is learnt within each fold, on its training images alone.
    """
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    best, chosen = -1.0, {}
    for M, epochs, decay in itertools.product((1, 5, 20), (100, 300), (1.0, 3.0, 10.0)):
        settings = {"M": M, "epochs": epochs, "decay": decay}
        scores = []
        for seed in range(8):
            images, labels, _, _ = splits.get(seed, 125)
            for fit, check in folds.split(images, labels):
                coordinates, unseen = encode_rap(images[fit], images[check], 35, **settings)
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


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    splits = Splits(load_patches())
    settings = choose(splits)

    def rap(train: np.ndarray, test: np.ndarray, size: int) -> Pair:
        return encode_rap(train, test, size, **settings)  # type: ignore[arg-type]

    methods = {"RAP": rap, "LSI": encode_lsi, "PLSI": encode_plsi}
    header = ["RAP", "LSI", "PLSI", "p against LSI", "p against PLSI"]
    body = [
        f"{N_SPLITS} random splits, 15 training and at most 50 test images of each of 4 classes (chance 25 %). RAP's "
        f"settings, by cross-validation on training images: {settings}. Goal: RAP better, p < 0.05."
    ]
    body.append(
        "How RAP's settings came about: a first run chose them (M = 1, 100 epochs, decay 3) by a cross-validation "
        "whose latent space had seen all training images, and gave 0.911 / 0.883 / 0.907 for RAP / LSI / PLSI at 35 "
        "dimensions (p = 0.2 against PLSI, and no clear difference below 25 dimensions). After that result was seen, "
        "the latent space was fitted within each fold and M = 20 added to the grid; the tables are from that second "
        "run. Splits are drawn from the same images, so training images used for the choice are test images of others."
    )
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    sweeps = (
        ("latent dimensions (125 words)", "latent dimensions", DIMENSIONS, lambda value: (125, value)),
        ("size of the vocabulary (35 dimensions)", "visual words", VOCABULARIES, lambda value: (value, 35)),
    )
    for axis, (title, label, values, sizes) in zip(axes, sweeps, strict=True):
        rows = []
        means: dict[str, list[float]] = {name: [] for name in methods}
        for value in values:
            n_words, size = sizes(value)
            results = {
                name: [splits.accuracy(encode, seed, n_words, size) for seed in range(N_SPLITS)]
                for name, encode in methods.items()
            }
            for name, accuracies in results.items():
                means[name].append(float(np.mean(accuracies)))
            tests = [sign_test(results["RAP"], results[name]) for name in ("LSI", "PLSI")]
            rows.append([value, *(means[name][-1] for name in methods), *tests])
            print(title, rows[-1], flush=True)
        for name, line in means.items():
            axis.plot(values, line, marker="o", label=name)
        axis.set(xlabel=label, ylabel="accuracy", title=f"Caltech-4: {title}")
        axis.legend()
        body += [f"## Accuracy by {title}", table([label, *header], rows)]
    figure.savefig(RESULTS / "rap_objects.png", dpi=110)
    cropped = Splits(load_patches(margin=0.05))
    results = {
        name: [cropped.accuracy(encode, seed, 125, 35) for seed in range(N_SPLITS)] for name, encode in methods.items()
    }
    tests = [sign_test(results["RAP"], results[name]) for name in ("LSI", "PLSI")]
    body += [
        "![accuracies](rap_objects.png)",
        "## Without picture frames",
        "Many leopards have a thin black frame and many motorbikes a white one, which give the class away to some "
        "degree. With 5 % cut off at each edge, 125 words and 35 dimensions:",
        table(header, [[*(float(np.mean(results[name])) for name in methods), *tests]]),
    ]
    write("rap_objects", "RAP: object recognition", "\n\n".join(body), "python benchmarks/rap_objects.py")


if __name__ == "__main__":
    main()
