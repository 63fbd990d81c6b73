"""One-nearest-neighbour accuracy in latent spaces: LSI, GM-LDA, DWH and BDWH (Fig. 7), and with few training items.

As in the paper, latent spaces are learned from all items without labels; half of the items then serve as neighbours of
the other half, over 10 random halves. With few items, the latent space is learned from those alone, which are also the
neighbours, and 1,000 others are the test. Wikipedia has two real-valued views, visual words and shares of ten topics,
which GM-LDA takes as counts out of 100; so do the others in "wikipedia, counts" (`ReplicatedSoftmax`). Settings of all
models are their defaults, apart from the chains' lengths; DWH with a larger weight decay is what else one would do
about few items. LSI chooses which views it takes and how they are scaled, or not, by the leave-one-out accuracy of one
nearest neighbour among the items that serve as neighbours, whose labels are known.

How sure BDWH is of an item: the share of posterior draws in whose latent space the nearest neighbour has another class
than most draws say. AUROC is that of this share for telling wrong predictions from right ones. Coverage is the share of
values of images that lie in their 90 % intervals, predicted from the text, for the first 100 test items.
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
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.features.words import few
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.gm_lda import GMLDA
from benchmarks.rivals.prepared import NUMBERS, Preparation, preparations, rows_of, trivial
from harmonium import BDWH, DWH, Bernoulli, Gaussian, HarmoniumWarning, Langevin, ReplicatedSoftmax, Stochastic
from harmonium.datasets import load_bdgp, load_wikipedia

LOADERS = {"wikipedia": load_wikipedia, "wikipedia, counts": load_wikipedia, "bdgp": load_bdgp}
BENCHMARK = Benchmark(
    title="Nearest neighbours in latent spaces",
    claim="1-NN accuracy of LSI, GM-LDA, DWH and BDWH over topics and with few items; how well BDWH knows its errors",
    minutes=25,
    data=("wikipedia", "bdgp"),
    settings={
        "sets": tuple(LOADERS),
        "trials": 5,
        "processes": 2,
        "topics": (4, 8, 16, 32),
        "sizes": (50, 100, 200),
        "rows": 0,
    },
    quick={"sets": ("bdgp",), "trials": 2, "processes": 2, "topics": (4,), "sizes": (20,), "rows": 80},
)
FAMILIES = {("bdgp", "text"): Bernoulli(), ("wikipedia, counts", "text"): ReplicatedSoftmax()}
SMALL_TOPICS, HALVES, TEST, COVERED = 16, 10, 1000, 100
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


def few_items(job: tuple[str, str, int, int, int]) -> tuple[Any, dict[str, float]]:
    """Latent space and neighbours from few items."""
    name, method, size, trial, limit = job
    quiet()
    views, y = load(name, limit)
    train, rest = train_test_split(np.arange(len(y)), train_size=size, random_state=trial, stratify=y)
    test = np.random.default_rng(trial).permutation(rest)[:TEST]
    parts = [rows_of(views, rows) for rows in (train, test)]
    if method == MOST_FREQUENT:
        accuracy = np.mean(trivial(y[train], len(test), classes=True).predicted == y[test])
        return job[:4], {"accuracy": float(accuracy)}
    with threadpool_limits(1):
        spaces, model = fitted(method, name, parts[0], SMALL_TOPICS, trial)
        known = [to(parts[0]) for to in spaces]
        best = best_space(known, y[train], np.arange(size)) if len(spaces) > 1 else 0
        predicted = neighbours(known[best], y[train], spaces[best](parts[1]))
        result = {"accuracy": float((predicted == y[test]).mean())}
        if method == "BDWH":
            result |= certainty(model, parts, y[train], y[test])
        if model is not None:
            seen = {view: value[:COVERED] for view, value in parts[1].items()}
            _, lower, upper = model.predict_view("image", {"text": seen["text"]}, interval=0.9)
            inside = (seen["image"] >= lower) & (seen["image"] <= upper)
            result["covered"] = float(inside.mean())
    print(*job, result, flush=True)
    return job[:4], result


def certainty(model: Any, parts: list[Views], y: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Votes of the draws: accuracy of the majority, and how well the share of others tells its errors."""
    votes = []
    draws = model.posterior_
    encoded = [
        {view: np.asarray(model.families_[view].encode(value), dtype=np.float32) for view, value in views.items()}
        for views in parts
    ]
    for place in np.ndindex(draws["hidden.bias"].shape[:2]):
        latent = [
            sum(statistic @ draws[f"{view}.weights"][place] for view, statistic in views.items()) for views in encoded
        ]
        votes.append(neighbours(latent[0], y, latent[1]))
    counts = np.stack([np.stack(votes) == label for label in np.unique(y)], axis=-1).sum(axis=0)
    majority = np.unique(y)[counts.argmax(axis=1)]
    spread = 1 - counts.max(axis=1) / len(votes)
    wrong = majority != truth
    return {"majority": float(1 - wrong.mean()), "auroc": float(roc_auc_score(wrong, spread))}


def quiet() -> None:
    warnings.simplefilter("ignore", HarmoniumWarning)


def run(options: SimpleNamespace) -> Result:
    """Measure latent spaces of all items and of few."""
    figure_jobs = [
        (name, method, k, options.rows) for name in options.sets for method in METHODS for k in options.topics
    ]
    small_jobs = [
        (name, method, size, trial, options.rows)
        for name in options.sets
        for method in METHODS
        for size in options.sizes
        for trial in range(options.trials)
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        few = dict(pool.map(few_items, small_jobs))
        figure = dict(pool.map(all_items, figure_jobs))
    draw(options.sets, options.topics, figure, options.output / "bayes_classification.png")
    return report(options, figure, few)


def report(options: SimpleNamespace, figure: Found, few: Found) -> Result:
    """Return tables of all items, of few items, and of what the posterior knows about itself."""
    sets, trials, topics, sizes = options.sets, options.trials, options.topics, options.sizes
    most = topics[-1]
    rows = [
        [name, method, *(figure[name, method, k]["accuracy"] for k in topics), figure[name, method, most]["seconds"]]
        for name in sets
        for method in METHODS
    ]
    result = Result()
    result.text(f"Latent spaces of all items (mean over {HALVES} halves):")
    result.table("all items", ["data", "method", *(f"{k} topics" for k in topics), f"seconds at {most}"], rows)
    small_rows = [
        [
            name,
            method,
            *(with_error([few[name, method, size, trial]["accuracy"] for trial in range(trials)]) for size in sizes),
        ]
        for name in sets
        for method in METHODS
    ]
    result.text(
        f"Latent spaces and neighbours from few items, {SMALL_TOPICS} topics, mean and standard error over {trials} "
        "trials:"
    )
    columns = {"data": None, "method": None, **{f"{size} items": "{:.3f}" for size in sizes}}
    result.table("few items", columns, small_rows)
    sure_rows: list[list[object]] = []
    for name in sets:
        for size in sizes:
            own = [few[name, "BDWH", size, trial] for trial in range(trials)]
            plain = [few[name, "DWH", size, trial] for trial in range(trials)]
            averages = [float(np.mean([result[key] for result in own])) for key in ("majority", "auroc", "covered")]
            sure_rows.append([name, size, *averages, float(np.mean([result["covered"] for result in plain]))])
    result.text("What the posterior knows about itself, with few items:")
    columns = dict.fromkeys(["data", "items", "accuracy of the majority", "AUROC", "coverage, BDWH", "coverage, DWH"])
    result.table("certainty", columns, sure_rows)
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
