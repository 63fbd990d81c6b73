"""Retrieval across views on Wikipedia image-text pairs: texts by an image, images by a text, and by both (Chen et al.).

Every method's settings, among them how rivals scale the views, are chosen by mean average precision on quarters of the
training rows held out; the test rows are used once, at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.cross_decomposition import CCA, PLSSVD
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.datasets import load_wikipedia
from benchmarks.features.words import few
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import NUMBERS, SCALED, Preparation
from harmonium import DWH, TWH, Gaussian, HarmoniumClassifier, Hinge, Stochastic
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.metrics import RetrievalReport, average_precision, retrieval_report
from harmonium.report import RetrievalDisplay

BENCHMARK = Benchmark(
    title="Wikipedia pairs: retrieval across views",
    claim="image → text, text → image and both on Wikipedia: MMH against DWH, TWH, CCA and LSI",
    minutes=2,
    data=("wikipedia",),
    settings={"seeds": 3, "sizes": (10, 20, 50), "rows": 0},
    quick={"seeds": 1, "sizes": (10,), "rows": 100},
)
POWER = 3  # that sharpens class probabilities
UNITS = {"Gaussian": GaussianUnits(), "binary": BernoulliUnits()}
FAMILIES = {"image": Gaussian(), "text": Gaussian()}
Rows = dict[str, np.ndarray]
Settings = dict[str, object]
# by name of the representation: encodings of the images alone and of the texts alone
Encoded = dict[str, tuple[np.ndarray, np.ndarray]]
Curves = dict[str, tuple[RetrievalReport, RetrievalReport]]


@dataclass
class Pairs:
    """Views and classes of training and test rows."""

    train: Rows
    train_labels: np.ndarray
    test: Rows
    test_labels: np.ndarray

    def inner(self, number: int = 2) -> list[Pairs]:
        """Quarters of the training rows against the rest, at random, all classes in their shares."""
        labels = self.train_labels
        splits = StratifiedShuffleSplit(number, test_size=0.25, random_state=1).split(labels, labels)
        return [Pairs(_at(self.train, a), labels[a], _at(self.train, b), labels[b]) for a, b in splits]


def _at(rows: Rows, places: np.ndarray) -> Rows:
    return {name: values[places] for name, values in rows.items()}


def load(limit: int = 0) -> Pairs:
    """The lists' own split; at most so many rows of either part (0: all)."""
    data = load_wikipedia()
    train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    train, test = train[few(len(train), limit)], test[few(len(test), limit)]
    views, labels = {name: np.asarray(values) for name, values in data.views.items()}, np.asarray(data.target)
    return Pairs(_at(views, train), labels[train], _at(views, test), labels[test])


def stacked(rows: Rows) -> Rows:
    """Every row three times: with both views, with the image only, with the text only."""
    image, text = rows["image"], rows["text"]
    return {
        "image": np.concatenate([image, image, np.full_like(image, np.nan)]),
        "text": np.concatenate([text, np.full_like(text, np.nan), text]),
    }


def fitted(name: str, pairs: Pairs, settings: Settings, seed: int):
    """A harmonium; as many updates whether rows are stacked or not."""
    copies = 3 if settings["stacked"] else 1
    rows = stacked(pairs.train) if settings["stacked"] else pairs.train
    labels = np.tile(pairs.train_labels, copies)
    given = {
        "hidden": UNITS[settings["hidden"]],
        "driver": Stochastic(
            max_iter=30 // copies,
            batch_size=100,
            learning_rate=0.01,
            max_update=0.5,
            schedule="constant",
            weight_decay=0.5,
            average=True,
        ),
        "random_state": seed,
    }
    if name == "DWH":
        return DWH(settings["K"], FAMILIES, **given).fit(rows)
    if name == "TWH":
        return TWH(settings["K"], FAMILIES, validation_fraction=0, **given).fit(rows, labels)
    head = Hinge(settings["C"], linear_part=False)
    model = HarmoniumClassifier(settings["K"], views=FAMILIES, head=head, validation_fraction=0, **given)
    return model.fit(rows, labels)


def centred(encode: Callable[[Rows], np.ndarray], pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Test rows encoded from one view, minus the mean of the training rows encoded from it."""
    image, text = (
        encode({name: pairs.test[name]}) - encode({name: pairs.train[name]}).mean(axis=0) for name in ("image", "text")
    )
    return image, text


def sharpened(probabilities: np.ndarray) -> np.ndarray:
    """Return the softmax of scores three times as large."""
    powers = probabilities**POWER
    return powers / powers.sum(axis=1, keepdims=True)


def encode_harmonium(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Hidden means; with a head also class scores and their softmax."""
    model = fitted(name, pairs, settings, seed)
    result = {"hidden means": centred(model.transform, pairs)}
    if name != "DWH":
        result["class scores"] = centred(model.decision_function, pairs)
        result["class probabilities"] = centred(model.predict_proba, pairs)
        result["sharpened class probabilities"] = centred(lambda rows: sharpened(model.predict_proba(rows)), pairs)
    return result


def encode_projection(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """CCA or partial least squares between the principal components of the images and the texts."""
    pca = PCA(min(settings["components"], len(pairs.train_labels)), random_state=seed)
    known, new = Preparation(("image",), numbers=settings["scaling"]).matrices(pairs.train, pairs.test)
    train, test = pca.fit_transform(known), pca.transform(new)
    model = (CCA if name == "CCA" else PLSSVD)(settings["K"])
    model.fit(train, pairs.train["text"].astype(float))
    image, text = model.transform(test, pairs.test["text"].astype(float))
    return {"projections": (image, text)}


def encode_lsi(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Singular vectors of both views together, scaled; a view that is not there counts as average."""
    ways = {view: Preparation((view,), numbers=settings["scaling"]) for view in pairs.train}
    svd = TruncatedSVD(settings["K"], random_state=seed)
    svd.fit(np.hstack([way.matrices(pairs.train)[0] for way in ways.values()]))

    def encode(rows: Rows) -> np.ndarray:
        length = len(next(iter(rows.values())))
        parts = [
            ways[view].matrices(pairs.train, rows)[1] if view in rows else np.zeros((length, values.shape[1]))
            for view, values in pairs.train.items()
        ]
        return svd.transform(np.hstack(parts))

    return {"projections": centred(encode, pairs)}


def encode_logistic(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Class probabilities of a logistic regression for each view."""
    plain, sharp = [], []
    for view in ("image", "text"):
        train, test = Preparation((view,), numbers=settings["scaling"]).matrices(pairs.train, pairs.test)
        model = LogisticRegression(C=settings["C"], max_iter=500).fit(train, pairs.train_labels)
        known, new = model.predict_proba(train), model.predict_proba(test)
        plain.append(new - known.mean(axis=0))
        sharp.append(sharpened(new) - sharpened(known).mean(axis=0))
    return {"class probabilities": (plain[0], plain[1]), "sharpened class probabilities": (sharp[0], sharp[1])}


def encode_chance(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    rng = np.random.default_rng(seed)
    image, text = rng.normal(size=(2, len(pairs.test_labels), 20))
    return {"random": (image, text)}


def grid(**values: tuple[object, ...]) -> list[Settings]:
    """All combinations."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


# of one view, dividing all columns by one number changes nothing for CCA, nor for directions of least squares
IMAGE_SCALINGS = ("standardised columns", "views as blocks")
SHARED = [
    {**units, **stack}
    for units in ({"hidden": "Gaussian", "K": 20}, {"hidden": "Gaussian", "K": 50}, {"hidden": "binary", "K": 200})
    for stack in ({"stacked": False}, {"stacked": True})
]
# method, grid, and number of random starts; None: that of the settings
METHODS: dict[str, tuple[Callable[..., Encoded], list[Settings], int | None]] = {
    "MMH": (encode_harmonium, [{**one, "C": C} for one in SHARED for C in (0.03, 0.25, 1.0)], None),
    "DWH": (encode_harmonium, SHARED, None),
    "TWH": (encode_harmonium, SHARED, None),
    "CCA": (encode_projection, grid(components=(20, 50, 127), K=(5, 7, 9), scaling=IMAGE_SCALINGS), 1),
    "partial least squares": (
        encode_projection,
        grid(components=(20, 50, 127), K=(5, 7, 9), scaling=IMAGE_SCALINGS),
        1,
    ),
    "LSI": (encode_lsi, grid(K=(10, 20, 50), scaling=SCALED), 1),
    "logistic regression for each view": (
        encode_logistic,
        grid(C=(0.001, 0.01, 0.1, 1.0), scaling=SCALED[:1]) + grid(C=(0.1, 1.0, 10.0, 100.0), scaling=SCALED[1:]),
        1,
    ),
    "chance": (encode_chance, [{}], 10),
}


def both_ways(encoded: tuple[np.ndarray, np.ndarray], labels: np.ndarray) -> tuple[RetrievalReport, RetrievalReport]:
    """Texts by images, images by texts."""
    image, text = encoded
    return retrieval_report(image, text, labels, labels), retrieval_report(text, image, labels, labels)


def across(pairs: Pairs, n_seeds: int) -> tuple[list[dict[str, object]], Curves]:
    """Choose on the inner splits, then query the test rows."""
    parts = pairs.inner()
    rows: list[dict[str, object]] = []
    curves: Curves = {}
    for name, (encode, settings_grid, seeds) in METHODS.items():
        begin = time.perf_counter()
        scores: dict[tuple[int, str], list[float]] = {}
        for number, settings in enumerate(settings_grid):
            for part in parts:
                for representation, encoded in encode(name, part, settings, 0).items():
                    quality = [one.average_precision for one in both_ways(encoded, part.test_labels)]
                    scores.setdefault((number, representation), []).append(float(np.mean(quality)))
            shown = {key[1]: round(float(np.mean(value)), 4) for key, value in scores.items() if key[0] == number}
            print(f"{name} {settings}: {shown}", flush=True)
        number, representation = max(scores, key=lambda key: np.mean(scores[key]))
        settings = settings_grid[number]
        reports = [
            both_ways(encode(name, pairs, settings, seed)[representation], pairs.test_labels)
            for seed in range(seeds or n_seeds)
        ]
        curves[name] = reports[0]
        found = np.array([[one.average_precision for one in report] for report in reports])
        shown = ", ".join([representation, *(f"{key} {value}" for key, value in settings.items())])
        by_image, by_text = found.mean(axis=0)
        rows.append(
            {
                "method": name,
                "chosen": shown,
                "validation": float(np.mean(scores[number, representation])),
                "by image": float(by_image),
                "by text": float(by_text),
                "average": float(found.mean()),
                "±": float(found.mean(axis=1).std()),
            }
        )
        print(f"{name} took {time.perf_counter() - begin:.0f} s: {rows[-1]}", flush=True)
    return rows, curves


def fused_harmonium(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Hidden means; with a head also class scores. Of test rows, then of training rows."""
    model = fitted(name, pairs, settings, seed)
    result = {}
    for kind, encode in (("hidden means", "transform"), ("class scores", "decision_function")):
        if hasattr(model, encode):
            train, test = (getattr(model, encode)(rows) for rows in (pairs.train, pairs.test))
            result[kind] = (test - train.mean(axis=0), train - train.mean(axis=0))
    return result


def fused_lsi(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Singular vectors of the views side by side."""
    train, test = Preparation(tuple(pairs.train), numbers=settings["scaling"]).matrices(pairs.train, pairs.test)
    svd = TruncatedSVD(settings["K"], random_state=seed).fit(train)
    return {"projections": (svd.transform(test), svd.transform(train))}


def fused_chance(name: str, pairs: Pairs, settings: Settings, seed: int) -> Encoded:
    """Directions at random."""
    rng = np.random.default_rng(seed)
    return {"random": tuple(rng.normal(size=(len(labels), 20)) for labels in (pairs.test_labels, pairs.train_labels))}


def fused(pairs: Pairs, sizes: tuple[int, ...], n_seeds: int) -> list[dict[str, object]]:
    """Query by test rows with both views as queries, training rows with both views ranked."""
    (part,) = pairs.inner(1)
    rows: dict[tuple[str, str], list[float]] = {}
    chosen: dict[tuple[str, str], list[str]] = {}
    for name, units in product(("MMH", "DWH", "TWH", "LSI", "chance"), sizes):
        encode = {"LSI": fused_lsi, "chance": fused_chance}.get(name, fused_harmonium)
        if name in ("LSI", "chance"):
            settings_grid = grid(K=(units,), scaling=tuple(NUMBERS)) if name == "LSI" else grid(K=(units,))
        else:
            more = {"C": (0.3, 3.0)} if name == "MMH" else {}
            settings_grid = grid(K=(units,), stacked=(False,), hidden=("Gaussian", "binary"), **more)
        found = [
            {
                kind: average_precision(*encoded, part.test_labels, part.train_labels)
                for kind, encoded in encode(name, part, settings, 0).items()
            }
            for settings in settings_grid
        ]
        tested: dict[int, list[Encoded]] = {}
        for kind in found[0]:
            best = int(np.argmax([one[kind] for one in found]))
            if best not in tested:
                seeds = n_seeds if encode is fused_harmonium else 1
                tested[best] = [encode(name, pairs, settings_grid[best], seed) for seed in range(seeds)]
            values = [average_precision(*one[kind], pairs.test_labels, pairs.train_labels) for one in tested[best]]
            rows.setdefault((name, kind), []).append(float(np.mean(values)))
            shown = {key: value for key, value in settings_grid[best].items() if key not in ("K", "stacked")}
            chosen.setdefault((name, kind), []).append(", ".join(f"{key} {value}" for key, value in shown.items()))
            print(f"both views: {name} {kind} K {units} {shown}: {rows[name, kind][-1]:.4f}", flush=True)
    return [
        {
            "method": f"{name}, {kind}",
            **{f"K = {units}": value for units, value in zip(sizes, values, strict=True)},
            "chosen for each K": "; ".join(chosen[name, kind]),
        }
        for (name, kind), values in rows.items()
    ]


def draw(curves: Curves, file: Path) -> None:
    """Draw recall-precision curves of both directions."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    titles = ("texts retrieved by an image", "images retrieved by a text")
    for place, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        RetrievalDisplay.from_reports({name: reports[place] for name, reports in curves.items()}, ax=ax)
        ax.set(title=title, ylim=(0, 0.6))
    figure.savefig(file, dpi=110)


def compared(rows: list[dict[str, object]], column: str, what: str) -> str:
    """Return the best, the next method, and how MMH stands to the best of the others."""
    best: dict[str, float] = {}
    for row in rows:
        method = str(row["method"]).split(",")[0]
        best[method] = max(float(row[column]), best.get(method, 0.0))
    order = sorted(best, key=lambda method: -best[method])
    first, second = order[:2]
    line = f"{what}: {first} is best ({best[first]:.3f}), {100 * (best[first] / best[second] - 1):.1f} % above {second}"
    if first == "MMH":
        return line + f" ({best[second]:.3f})."
    below = 100 * (1 - best["MMH"] / best[first])
    return line + f" ({best[second]:.3f}); MMH ({best['MMH']:.3f}) comes {below:.1f} % below the best."


def run(options: SimpleNamespace) -> Result:
    """Rank one view by the other, and items with both views."""
    pairs = load(options.rows)
    rows, curves = across(pairs, options.seeds)
    together = fused(pairs, options.sizes, options.seeds)
    draw(curves, options.output / "cross_view_retrieval.png")
    result = Result()
    result.text(
        f"{len(pairs.train_labels):,} training and {len(pairs.test_labels):,} test pairs, "
        f"{len(np.unique(pairs.train_labels))} classes. Items of the class of the query are relevant; cosine; settings "
        "and representation are chosen by mean average precision on held-out quarters of the training rows (two "
        f"random ones across views, one for both views). Harmoniums: means of {options.seeds} random starts."
    )
    result.heading("Across views")
    result.text(
        "Each test row's one view is a query, the other views of all test rows are ranked. Encodings are centred by "
        "the mean of the training rows' encodings from the same view. Stacked: training rows are given three times, "
        "with both views, with the image only and with the text only (epochs fewer in proportion). ± is the standard "
        "deviation over random starts (of the ranking, for chance). Sharpened probabilities are their powers of "
        f"{POWER}, normalised."
    )
    result.table("across", list(rows[0]), rows)
    result.figure("cross_view_retrieval.png", "curves")
    result.heading("By both views")
    widths = {name: values.shape[1] for name, values in pairs.train.items()}
    result.text(
        "Test rows with both views are queries, training rows with both views are ranked by hidden means, by class "
        "scores or by singular vectors of the views side by side; mean average precision with K hidden units. "
        f"Harmoniums standardise every feature, so that the {widths['image']} of an image outweigh the "
        f"{widths['text']} of a text where no label says which matter; LSI could choose whether and how to scale."
    )
    result.table("both", list(together[0]), together)
    # MMH by its hidden means only; the others by what is best
    rivals = [row for row in together if row["method"] != "MMH, class scores"]
    findings = [
        *(
            compared(rows, column, what)
            for column, what in (("by image", "By image"), ("by text", "By text"), ("average", "Average of both"))
        ),
        *(compared(rivals, f"K = {units}", f"Both views, K = {units}") for units in options.sizes),
    ]
    result.heading("Who is best")
    result.text("\n".join(f"- {line}" for line in findings))
    return result
