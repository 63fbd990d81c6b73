"""Search across views: Wikipedia's images and texts, emoji and their keywords.

In each of 3 trials, Wikipedia's models learn from a random 75 % of its training rows and are asked about its test rows,
emoji's learn from a random 75 % of the rows and are asked about the others. Every method's settings are chosen in each
trial by the mean of its measures on a quarter of the training rows; then it learns from all of them, and the test rows
are looked at once. The rows of harmoniums share their fits: they differ in what is compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import euclidean_distances

from benchmarks.datasets import load_wikipedia
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import Preparation
from harmonium import Harmonium
from harmonium.datasets import PictureDataset, load_emoji
from harmonium.metrics import precision_at, retrieval_report
from harmonium.search import NearestNeighbours

BENCHMARK = Benchmark(
    title="Search across views",
    claim="images by texts and back on Wikipedia, pictures by words and back on emoji: `search` against MCCA, kernel "
    "CCA, and other things to compare in the same models",
    minutes=9,
    data=("wikipedia", "emoji"),
    settings={"trials": 3, "units": (50, 100), "rows": 0},
    quick={"trials": 2, "units": (10,), "rows": 200},
)
TRAINING_SHARE, HELD_OUT = 0.75, 0.25
KNOWN, PRESENT = 3, 3  # pictures that a word must have among training rows, and among those that are searched
FIRST_PICTURES, FIRST_WORDS = 10, 5
SHOWN = ("fire", "smile", "fish", "red", "house", "sad")
Rows = dict[str, Any]
Settings = dict[str, Any]
Encode = Callable[[Rows], np.ndarray]
# of one task: quality by name of the measure
Measures = dict[str, float]


# ---- data and questions ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Trial:
    """Views and classes of training and test rows, and which views are the image and which the text."""

    train: Rows
    train_classes: np.ndarray
    test: Rows
    test_classes: np.ndarray
    image: tuple[str, ...]
    text: tuple[str, ...]
    by_words: bool

    def inner(self) -> Trial:
        """Return a quarter of the training rows against the rest."""
        order = np.random.default_rng(1).permutation(len(self.train_classes))
        cut = round(HELD_OUT * len(order))
        held, kept = np.sort(order[:cut]), np.sort(order[cut:])
        classes = self.train_classes
        return replace(
            self,
            train=at(self.train, kept),
            train_classes=classes[kept],
            test=at(self.train, held),
            test_classes=classes[held],
        )

    def side(self, names: tuple[str, ...], rows: Rows | None = None) -> Rows:
        """Return some views, of the test rows unless others are given."""
        rows = self.test if rows is None else rows
        return {name: rows[name] for name in names}

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words that training rows know, and those of them that can be searched for."""
        train, test = (rows[self.text[0]].sum(axis=0) for rows in (self.train, self.test))
        known = np.flatnonzero(train >= KNOWN)
        return known, known[test[known] >= PRESENT]

    def one_word(self, words: np.ndarray, missing: bool) -> Rows:
        """Return items of which one word is known; the rest is missing, or not there."""
        (name,) = self.text
        query = np.full((len(words), self.train[name].shape[1]), np.nan if missing else 0, dtype=np.float32)
        query[np.arange(len(words)), words] = 1
        return {name: query if missing else sp.csr_array(query)}


def at(rows: Rows, places: np.ndarray) -> Rows:
    return {name: values[places] for name, values in rows.items()}


def wikipedia(trial: int, limit: int) -> Trial:
    data = load_wikipedia()
    rng = np.random.default_rng(trial)
    train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    train = np.sort(rng.permutation(train)[: limit or round(TRAINING_SHARE * len(train))])
    test = np.sort(rng.permutation(test)[: limit or None])
    classes = np.asarray(data.target)
    return Trial(
        at(data.views, train), classes[train], at(data.views, test), classes[test], ("image",), ("text",), False
    )


@cache
def pictures() -> PictureDataset:
    """Return the emoji, read once."""
    return load_emoji()


def emoji(trial: int, limit: int) -> Trial:
    data = pictures()
    train, test = emoji_rows(trial, limit)
    classes = data.table["subcategory"].astype("category").cat.codes.to_numpy()
    views = data.views
    image, text = ("colours", "edges"), ("keywords",)
    return Trial(at(views, train), classes[train], at(views, test), classes[test], image, text, True)


def emoji_rows(trial: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(trial).permutation(len(pictures().table))
    if limit:
        order = order[: 2 * limit]
    cut = round(TRAINING_SHARE * len(order))
    return np.sort(order[:cut]), np.sort(order[cut:])


SETS: dict[str, Callable[[int, int], Trial]] = {"wikipedia": wikipedia, "emoji": emoji}


# ---- what is measured ------------------------------------------------------------------------------------------------
IMAGE_TO_TEXT, TEXT_TO_IMAGE = "image → text", "text → image"
WORDS_TO_PICTURES, WORD_TO_PICTURES, PICTURE_TO_WORDS = "keywords → pictures", "one word → pictures", "picture → words"
TASKS = {
    "wikipedia": {IMAGE_TO_TEXT: ("MAP", "P@10"), TEXT_TO_IMAGE: ("MAP", "P@10")},
    "emoji": {WORDS_TO_PICTURES: ("MAP", "P@10"), WORD_TO_PICTURES: ("MAP", "P@10"), PICTURE_TO_WORDS: ("P@5",)},
}


def questions(trial: Trial, missing: bool = True) -> Iterator[tuple[str, Rows, Rows, Any, Any]]:
    """Yield each task: its name, queries, items, and the classes or words of both."""
    image, text = trial.side(trial.image), trial.side(trial.text)
    if not trial.by_words:
        yield IMAGE_TO_TEXT, image, text, trial.test_classes, trial.test_classes
        yield TEXT_TO_IMAGE, text, image, trial.test_classes, trial.test_classes
        return
    yield WORDS_TO_PICTURES, text, image, trial.test_classes, trial.test_classes
    has = trial.test[trial.text[0]].astype(bool)
    known, asked = trial.words()
    yield WORD_TO_PICTURES, trial.one_word(asked, missing), image, sp.eye_array(len(asked)).tocsr(), has[:, asked]
    yield PICTURE_TO_WORDS, image, trial.one_word(known, missing), has[:, known], sp.eye_array(len(known)).tocsr()


def measured(task: str, query: np.ndarray, items: np.ndarray, of_query: Any, of_items: Any) -> Measures:
    """Return how well items are found by the cosine of coordinates."""
    if task == PICTURE_TO_WORDS:
        return {"P@5": precision_at(query, items, of_query, of_items, FIRST_WORDS)}
    return {
        "MAP": retrieval_report(query, items, of_query, of_items).average_precision,
        "P@10": precision_at(query, items, of_query, of_items, min(FIRST_PICTURES, len(items))),
    }


def quality(found: Mapping[str, Measures]) -> float:
    """Return what settings are chosen by: the mean of the first measure of each task."""
    return float(np.mean([next(iter(measures.values())) for measures in found.values()]))


# ---- harmoniums ------------------------------------------------------------------------------------------------------
def fitted(trial: Trial, n_units: int, seed: int) -> Harmonium:
    return Harmonium(n_units, hidden="gaussian", random_state=seed).fit(trial.train)


def by_search(model: Harmonium, trial: Trial) -> dict[str, Measures]:
    """Compare what `search` compares."""
    return {
        task: measured(task, model.search_coordinates(query), model.search_coordinates(items), *truth)
        for task, query, items, *truth in questions(trial)
    }


def by_latent(model: Harmonium, trial: Trial) -> dict[str, Measures]:
    """Compare E[h | x]."""
    return {
        task: measured(task, model.transform(query), model.transform(items), *truth)
        for task, query, items, *truth in questions(trial)
    }


def by_centred_latent(model: Harmonium, trial: Trial) -> dict[str, Measures]:
    """Compare E[h | x] less its mean over training rows that have the same views."""
    means = {names: model.transform(trial.side(names, trial.train)).mean(axis=0) for names in (trial.image, trial.text)}

    def centred(rows: Rows) -> np.ndarray:
        return model.transform(rows) - means[tuple(rows)]

    return {
        task: measured(task, centred(query), centred(items), *truth) for task, query, items, *truth in questions(trial)
    }


def by_prediction(model: Harmonium, trial: Trial) -> dict[str, Measures]:
    """Compare the items' views, standardised, with what the query lets expect of them; words by their probability."""
    found = {}
    for task, query, items, *truth in questions(trial):
        if task == PICTURE_TO_WORDS:
            known, _ = trial.words()
            expected = model.predict_view(trial.text[0], query)[:, known]
            best = np.argsort(-expected, axis=1, kind="stable")[:, :FIRST_WORDS]
            found[task] = {"P@5": float(np.take_along_axis(truth[0].toarray(), best, axis=1).mean())}
            continue
        asked, given = trial.side(tuple(query), trial.train), tuple(items)
        expected = [model.predict_view(name, query) - model.predict_view(name, asked).mean(axis=0) for name in given]
        values = []
        for place, name in enumerate(given):
            known_values, new = (dense(rows[name]) for rows in (trial.train, items))
            deviation = known_values.std(axis=0) + 1e-6
            expected[place] = expected[place] / deviation
            values.append((new - known_values.mean(axis=0)) / deviation)
        found[task] = measured(task, np.hstack(expected), np.hstack(values), *truth)
    return found


def dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


OURS = "harmonium, `search`"
COMPARED: dict[str, Callable[[Harmonium, Trial], dict[str, Measures]]] = {
    OURS: by_search,
    "harmonium, hidden means": by_latent,
    "harmonium, centred hidden means": by_centred_latent,
    "harmonium, the other view predicted": by_prediction,
}


# ---- rivals ----------------------------------------------------------------------------------------------------------
SHRINKAGES = (0.02, 0.1, 0.5, 0.9)
WORD_WEIGHTS = ("binary", "log-counts × idf, unit rows")  # of columns that are no words, and of keywords
KERNEL_WIDTHS = (0.5, 2.0)  # γ as multiples of one over the mean squared distance of training rows
KERNEL_COMPONENTS = 200
SIZES = (10, 30, 60, 100)


def prepared(trial: Trial, settings: Settings) -> tuple[dict[tuple[str, ...], np.ndarray], Encode]:
    """Return both sides of the training rows as matrices, and what makes a matrix of a side of other rows."""
    ways = {
        names: Preparation(names, words=settings["words"], numbers="standardised columns")
        for names in (trial.image, trial.text)
    }
    train = {names: trial.side(names, trial.train) for names in ways}

    def encode(rows: Rows) -> np.ndarray:
        names = tuple(rows)
        return dense(ways[names].matrices(train[names], rows)[1]).astype(np.float64)

    return {names: encode(rows) for names, rows in train.items()}, encode


def linear_features(train: np.ndarray, settings: Settings) -> Callable[[np.ndarray], np.ndarray]:
    return lambda matrix: matrix


def kernel_features(train: np.ndarray, settings: Settings) -> Callable[[np.ndarray], np.ndarray]:
    """Principal components of a Gaussian kernel."""
    gamma = settings["width"] / np.mean(euclidean_distances(train, squared=True))
    size = min(KERNEL_COMPONENTS, len(train) - 1)
    return KernelPCA(size, kernel="rbf", gamma=gamma, eigen_solver="randomized", random_state=0).fit(train).transform


def correlated(trial: Trial, settings: Settings, features: Callable[..., Any]) -> list[tuple[Settings, Encode]]:
    """Return CCA for all shrinkages and sizes on the same features: cosine of the canonical variables."""
    from cca_zoo.linear import MCCA

    matrices, encode = prepared(trial, settings)
    maps = {names: features(matrix, settings) for names, matrix in matrices.items()}
    views = [maps[names](matrix) for names, matrix in matrices.items()]
    found = []
    sizes = sorted({min(size, *(view.shape[1] for view in views)) for size in SIZES})
    for shrinkage in SHRINKAGES:
        # canonical variables come in order, so that fewer of them are the first of more
        model = MCCA(sizes[-1], shrinkage=shrinkage).fit(views)
        found.extend(
            ({**settings, "shrinkage": shrinkage, "K": size}, coordinates_of(model, size, maps, encode))
            for size in sizes
        )
    return found


def coordinates_of(model: Any, size: int, maps: Mapping[tuple[str, ...], Any], encode: Encode) -> Encode:
    def coordinates(rows: Rows) -> np.ndarray:
        names = list(maps)
        own = maps[tuple(rows)](encode(rows))
        given = [
            own if side == tuple(rows) else np.zeros((len(own), weights.shape[0]))
            for side, weights in zip(names, model.weights_, strict=True)
        ]
        return np.asarray(model.transform(given)[names.index(tuple(rows))])[:, :size]

    return coordinates


def rival_grid(features: Callable[..., Any], by_words: bool) -> list[Settings]:
    """Return what is tried beside shrinkage and size: widths of kernels."""
    widths = KERNEL_WIDTHS if features is kernel_features else (None,)
    return [{"words": WORD_WEIGHTS[by_words], "width": width} for width in widths]


RIVALS = {"MCCA (cca-zoo)": linear_features, "kernel CCA": kernel_features}


def rival(trial: Trial, features: Callable[..., Any]) -> tuple[dict[str, Measures], Settings]:
    """Choose on the inner split, then answer for the test rows."""
    inner = trial.inner()
    best: tuple[float, Settings] = (-np.inf, {})
    for settings in rival_grid(features, trial.by_words):
        for tried, encode in correlated(inner, settings, features):
            reached = quality(answers(inner, encode))
            if reached > best[0]:
                best = (reached, tried)
    chosen = best[1]
    for tried, encode in correlated(trial, {name: chosen[name] for name in ("words", "width")}, features):
        if (tried["shrinkage"], tried["K"]) == (chosen["shrinkage"], chosen["K"]):
            return answers(trial, encode), chosen
    raise AssertionError("what was chosen was tried")


def answers(trial: Trial, encode: Encode) -> dict[str, Measures]:
    return {
        task: measured(task, encode(query), encode(items), *truth)
        for task, query, items, *truth in questions(trial, missing=False)
    }


def chance(trial: Trial, seed: int) -> dict[str, Measures]:
    """Rank at random; words by how many training rows have them."""
    rng = np.random.default_rng(seed)
    found = answers(trial, lambda rows: rng.normal(size=(next(iter(rows.values())).shape[0], 20)))
    if trial.by_words:
        known, _ = trial.words()
        frequent = known[np.argsort(-trial.train[trial.text[0]].sum(axis=0)[known], kind="stable")[:FIRST_WORDS]]
        found[PICTURE_TO_WORDS] = {"P@5": float(trial.test[trial.text[0]][:, frequent].mean())}
    return found


# ---- all together ----------------------------------------------------------------------------------------------------
TRIVIAL = "at random (words: the most frequent)"


def one_trial(
    name: str, trial: Trial, number: int, units: tuple[int, ...]
) -> tuple[dict[str, dict[str, Measures]], dict[str, Settings], Harmonium]:
    """Return what each method finds, its settings, and the model that `search` asks."""
    inner = trial.inner()
    reached: dict[str, list[float]] = {method: [] for method in COMPARED}
    for n_units in units:
        model = fitted(inner, n_units, number)
        for method, compare in COMPARED.items():
            reached[method].append(quality(compare(model, inner)))
        print(name, number, n_units, {method: round(values[-1], 4) for method, values in reached.items()}, flush=True)
    models: dict[int, Harmonium] = {}
    found, chosen = {}, {}
    for method, compare in COMPARED.items():
        best = units[int(np.argmax(reached[method]))]
        if best not in models:
            models[best] = fitted(trial, best, number)
        found[method], chosen[method] = compare(models[best], trial), {"K": best}
    for method, features in RIVALS.items():
        begin = time.perf_counter()
        found[method], chosen[method] = rival(trial, features)
        print(name, number, method, chosen[method], f"{time.perf_counter() - begin:.0f} s", flush=True)
    found[TRIVIAL], chosen[TRIVIAL] = chance(trial, number), {}
    for method, measures in found.items():
        print(name, number, method, measures, flush=True)
    return found, chosen, models[chosen[OURS]["K"]]


def contact_sheet(model: Harmonium, places: np.ndarray, file: Path) -> None:
    """Draw the held-out pictures that `search` finds by single words."""
    import matplotlib.pyplot as plt

    data = pictures()
    names = data.feature_names["keywords"]
    query = np.full((len(SHOWN), len(names)), np.nan, dtype=np.float32)
    query[np.arange(len(SHOWN)), [names.index(word) for word in SHOWN]] = 1
    items = {name: data.views[name][places] for name in ("colours", "edges")}
    index = NearestNeighbours().fit(model.search_coordinates(items))
    rows, scores = model.search({"keywords": query}, index, n=FIRST_PICTURES)
    figure, axes = plt.subplots(len(SHOWN), FIRST_PICTURES, figsize=(11, 7.6), layout="constrained")
    for word, line, found, values in zip(SHOWN, axes, rows, scores, strict=True):
        for ax, row, score in zip(line, found, values, strict=True):
            place = places[row]
            ax.imshow(data.pictures[place])
            has = word in data.table["keywords"][place].split("|")
            ax.set_title(f"{score:.2f}", fontsize=8, color="tab:green" if has else "black")
            ax.set(xticks=[], yticks=[])
            for edge in ax.spines.values():
                edge.set(color="tab:green" if has else "lightgrey", linewidth=2 if has else 1)
        line[0].set_ylabel(word, rotation=0, ha="right", va="center", fontsize=12)
    figure.savefig(file, dpi=100)
    plt.close(figure)


def shown(settings: Settings) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)


def table(result: Result, name: str, found: list[dict[str, dict[str, Measures]]]) -> None:
    """Add a table with a row for each method and a column for each measure of each task."""
    columns = {"method": None} | {
        f"{task}, {measure}": "{:.3f}" for task, names in TASKS[name].items() for measure in names
    }
    rows = []
    for method in found[0]:
        cells = [
            with_error([one[method][task][measure] for one in found])
            for task, names in TASKS[name].items()
            for measure in names
        ]
        rows.append([method, *cells])
    result.table(name, columns, rows)


def compared(name: str, found: list[dict[str, dict[str, Measures]]]) -> list[str]:
    """Return, for each measure, how `search` stands to the best of the others."""
    lines = []
    for task, names in TASKS[name].items():
        for measure in names:
            means = {method: float(np.mean([one[method][task][measure] for one in found])) for method in found[0]}
            best = max((method for method in means if method != OURS), key=means.__getitem__)
            lines.append(
                f"- {task}, {measure}: `search` {means[OURS]:.3f}, best of the others {means[best]:.3f} ({best})"
            )
    return lines


def run(options: SimpleNamespace) -> Result:
    """Search one side by the other."""
    warnings.simplefilter("ignore")
    result = Result()
    result.text(
        f"Means and standard errors of {options.trials} trials. Items of the query's class (subcategory, for keywords "
        f"of an emoji) are relevant; for one word, pictures that have it as a keyword (words of at least {KNOWN} "
        f"training and {PRESENT} test pictures); for a picture, its own keywords. Only test rows are searched. "
        f"Harmoniums have Gaussian units, {' or '.join(map(str, options.units))} of them, and defaults otherwise; they "
        "see views as they are, and a query by one word has the other words missing. MCCA and kernel CCA (MCCA of "
        f"{KERNEL_COMPONENTS} principal components of Gaussian kernels) see standardised columns; weights of words, "
        "shrinkage, number of variables, width of kernels, and whether words that are not asked for count as absent or "
        "average are chosen."
    )
    for name, load in SETS.items():
        found, chosen = [], []
        for number in range(options.trials):
            trial = load(number, options.rows)
            measures, settings, model = one_trial(name, trial, number, options.units)
            found.append(measures)
            chosen.append(settings)
            if name == "emoji" and number == 0:
                contact_sheet(model, emoji_rows(0, options.rows)[1], options.output / "search_across_views.png")
        result.heading(name.capitalize())
        table(result, name, found)
        result.text("\n".join(compared(name, found)))
        lines = [
            f"- {method}: " + "; ".join(dict.fromkeys(shown(one[method]) for one in chosen))
            for method in found[0]
            if method != TRIVIAL
        ]
        result.text("Chosen, trial by trial where it differs:\n\n" + "\n".join(lines))
    result.figure(
        "search_across_views.png",
        "Held-out pictures found by single words, best first, with scores; green: pictures that have the keyword.",
    )
    return result
