"""The negative binomial family, named as the next one by the paper on RAP, against Poisson on counts with long tails.

Counts are drawn with a known dispersion, or are words of 20 Newsgroups and Reuters-21578. All harmoniums have the same
few binary units, so that their partition functions are exact (enumeration) and held-out likelihoods carry no error of
annealing; rows are not length-normalised, as totals would then be given. Baselines have no units: one rate a column.
The r of the negative binomial is the one with the highest likelihood on a fifth of the training rows. Texts are also
retrieved by the cosine of their latent coordinates, with more units, and with length-normalised rows as by default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import nbinom, poisson
from threadpoolctl import threadpool_limits

from benchmarks.features.words import few, newsgroups, reuters, word_counts
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Poisson, Stochastic
from harmonium.families import NegativeBinomial
from harmonium.inspection import log_partition
from harmonium.metrics import average_precision

BENCHMARK = Benchmark(
    title="Counts with long tails: negative binomial against Poisson",
    claim="the negative binomial family against Poisson: exact held-out likelihood of counts of known dispersion and of"
    " words, retrieval",
    minutes=1,
    data=("newsgroups", "reuters21578"),
    settings={"units": 8, "retrieval_units": 20, "words": 150, "rows": 1000, "test_rows": 500, "seeds": 3},
    quick={"units": 3, "retrieval_units": 3, "words": 40, "rows": 150, "test_rows": 60, "seeds": 1},
)
DISPERSIONS = (0.3, 1.0, np.inf)
R_GRID = (0.1, 0.3, 1.0, 10.0)
EPOCHS = 50
COLUMNS, FEATURES = 40, 6  # of the counts that are drawn
Retrieved = dict[tuple[str, str], list[float]]


@dataclass(frozen=True)
class Counts:
    """Counts of training and test rows, and their classes if they have any."""

    name: str
    train: np.ndarray
    test: np.ndarray
    y: np.ndarray | None = None
    truth: np.ndarray | None = None


def drawn(r: float, n_rows: int, n_test: int, seed: int) -> Counts:
    """Return counts of columns that follow binary features of their row, with dispersion r (infinite: Poisson)."""
    rng = np.random.default_rng(seed)
    patterns = rng.normal(0, 0.8, (FEATURES, COLUMNS))
    rates = np.exp(-0.5 + (rng.random((n_rows + n_test, FEATURES)) < 0.3) @ patterns)
    rates *= 1.0 if np.isinf(r) else rng.gamma(r, 1 / r, rates.shape)
    counts = rng.poisson(rates).astype(np.float32)
    return Counts("drawn, Poisson" if np.isinf(r) else f"drawn, r = {r:g}", counts[:n_rows], counts[n_rows:])


def texts(name: str, options: SimpleNamespace) -> Counts:
    """Return counts of the most frequent words of some texts."""
    loaded = newsgroups() if name == "20 Newsgroups" else reuters(10)
    rows, others = few(len(loaded.y), options.rows), few(len(loaded.truth), options.test_rows)
    train, test, _ = word_counts(loaded.train[rows], loaded.test[others], options.words)
    return Counts(name, train.toarray(), test.toarray(), loaded.y[rows], loaded.truth[others])


def dispersion(counts: np.ndarray) -> float:
    """Return the median over columns of variance / mean: 1 for Poisson counts."""
    mean = counts.mean(axis=0)
    return float(np.median((counts.var(axis=0) / np.maximum(mean, 1e-12))[mean > 0]))


def fitted(family: Any, units: int, train: np.ndarray, seed: int) -> Harmonium:
    """Return a harmonium with binary units; coordinates are what the units are told by a row."""
    settings: dict[str, Any] = {"driver": Stochastic(max_iter=EPOCHS), "random_state": seed, "n_jobs": 1}
    return Harmonium(units, views=family, hidden="bernoulli", output="coordinates", **settings).fit(train)


def log_likelihood(model: Harmonium, test: np.ndarray) -> float:
    """Return the exact log-likelihood of test rows, in nats per row."""
    return float(model.score_samples(test).mean() - log_partition(model, "exact").value)


def chosen_r(train: np.ndarray, units: int) -> float:
    """Return the r with the highest likelihood of a fifth of the training rows."""
    held = np.arange(train.shape[0]) % 5 == 0

    def held_out(r: float) -> float:
        return log_likelihood(fitted(NegativeBinomial(r, length_normalize=False), units, train[~held], 0), train[held])

    return max(R_GRID, key=held_out)


def without_units(train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Return the log-likelihoods of one rate for each column: Poisson, and negative binomial with the best r."""
    mean = train.mean(axis=0) + 0.5 / len(train)  # words may be missing from training rows

    def by_r(part: np.ndarray, r: float) -> float:
        return float(nbinom.logpmf(part, r, r / (r + mean)).sum(axis=1).mean())

    best = max(R_GRID, key=lambda r: by_r(train, r))
    return {
        "Poisson, no units": float(poisson.logpmf(test, mean).sum(axis=1).mean()),
        "negative binomial, no units": by_r(test, best),
    }


def likelihoods(draw: Callable[[int], Counts], options: SimpleNamespace) -> tuple[dict[str, list[float]], float]:
    """Return log-likelihoods by model, one for each seed, and the r that was chosen with the first."""
    found: dict[str, list[float]] = {}
    r = chosen_r(draw(0).train, options.units)
    for seed in range(options.seeds):
        counts = draw(seed)
        families = {
            "Poisson": Poisson(length_normalize=False),
            "negative binomial": NegativeBinomial(r, length_normalize=False),
        }
        reached = without_units(counts.train, counts.test)
        for name, family in families.items():
            reached[name] = log_likelihood(fitted(family, options.units, counts.train, seed), counts.test)
        for name, value in reached.items():
            found.setdefault(name, []).append(value)
        print(counts.name, seed, f"r {r:g}", {name: round(value, 2) for name, value in reached.items()}, flush=True)
    return found, r


def retrieval(counts: Counts, r: float, options: SimpleNamespace, found: Retrieved) -> None:
    """Add mean average precisions of test texts as queries to training texts."""
    named = {"Poisson": Poisson(), "negative binomial": NegativeBinomial(r)}
    for seed in range(options.seeds):
        for name, family in named.items():
            model = fitted(family, options.retrieval_units, counts.train, seed)
            latent = model.transform(counts.test), model.transform(counts.train)
            found.setdefault((counts.name, name), []).append(average_precision(*latent, counts.truth, counts.y))
    words = average_precision(counts.test, counts.train, counts.truth, counts.y)
    found[counts.name, "words as they are"] = [words]
    print(found, flush=True)


def run(options: SimpleNamespace) -> Result:
    """Measure held-out likelihoods on all counts, and retrieval of texts."""
    sources: dict[str, Callable[[int], Counts]] = {}
    for r in DISPERSIONS:
        sources[str(r)] = lambda seed, r=r: drawn(r, options.rows, options.test_rows, seed)
    of_texts = {name: texts(name, options) for name in ("20 Newsgroups", "Reuters-21578")}
    for name, counts in of_texts.items():
        sources[name] = lambda seed, counts=counts: counts
    rows, retrieved = [], {}
    with threadpool_limits(1):
        for source in sources.values():
            counts = source(0)
            found, r = likelihoods(source, options)
            gain = np.subtract(found["negative binomial"], found["Poisson"]).tolist()
            cells = [with_error(values) if len(values) > 1 else values[0] for values in (*found.values(), gain)]
            rows.append([counts.name, dispersion(counts.train), r, *cells])
            if counts.y is not None:
                retrieval(counts, r, options, retrieved)
    return report(rows, list(found), retrieved, options)


def report(rows: list[list[Any]], models: list[str], retrieved: Retrieved, options: SimpleNamespace) -> Result:
    """Return both tables."""
    result = Result()
    result.text(
        f"Log-likelihood of test rows, nats per row, exact, with {options.units} binary units; mean and standard error "
        f"over {options.seeds} seeds (of drawn counts, also of the draw). Gain: negative binomial less Poisson. "
        "Variance / mean: the median over columns, 1 for Poisson counts."
    )
    columns = {"counts": None, "variance / mean": "{:.2f}", "r chosen": None}
    result.table("likelihood", {**columns, **dict.fromkeys([*models, "gain"], "{:.2f}")}, rows)
    result.text(
        f"Retrieval: mean average precision of test texts, {options.retrieval_units} units, rows of one length; "
        "cosines. The r is the one chosen above."
    )
    cells = [[*key, with_error(values) if len(values) > 1 else values[0]] for key, values in retrieved.items()]
    result.table("retrieval", {"texts": None, "model": None, "average precision": "{:.3f}"}, cells)
    return result
