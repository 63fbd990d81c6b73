"""Clusters without labels: k-means in the space of `ClusterSpace` against what practitioners use.

Small and large random parts of sets with several views and of texts; every run draws its own part, or takes the whole
set, and k-means (ten starts) is told the number of classes. Labels are used to measure alone, with one exception in
favour of the rivals: those with a number of dimensions have 20 and 50, and the better one in hindsight is shown.

Columns of the PCAs are standardised, or in the units of the data with all views at the same total variance, or both.
Words are counts of up to 5,000 words that are no stop words and that two texts have; tf-idf is that of scikit-learn,
with rows of length 1, with counts as they are or by logarithms. MCCA takes the mean of the canonical variables of all
views; wide views come as 50 principal components. Spaces of ours have defaults; they see views as they are, but
`TopicModel` the presence of words, and it has as many topics as there are classes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_bdgp, load_caltech4, load_mfeat, load_shapes, load_wikipedia
from benchmarks.features.pictures import picture_views
from benchmarks.features.words import binary, reuters
from benchmarks.measuring import median, with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import ClusterSpace, TopicModel
from harmonium.datasets import load_newsgroups

SIZES = (20, 50)
WORDS = 5000
PER_CLASS = 120  # photographs that parts are drawn from
FIVE_GROUPS = (1, 4, 7, 10, 15)  # graphics, Macintosh, cars, hockey and Christianity
OURS = "`ClusterSpace()`"
CHANCE = "clusters at random"
Views = dict[str, Any]
Space = Callable[[Views, int, int], np.ndarray]


# ---- sets ------------------------------------------------------------------------------------------------------------
@cache
def several(name: str) -> tuple[Views, np.ndarray]:
    """Views and classes of a whole set."""
    if name in PHOTOGRAPHS:
        data = PHOTOGRAPHS[name](size=100, per_class=PER_CLASS)
        return picture_views(data.views["image"]), np.asarray(data.target)
    data = {"mfeat": load_mfeat, "BDGP": load_bdgp, "Wikipedia": load_wikipedia}[name]()
    return dict(data.views), np.asarray(data.target)


PHOTOGRAPHS: dict[str, Callable[..., Any]] = {"Caltech-4": load_caltech4, "SYSU-Shapes": load_shapes}


@cache
def stories() -> tuple[np.ndarray, np.ndarray]:
    """Texts and classes of the ten largest topics of Reuters-21578."""
    data = reuters(10)
    return np.concatenate([data.train, data.test]), np.concatenate([data.y, data.truth])


@cache
def messages() -> tuple[np.ndarray, np.ndarray]:
    """Texts and classes of the training messages of five newsgroups."""
    data = load_newsgroups(remove=("headers", "footers", "quotes"))
    found, classes = np.asarray(data.views["text"], dtype=object), np.asarray(data.target)
    kept = (np.asarray(data.split) == "train") & np.isin(classes, FIVE_GROUPS)
    return found[kept], classes[kept]


def part(n_rows: int, size: int, seed: int) -> np.ndarray:
    """Places of a random part of the rows; all of them if the size is 0."""
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[: size or None])


def drawn_views(name: str, size: int, seed: int) -> tuple[Views, np.ndarray]:
    views, y = several(name)
    rows = part(len(y), size, seed)
    return {view: values[rows] for view, values in views.items()}, y[rows]


def drawn_texts(size: int, seed: int) -> tuple[Views, np.ndarray]:
    """Counts of words of some stories; those without words are left out."""
    found, y = stories()
    rows = part(len(y), size, seed)
    return with_words({"words": counts(found[rows])}, y[rows])


def drawn_halves(size: int, seed: int) -> tuple[Views, np.ndarray]:
    """Counts of words of the first and of the second halves of some messages; those without words are left out."""
    found, y = messages()
    rows = part(len(y), size, seed)
    split = [text.split() for text in found[rows]]
    halves = {
        "first half": [words[: len(words) // 2] for words in split],
        "second half": [words[len(words) // 2 :] for words in split],
    }
    return with_words({name: counts(" ".join(words) for words in piece) for name, piece in halves.items()}, y[rows])


def with_words(views: Views, y: np.ndarray) -> tuple[Views, np.ndarray]:
    """Leave out the rows without words in one of the views."""
    filled = np.flatnonzero(np.min([view.sum(axis=1) for view in views.values()], axis=0))
    return {name: view[filled] for name, view in views.items()}, y[filled]


def counts(documents: Iterable[str]) -> scipy.sparse.csr_array:
    vectorizer = CountVectorizer(max_features=WORDS, min_df=2, stop_words="english", dtype=np.float32)
    return scipy.sparse.csr_array(vectorizer.fit_transform(documents))


# by table: by name of a part, how to draw it
SETS: dict[str, dict[str, Callable[[int, int], tuple[Views, np.ndarray]]]] = {
    "views": {
        "mfeat": lambda seed, rows: drawn_views("mfeat", rows, seed),
        "BDGP": lambda seed, rows: drawn_views("BDGP", rows, seed),
        "Wikipedia": lambda seed, rows: drawn_views("Wikipedia", rows, seed),
        "Caltech-4, 210": lambda seed, rows: drawn_views("Caltech-4", rows or 210, seed),
        "SYSU-Shapes, 210": lambda seed, rows: drawn_views("SYSU-Shapes", rows or 210, seed),
    },
    "texts": {
        "Reuters, 500": lambda seed, rows: drawn_texts(rows or 500, seed),
        "newsgroups, halves": lambda seed, rows: drawn_halves(rows or 500, seed),
    },
}

BENCHMARK = Benchmark(
    title="A space to cluster in",
    claim="k-means in the space of `ClusterSpace` against PCA of standardised and of balanced views, tf-idf SVD and "
    "MCCA, on seven sets",
    minutes=5,
    data=("mfeat", "bdgp", "wikipedia", "caltech4", "shapes", "reuters21578", "newsgroups"),
    settings={
        "runs": 5,
        "first_seed": 1000,
        "starts": 10,
        "rows": 0,
        "sets": tuple(name for sets in SETS.values() for name in sets),
    },
    quick={"runs": 2, "first_seed": 0, "starts": 1, "rows": 60, "sets": ("Wikipedia, 300", "Reuters, 500")},
)


# ---- spaces ----------------------------------------------------------------------------------------------------------
def dense(view: Any) -> np.ndarray:
    return np.asarray(view.toarray() if scipy.sparse.issparse(view) else view, dtype=np.float64)


def side_by_side(views: Views, standardised: bool, balanced: bool) -> np.ndarray:
    parts = []
    for view in views.values():
        values = StandardScaler(with_std=standardised).fit_transform(dense(view))
        parts.append(values / np.linalg.norm(values) if balanced else values)
    return np.concatenate(parts, axis=1)


def principal(standardised: bool, balanced: bool) -> Callable[[int], Space]:
    def of_size(size: int) -> Space:
        def space(views: Views, n_classes: int, seed: int) -> np.ndarray:
            table = side_by_side(views, standardised, balanced)
            return PCA(min(size, *table.shape), random_state=seed).fit_transform(table)

        return space

    return of_size


def weighted(views: Views, logarithms: bool) -> scipy.sparse.csr_matrix:
    parts = [TfidfTransformer(sublinear_tf=logarithms).fit_transform(view) for view in views.values()]
    return scipy.sparse.hstack(parts, format="csr")


def semantic(logarithms: bool, unit_rows: bool) -> Callable[[int], Space]:
    def of_size(size: int) -> Space:
        def space(views: Views, n_classes: int, seed: int) -> np.ndarray:
            found = TruncatedSVD(size, random_state=seed).fit_transform(weighted(views, logarithms))
            return normalize(found) if unit_rows else found

        return space

    return of_size


def correlated(size: int) -> Space:
    def space(views: Views, n_classes: int, seed: int) -> np.ndarray:
        from cca_zoo.linear import MCCA

        parts = [StandardScaler().fit_transform(dense(view)) for view in views.values()]
        parts = [PCA(50, random_state=seed).fit_transform(one) if one.shape[1] > 50 else one for one in parts]
        size_ = min(size, *(one.shape[1] for one in parts))
        return np.mean(MCCA(size_, shrinkage=0.5).fit(parts).transform(parts), axis=0)

    return space


def cluster_space(views: Views, n_classes: int, seed: int) -> np.ndarray:
    return ClusterSpace(random_state=seed).fit_transform(views)


def topics(views: Views, n_classes: int, seed: int) -> np.ndarray:
    return TopicModel(n_classes, random_state=seed).fit_transform({name: binary(view) for name, view in views.items()})


def all_columns(views: Views, n_classes: int, seed: int) -> np.ndarray:
    return side_by_side(views, standardised=True, balanced=False)


def all_words(views: Views, n_classes: int, seed: int) -> Any:
    return weighted(views, logarithms=True)


# by table: by name of a space, how to make it, or how to make it with a number of dimensions
PLAIN: dict[str, dict[str, Space]] = {
    "views": {OURS: cluster_space, "all columns": all_columns},
    "texts": {OURS: cluster_space, "`TopicModel`": topics, "all words, tf-idf": all_words},
}
SIZED: dict[str, dict[str, Callable[[int], Space]]] = {
    "views": {
        "PCA of standardised columns": principal(standardised=True, balanced=False),
        "PCA of balanced views": principal(standardised=False, balanced=True),
        "PCA of standardised columns, balanced views": principal(standardised=True, balanced=True),
        "MCCA (cca-zoo)": correlated,
    },
    "texts": {
        "tf-idf SVD": semantic(logarithms=False, unit_rows=False),
        "tf-idf SVD, unit rows": semantic(logarithms=False, unit_rows=True),
        "tf-idf with logarithms, SVD, unit rows": semantic(logarithms=True, unit_rows=True),
        "PCA of standardised columns": principal(standardised=True, balanced=False),
    },
}


# ---- measuring -------------------------------------------------------------------------------------------------------
def quality(space: Any, y: np.ndarray, seed: int, starts: int) -> tuple[float, float]:
    """NMI and ARI of k-means with as many clusters as classes."""
    found = KMeans(len(np.unique(y)), n_init=starts, random_state=seed).fit_predict(space)
    return float(normalized_mutual_info_score(y, found)), float(adjusted_rand_score(y, found))


def measured(kind: str, name: str, options: SimpleNamespace) -> tuple[dict[str, list[tuple[float, float]]], str]:
    """NMI and ARI of all spaces in all runs, and seconds of ours, in words."""
    found: dict[str, dict[int, list[tuple[float, float]]]] = {}
    seconds: list[float] = []
    for seed in range(options.first_seed, options.first_seed + options.runs):
        views, y = SETS[kind][name](seed, options.rows)
        n_classes = len(np.unique(y))
        spaces = {(method, 0): space for method, space in PLAIN[kind].items()}
        spaces |= {(method, size): of_size(size) for method, of_size in SIZED[kind].items() for size in SIZES}
        for (method, size), space in spaces.items():
            begin = time.perf_counter()
            rows = space(views, n_classes, seed)
            if method == OURS:
                seconds.append(time.perf_counter() - begin)
            reached = quality(rows, y, seed, options.starts)
            found.setdefault(method, {}).setdefault(size, []).append(reached)
        labels = np.random.default_rng(seed).integers(n_classes, size=len(y))
        at_random = (float(normalized_mutual_info_score(y, labels)), float(adjusted_rand_score(y, labels)))
        found.setdefault(CHANCE, {}).setdefault(0, []).append(at_random)
    best = {
        method: max(sizes.values(), key=lambda one: np.mean([nmi for nmi, _ in one])) for method, sizes in found.items()
    }
    for method, values in best.items():
        print(name, method, np.mean(values, axis=0).round(3), sep="|", flush=True)
    return best, f"{name}: {len(y):,} items, {n_classes} classes, fit and transform {median(seconds):.2g} s"


def run(options: SimpleNamespace) -> Result:
    """Measure all spaces on all parts."""
    warnings.simplefilter("ignore")
    result = Result()
    result.text(
        f"Means and standard deviations over {options.runs} runs, each with its own random part of the set (or all of "
        f"it), fit and k-means. Rivals with a number of dimensions have {' or '.join(map(str, SIZES))}, whichever is "
        "better in hindsight. Draws were not used in development."
    )
    for kind, sets in SETS.items():
        chosen = [name for name in sets if name in options.sets]
        if not chosen:
            continue
        by_set, lines = {}, []
        for name in chosen:
            with threadpool_limits(1):
                by_set[name], line = measured(kind, name, options)
            lines.append(f"- {line}")
        result.heading({"views": "Several views", "texts": "Texts"}[kind])
        result.text("\n".join(lines))
        for place, measure in enumerate(("NMI", "ARI")):
            result.text(f"{measure}:")
            columns = {"space": None} | dict.fromkeys(chosen, "{:.2f}")
            methods = [*PLAIN[kind], *SIZED[kind], CHANCE]
            rows = [
                [method, *(with_deviation([one[place] for one in by_set[name][method]]) for name in chosen)]
                for method in methods
            ]
            result.table(f"{kind} {measure}", columns, rows)
    return result
