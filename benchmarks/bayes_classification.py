"""One-nearest-neighbour accuracy in latent spaces of all items: LSI, GM-LDA, DWH and BDWH (Fig. 7).

As in the paper, latent spaces are learned from all items without labels; half of the items then serve as neighbours of
the other half, over 10 random halves. Few items are the subject of `bayes_few_items`. Wikipedia has two real-valued
views, visual words and shares of ten topics, which GM-LDA takes as counts out of 100; so do the others in "wikipedia,
counts" (`ReplicatedSoftmax`). Settings of all models are their defaults, apart from the chains' lengths; DWH with a
larger weight decay is what else one would do about few items. LSI chooses which views it takes and how they are scaled,
or not, by the leave-one-out accuracy of one nearest neighbour among the items that serve as neighbours, whose labels
are known.
"""

from __future__ import annotations

import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load_bdgp, load_wikipedia
from benchmarks.features.words import few
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.gm_lda import GMLDA
from benchmarks.rivals.prepared import NUMBERS, Preparation, preparations, rows_of, trivial
from harmonium import BDWH, DWH, Bernoulli, Gaussian, HarmoniumWarning, Langevin, Stochastic
from harmonium.families import ReplicatedSoftmax

LOADERS = {"wikipedia": load_wikipedia, "wikipedia, counts": load_wikipedia, "bdgp": load_bdgp}
BENCHMARK = Benchmark(
    title="Nearest neighbours in latent spaces",
    claim="1-NN accuracy of LSI, GM-LDA, DWH and BDWH over topics, latent spaces of all items",
    minutes=7,
    data=("wikipedia", "bdgp"),
    settings={"sets": tuple(LOADERS), "processes": 2, "topics": (16,), "rows": 0},
    quick={"sets": ("bdgp",), "processes": 2, "topics": (4,), "rows": 80},
)
FAMILIES = {("bdgp", "text"): Bernoulli(), ("wikipedia, counts", "text"): ReplicatedSoftmax()}
HALVES = 10
MOST_FREQUENT = "most frequent class"
METHODS = (MOST_FREQUENT, "LSI", "GM-LDA", "DWH", "DWH, decay 10", "BDWH")
Views = dict[str, np.ndarray]
Found = dict[Any, dict[str, float]]


def load(name: str, limit: int = 0) -> tuple[Views, np.ndarray]:
    loaded = LOADERS[name]()
    views = {view: value.toarray() if hasattr(value, "toarray") else value for view, value in loaded.views.items()}
    if name.startswith("wikipedia"):
        views["text"] = np.rint(100 * views["text"]) if name.endswith("counts") else views["text"]
    rows = few(len(loaded.target), limit)
    return rows_of(views, rows), loaded.target[rows]


def lsi_spaces(train: Views, n_topics: int, seed: int) -> list[Any]:
    """Functions from views to singular vectors, one for each way to prepare the views."""

    def learned(way: Preparation) -> Any:
        (joined,) = way.matrices(train)
        svd = TruncatedSVD(min(n_topics, joined.shape[1] - 1), random_state=seed).fit(joined)
        return lambda views: svd.transform(way.matrices(train, views)[1])

    return [learned(way) for way in preparations(train, tuple(NUMBERS))]


def left_out_accuracy(latent: np.ndarray, y: np.ndarray) -> float:
    """1-NN accuracy of items among the others."""
    nearest = NearestNeighbors(n_neighbors=1).fit(latent).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(y[nearest] == y))


def best_space(latents: list[np.ndarray], y: np.ndarray, rows: np.ndarray) -> int:
    """Return the number of the space in which neighbours among some rows are right most often."""
    return int(np.argmax([left_out_accuracy(latent[rows], y[rows]) for latent in latents]))


def fitted(method: str, name: str, train: Views, n_topics: int, seed: int) -> Any:
    """Functions from views to latent representations, of which labels choose one, and the model."""
    families = {view: FAMILIES.get((name, view), Gaussian()) for view in train}
    if method == "LSI":
        return lsi_spaces(train, n_topics, seed), None
    if method == "GM-LDA":
        scale = 100.0 if name == "wikipedia" else 1.0
        rival = GMLDA(n_topics, seed=seed).fit(scale * train["text"], train["image"])
        return [lambda views: rival.transform(scale * views["text"], views["image"])], None
    settings = {"random_state": seed, "n_jobs": 1}
    if method == "BDWH":
        driver = Langevin(n_draws=50, n_warmup=300, thin=4, n_chains=2)
        model = BDWH(n_topics, families, driver=driver, **settings).fit(train)
    else:
        decay = 10.0 if method.endswith("10") else 1e-4
        model = DWH(n_topics, families, driver=Stochastic(weight_decay=decay), **settings).fit(train)
    return [model.transform], model


def neighbours(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    return KNeighborsClassifier(1).fit(train, y).predict(test)


def all_items(job: tuple[str, str, int, int]) -> tuple[Any, dict[str, float]]:
    """Fig. 7: latent space of all items, random halves."""
    name, method, n_topics, limit = job
    quiet()
    views, y = load(name, limit)
    with threadpool_limits(1):
        begin = time.perf_counter()
        latents = [] if method == MOST_FREQUENT else [to(views) for to in fitted(method, name, views, n_topics, 0)[0]]
        seconds = time.perf_counter() - begin
        scores = []
        for half in range(HALVES):
            train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=half, stratify=y)
            if not latents:
                predicted = trivial(y[train], len(test), classes=True).predicted
            else:
                latent = latents[best_space(latents, y, train) if len(latents) > 1 else 0]
                predicted = neighbours(latent[train], y[train], latent[test])
            scores.append(float((predicted == y[test]).mean()))
    print(*job, f"{np.mean(scores):.3f}, {seconds:.0f} s", flush=True)
    return job[:3], {"accuracy": float(np.mean(scores)), "seconds": seconds}


def quiet() -> None:
    warnings.simplefilter("ignore", HarmoniumWarning)


def run(options: SimpleNamespace) -> Result:
    """Measure latent spaces of all items."""
    jobs = [(name, method, k, options.rows) for name in options.sets for method in METHODS for k in options.topics]
    with ProcessPoolExecutor(options.processes) as pool:
        figure: Found = dict(pool.map(all_items, jobs))
    draw(options.sets, options.topics, figure, options.output / "bayes_classification.png")
    most = options.topics[-1]
    rows = [
        [
            name,
            method,
            *(figure[name, method, k]["accuracy"] for k in options.topics),
            figure[name, method, most]["seconds"],
        ]
        for name in options.sets
        for method in METHODS
    ]
    result = Result()
    result.text(f"Latent spaces of all items (mean over {HALVES} halves):")
    result.table("all items", ["data", "method", *(f"{k} topics" for k in options.topics), f"seconds at {most}"], rows)
    result.figure("bayes_classification.png", "1-NN accuracy over topics")
    return result


def draw(sets: tuple[str, ...], topics: tuple[int, ...], figure: Found, file: Path) -> None:
    """Draw the accuracy of all items over the number of topics."""
    import matplotlib.pyplot as plt

    picture, panels = plt.subplots(1, len(sets), figsize=(4.5 * len(sets), 3.5), layout="constrained", squeeze=False)
    for panel, name in zip(panels[0], sets, strict=True):
        for method in METHODS:
            panel.plot(topics, [figure[name, method, k]["accuracy"] for k in topics], "o-", label=method)
        panel.set(title=name, xlabel="topics", ylabel="1-NN accuracy", xscale="log", xticks=topics, xticklabels=topics)
        panel.minorticks_off()
    panels[0, 0].legend(fontsize=8)
    picture.savefig(file, dpi=120)
