"""What the loss should touch: error on test rows against coherence of the topics, for today's default and other ways.

Ratings of hotels and points of wines from counts of words, as in `latent_space`. The default has topics, which learn by
the likelihood alone, beside signed dimensions, which learn by likelihood and loss. The others:

- signed units: one group, all of which the loss moves (``hidden="bernoulli"``);
- non-negative units: one group with the activity target of topics, all of which the loss moves;
- default + non-negative units: such units with a small C beside the default's, composed by hand;
- residual: the same with the errors of a ridge on tf-idf on rows it has not seen as their target;
- topics alone (`TopicModel`), the same begun from clusters within thirds of the target, and NMF of tf-idf.

The space is judged by a ridge on E[h | x], standardised, for all alike; that of the default has topics and dimensions.
The whole model is the estimator with its linear part; where there is none, a mixture with a ridge on tf-idf, by
predictions of rows that neither has seen (but a supervised start has). Errors are 1 - R². Held-out is the error of the
units alone on training rows that were held out: by this one may choose C. Decorrelation of units is not among the ways.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.comparing import INTERVAL, Comparison, r_squared
from benchmarks.latent_space import N_WORDS, Task, frequent
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import EpsilonInsensitive, HarmoniumRegressor, Stochastic, TopicModel, Views
from harmonium.hidden import BernoulliUnits

SETS = ("hotels", "wines")
BENCHMARK = Benchmark(
    title="What the loss should touch",
    claim="error against NPMI: dimensions by the loss beside topics by the likelihood, one group, residuals, NMF",
    minutes=8,
    data=("hotels", "wines"),
    settings={"sets": SETS, "words": 5000, "seeds": 3, "rows": 0, "topics": 20, "C": (0.025, 0.1, 0.4, 1.6)},
    quick={"sets": ("hotels",), "words": 300, "seeds": 2, "rows": 200, "topics": 5, "C": (0.1, 1.6)},
)
DEFAULT = "default"
FOLDS = KFold(3, shuffle=True, random_state=0)
Rows = tuple[np.ndarray, np.ndarray]  # coordinates of training and of test rows
KINDS = (DEFAULT, "signed units", "non-negative units", "default + non-negative units", "residual")
KINDS += ("topics alone", "topics alone, supervised start", "NMF")
COLOURS = ("C3", "C1", "C0", "C4", "C2", "C5", "C6", "0.5")


class Way:
    """Topics and predictions of one way to train, of several seeds."""

    def __init__(self, kind: str, C: float | None = None) -> None:
        self.kind, self.C = kind, C
        self.topics: list[list[list[str]]] = []
        self.space: list[np.ndarray] = []
        self.whole: list[np.ndarray] = []
        self.rows: list[Rows] = []
        self.held_out: list[float] = []

    def add(self, topics: list[list[str]], rows: Rows, y: np.ndarray, whole: np.ndarray) -> None:
        """Add a seed: topics, coordinates of training and test rows, targets, and what the whole model predicts."""
        self.topics.append(topics)
        self.rows.append(rows)
        self.space.append(ridge().fit(rows[0], y).predict(rows[1]))
        self.whole.append(whole)

    @property
    def name(self) -> str:
        """What it is, with its weight of the loss if there is one."""
        return self.kind if self.C is None else f"{self.kind}, C {self.C:g}"


class Ways:
    """All ways for one set."""

    def __init__(self, task: Task, n_topics: int) -> None:
        self.task, self.n_topics, self.found = task, n_topics, dict[str, Way]()
        self.words = make_pipeline(TfidfTransformer(sublinear_tf=True), RidgeCV(np.logspace(-1, 2, 10)))
        self.unseen_rows = cross_val_predict(self.words, task.counts, task.y, cv=FOLDS)
        self.linear = self.words.fit(task.counts, task.y).predict(task.unseen)

    def way(self, kind: str, C: float | None = None) -> Way:
        """Return a way, which begins without seeds."""
        made = Way(kind, C)
        return self.found.setdefault(made.name, made)

    def views(self, rows: Any = slice(None)) -> Views:
        """Return words of training rows, with names."""
        return Views({"words": self.task.counts[rows]}, feature_names={"words": self.task.names})

    def of(self, model: Any) -> tuple[list[list[str]], Rows]:
        """Return topics of a model, and coordinates of training and of test rows."""
        shown = [list(row) for row in model.topics(n=N_WORDS).to_numpy()]
        known, new = (model.transform({"words": words}) for words in (self.task.counts, self.task.unseen))
        return shown, (known, new)

    def supervised(self, hidden: Any, C: float, seed: int, linear_part: Any = False) -> HarmoniumRegressor:
        """Return a regressor with as many units as there are topics, or with the default layer."""
        size: Any = "auto" if hidden is None else self.n_topics
        head = EpsilonInsensitive(C=C, linear_part=linear_part)
        return HarmoniumRegressor(size, hidden=hidden, head=head, random_state=seed)

    def raising(self) -> BernoulliUnits:
        """Return units like those of `TopicModel`."""
        return BernoulliUnits(weights="nonnegative", activity=min(0.5, 1.5 / self.n_topics))

    def moved_by_loss(self, seed: int, values: tuple[float, ...]) -> None:
        """Add the default and both kinds of one group, with several weights of the loss."""
        for kind, hidden in ((DEFAULT, None), ("signed units", "bernoulli"), ("non-negative units", self.raising())):
            for C in values:
                model = self.supervised(hidden, C, seed, "auto").fit(self.views(), self.task.y)
                way = self.way(kind, C)
                way.add(*self.of(model), self.task.y, model.predict({"words": self.task.unseen}))
                way.held_out.append(min(model.fitted_.validation["error"]))

    def fresh(self, C: float, seed: int, y: np.ndarray) -> np.ndarray:
        """Return predictions by non-negative units of training rows that they have not seen."""
        held = np.zeros(len(y))
        for train, rest in FOLDS.split(held):
            views, others = self.views(train), {"words": self.task.counts[rest]}
            model = self.supervised(self.raising(), C, seed).fit(views, y[train])
            held[rest] = ridge().fit(model.transform(views), y[train]).predict(model.transform(others))
        return held

    def both(self, seed: int, C: float, usual: float) -> None:
        """Add the default with non-negative units beside it that the loss moves, too."""
        y, held = self.task.y, np.zeros(len(self.task.y))
        for train, rest in FOLDS.split(held):
            model = self.supervised(None, usual, seed, "auto").fit(self.views(train), y[train])
            held[rest] = model.predict({"words": self.task.counts[rest]})
        default, bent = self.way(DEFAULT, usual), self.way("non-negative units", C)
        known, new = (np.hstack(part) for part in zip(default.rows[seed], bent.rows[seed], strict=True))
        shares = mixture(y, held, self.fresh(C, seed, y))
        whole = shares.predict(np.column_stack([default.whole[seed], bent.space[seed]]))
        self.way("default + non-negative units", C).add(bent.topics[seed], (known, new), y, whole)

    def residual(self, seed: int, C: float) -> None:
        """Add non-negative units that learn what a linear model of words leaves."""
        left = self.task.y - self.unseen_rows
        shown, rows = self.of(self.supervised(self.raising(), C, seed).fit(self.views(), left))
        added = ridge().fit(rows[0], left).predict(rows[1])
        shares = mixture(self.task.y, self.unseen_rows, self.fresh(C, seed, left))
        self.way("residual", C).add(shown, rows, self.task.y, shares.predict(np.column_stack([self.linear, added])))

    def without_loss(self, seed: int) -> None:
        """Add topics that know no targets, or only begin from them."""
        weighing = TfidfTransformer(sublinear_tf=True)
        factors = NMF(self.n_topics, init="nndsvdar", max_iter=300, random_state=seed)
        known = factors.fit_transform(weighing.fit_transform(self.task.counts))
        order = np.argsort(-factors.components_, axis=1, kind="stable")[:, :N_WORDS]
        shown = [[self.task.names[word] for word in row] for row in order]
        new = factors.transform(weighing.transform(self.task.unseen))
        plain = TopicModel(self.n_topics, random_state=seed).fit(self.views())
        for kind, (topics, rows) in {
            "topics alone": self.of(plain),
            "topics alone, supervised start": self.of(self.begun_from_levels(seed)),
            "NMF": (shown, (known, new)),
        }.items():
            shares = mixture(self.task.y, cross_val_predict(ridge(), rows[0], self.task.y, cv=FOLDS), self.unseen_rows)
            space = ridge().fit(rows[0], self.task.y).predict(rows[1])
            self.way(kind).add(topics, rows, self.task.y, shares.predict(np.column_stack([space, self.linear])))

    def begun_from_levels(self, seed: int) -> Any:
        """Return topics that begin from clusters within thirds of the target, then learn by the likelihood alone."""

        def begun(size: int, rows: Any) -> Any:
            once = Stochastic(max_iter=1)
            return TopicModel(size, driver=once, warm_start=True, random_state=seed).fit(self.views(rows))

        levels = np.array_split(np.argsort(self.task.y, kind="stable"), 3)
        sizes = [len(part) for part in np.array_split(np.arange(self.n_topics), 3)]
        parts = [begun(size, np.sort(rows)).fitted_.parameters for size, rows in zip(sizes, levels, strict=True)]
        model = begun(self.n_topics, slice(None))
        for name in ("words.weights", "hidden.bias"):
            model.fitted_.parameters[name][:] = np.concatenate([part[name] for part in parts], axis=-1)
        return model.set_params(driver=None).fit(self.views())


def ridge() -> Any:
    """Return a ridge on standardised columns that chooses its own strength."""
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 11)))


def mixture(y: np.ndarray, *held: np.ndarray) -> LinearRegression:
    """Return non-negative weights of several predictions, by rows that none of them has seen."""
    return LinearRegression(positive=True).fit(np.column_stack(held), y)


def measured(ways: Ways, usual: float) -> list[dict[str, Any]]:
    """Return a record for each way, with the trivial baseline and the linear model as the last."""
    task, records = ways.task, []
    comparison = Comparison(task.truth, {"error": lambda truth, said: 1 - r_squared(truth, said)}, True)
    for way in ways.found.values():
        comparison.add(way.name, "", way.whole, 0.0)
    default = comparison.named(Way(DEFAULT, usual).name)
    for way, entry in zip(ways.found.values(), comparison.entries, strict=True):
        npmi, diversity, distinct, stability = task.reading(way.topics)
        space, whole = ([task.wrong(one) for one in part] for part in (way.space, way.whole))
        less = None if entry is default else comparison.difference(entry, default)
        read = {"NPMI": npmi, "diversity": diversity, "distinct": distinct, "stability": stability}
        errors = {"held-out": with_deviation(way.held_out) if way.held_out else None, "space": with_deviation(space)}
        more = {"whole": with_deviation(whole), "whole − default (95 %)": less}
        records.append({"way": way.name, "kind": way.kind, "C": way.C, **read, **errors, **more})
    blank = dict.fromkeys(records[0])
    npmi, diversity, distinct, _ = task.reading([frequent(task, ways.n_topics)])
    nothing = task.wrong(np.full(len(task.truth), task.y.mean()))
    words = {"NPMI": npmi["mean"], "diversity": diversity, "distinct": distinct}
    records.append(blank | {"way": "mean of y; frequent words, ten by ten", **words, "whole": nothing})
    records.append(blank | {"way": "ridge on tf-idf", "whole": task.wrong(ways.linear)})
    return records


def draw(found: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """Draw error of space and of whole model against NPMI, a column for each set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(found), 8), layout="constrained")
    axes = figure.subplots(2, len(found), squeeze=False)
    for column, (name, records) in zip(axes.T, found.items(), strict=True):
        for ax, part, title in zip(column, ("space", "whole"), ("the space alone", "the whole model"), strict=True):
            for kind, colour in zip(KINDS, COLOURS, strict=True):
                rows = [row for row in records if row["kind"] == kind]
                places = [(row["NPMI"]["mean"], row[part]["mean"]) for row in rows]
                ax.plot(*zip(*places, strict=True), "o-", color=colour, lw=0.7, label=kind)
                for row, place in zip(rows, places, strict=True):
                    if row["C"] is not None:
                        ax.annotate(f"{row['C']:g}", place, (3, 3), textcoords="offset points", fontsize=7)
            if part == "whole":
                ax.axhline(records[-1]["whole"], color="0.7", ls=":", label="ridge on tf-idf")
            ax.set(title=f"{name}: {title}", xlabel="NPMI of the topics (training rows)", ylabel="1 - R² (test rows)")
    axes[-1, -1].legend(fontsize=7)
    figure.savefig(file, dpi=110)


def run(options: SimpleNamespace) -> Result:
    """Train in all ways on each set, and draw."""
    warnings.simplefilter("ignore")
    found: dict[str, list[dict[str, Any]]] = {}
    small, usual = options.C[min(1, len(options.C) - 2)], options.C[-1]
    result = Result()
    result.text(
        f"Means of {options.seeds} seeds ± standard deviation; {options.topics} topics or units, of the default as "
        f"many less those that say the same, and 30 dimensions. The default's C is {usual:g}. The last column has 95 % "
        "of differences over resampled test rows. All values of C are shown; none is chosen by test rows."
    )
    for name in options.sets:
        ways = Ways(Task(name, options.words, options.rows), options.topics)
        for seed in range(options.seeds):
            begin = time.perf_counter()
            ways.moved_by_loss(seed, options.C)
            ways.both(seed, small, usual)
            ways.residual(seed, small)
            ways.residual(seed, usual)
            ways.without_loss(seed)
            print(f"{name}, seed {seed}: {time.perf_counter() - begin:.0f} s", flush=True)
        found[name] = measured(ways, usual)
        result.heading(f"{name}: {len(ways.task.y):,} training rows, {len(ways.task.truth):,} test rows")
        shown = {key: None for key in found[name][0] if key not in ("kind", "C")}
        result.table(name, shown | {"whole − default (95 %)": INTERVAL}, found[name])
    draw(found, options.output / "tradeoff.png")
    result.figure("tradeoff.png", "error against NPMI; beside each point C")
    return result
