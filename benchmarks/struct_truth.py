"""Chains sampled from a known model: are links recovered, and what does a model without links lose?

40 features in sequences of 6 vectors, 4 binary units that shift nodes and links; data are drawn by long Gibbs chains.
With 4 units everything can be enumerated, so held-out log-likelihoods are exact. Rivals: the same model without
links (Binomial counts of each feature, whose likelihood is turned into that of a sequence), learned in the same way,
and each feature's chain without units. Five draws of model and data; means and standard errors.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize
from scipy.special import gammaln, logsumexp

from benchmarks.internals import Energy, Parameters, chain_states, exact_log_partition, gibbs_step
from benchmarks.measuring import with_error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Harmonium, Sequences, Stochastic, Views
from harmonium.families import Binomial, Chain
from harmonium.hidden import BernoulliUnits
from harmonium.inspection import log_partition

BENCHMARK = Benchmark(
    title="Known truth: chains",
    claim="chains of a known model: links recovered, exact held-out likelihood with and without links",
    minutes=4,
    settings={"seeds": 5, "sizes": (8000,), "test": 4000, "updates": 200_000},
    quick={"seeds": 2, "sizes": (100,), "test": 50, "updates": 200},
)
FEATURES, LENGTH, UNITS = 40, 6, 4


def truth(rng: np.random.Generator) -> tuple[Energy, Parameters]:
    family = Chain().restore(2 * FEATURES, {"typical_size": np.array(float(LENGTH))})
    energy = Energy({"x": family}, BernoulliUnits().bind(UNITS))
    scale = np.repeat([0.4, 1.0], FEATURES)[:, None]  # units shift links more than nodes
    weights = scale * rng.normal(size=(2 * FEATURES, UNITS)) * (rng.random((2 * FEATURES, UNITS)) < 0.25)
    bias = np.concatenate([rng.normal(-2.0, 0.5, size=FEATURES), rng.normal(0.3, 0.7, size=FEATURES)])
    # every unit is on about half of the time
    half = bias + 0.5 * weights.sum(axis=1)
    hidden_bias = -weights.T @ family.mean(half[None, :], size=np.array([float(LENGTH)]))[0]
    parameters = {"hidden.bias": hidden_bias, "x.weights": weights, "x.bias": bias}
    return energy, {name: value.astype(np.float32) for name, value in parameters.items()}


def draw(energy: Energy, parameters: Parameters, n_items: int, rng: np.random.Generator) -> Sequences:
    sizes = {"x": np.full(n_items, float(LENGTH))}
    hidden = rng.integers(0, 2, size=(n_items, UNITS)).astype(np.float32)
    for _ in range(300):
        hidden, batch = gibbs_step(energy, parameters, hidden, rng, sizes)
    return Sequences.from_counts(batch.views["x"].statistic, sizes["x"], rng)


def log_likelihood(energy: Energy, parameters: Parameters, sequences: Sequences) -> float:
    """Exact mean log-probability of a sequence."""
    batch = Views({"x": sequences}).batch(slice(None), energy.families)
    log_z = exact_log_partition(energy, parameters, {"x": np.array([float(LENGTH)])})
    return float(-energy.free_energy(parameters, batch).mean() - log_z)


def without_links(model: Harmonium, counts: np.ndarray) -> float:
    """The same for a model of counts: sequences with the same counts share their probability."""
    ways = gammaln(LENGTH + 1) - gammaln(counts + 1) - gammaln(LENGTH - counts + 1)
    return float((model.score_samples([counts]) - ways.sum(axis=1)).mean() - log_partition(model, "exact").value)


def recovered(true: Parameters, found: Parameters) -> tuple[float, float, float]:
    """Correlations of true and found edge weights (units matched, up to sign), and of mean links, with their error."""
    correlation = np.corrcoef(true["x.weights"].T, found["x.weights"].T)[:UNITS, UNITS:]
    rows, columns = linear_sum_assignment(-np.abs(correlation))
    signs = np.sign(correlation[rows, columns])
    edges = slice(FEATURES, None)
    one, two = true["x.weights"][edges][:, rows], found["x.weights"][edges][:, columns] * signs
    weights = float(np.corrcoef(one.ravel(), two.ravel())[0, 1])
    # a link when half of the units are on, which turning units over does not change
    links = [part["x.bias"][edges] + 0.5 * part["x.weights"][edges].sum(axis=1) for part in (true, found)]
    return weights, float(np.corrcoef(*links)[0, 1]), float(np.abs(links[0] - links[1]).mean())


def trial(seed: int, n_items: int, options: SimpleNamespace) -> dict[str, Any]:
    """Return exact held-out likelihoods and how well links are recovered, for one draw of model and data."""
    rng = np.random.default_rng(seed)
    energy, parameters = truth(rng)
    train, test = draw(energy, parameters, n_items, rng), draw(energy, parameters, options.test, rng)
    driver = Stochastic(max_iter=max(10, options.updates // n_items), learning_rate=0.01, weight_decay=0.0)
    parts: dict[str, Any] = {"hidden": BernoulliUnits(), "driver": driver, "random_state": seed}
    result: dict[str, Any] = {"true model": log_likelihood(energy, parameters, test)}
    chain = Harmonium(UNITS, views={"x": Chain()}, **parts).fit({"x": train})
    result["links"] = log_likelihood(chain.fitted_.energy, chain.fitted_.parameters, test)
    result["recovered"] = recovered(parameters, chain.fitted_.parameters)
    flat = Harmonium(UNITS, views=[Binomial(LENGTH)], **parts).fit([train.counts[:, :FEATURES].toarray()])
    result["no links"] = without_links(flat, test.counts[:, :FEATURES].toarray())
    silent = {name: np.zeros_like(value) for name, value in parameters.items()} | {"x.bias": fitted_alone(train)}
    result["no units"] = log_likelihood(energy, silent, test)
    return result


def fitted_alone(train: Sequences) -> np.ndarray:
    """Maximum likelihood of each feature's chain by itself."""
    states, log_numbers = chain_states(LENGTH)
    means = train.counts.mean(axis=0).reshape(2, FEATURES).T

    def loss(natural: np.ndarray, mean: np.ndarray) -> float:
        return float(logsumexp(states @ natural + log_numbers) - natural @ mean)

    found = [minimize(loss, np.zeros(2), (mean,), "L-BFGS-B", bounds=[(-10, 10)] * 2).x for mean in means]
    return np.array(found).T.ravel().astype(np.float32)


def run(options: SimpleNamespace) -> Result:
    """Learn from several draws of each size."""
    likelihoods: list[list[object]] = []
    links: list[list[object]] = []
    for n_items in options.sizes:
        trials = [trial(seed, n_items, options) for seed in range(options.seeds)]
        row = [with_error([one[name] for one in trials]) for name in ("true model", "links", "no links", "no units")]
        gains = [with_error([one["links"] - one[name] for one in trials]) for name in ("no links", "no units")]
        likelihoods.append([n_items, *row, *gains])
        found = np.array([one["recovered"] for one in trials])
        links.append([n_items, *(with_error(column) for column in found.T)])
        print(likelihoods[-1], links[-1], flush=True)
    result = Result()
    result.text(
        f"Exact held-out log-likelihood of a sequence ({FEATURES} features, {LENGTH} vectors, {UNITS} units), in nats; "
        "all models but the true one and the last learned by sampled CD-1:"
    )
    models = ["true model", "chains", "without links", "without units"]
    gains = ["chains - without links", "chains - without units"]
    result.table("likelihood", {"items": None, **dict.fromkeys(models + gains, "{:.2f}")}, likelihoods)
    result.text(
        "Links: correlation of true and found edge weights (units matched), correlation of mean links, and mean "
        "absolute error of these."
    )
    measures = ["edge weights", "mean links", "error of mean links"]
    result.table("links", {"items": None, **dict.fromkeys(measures, "{:.3f}")}, links)
    return result
