"""Right: every family × hidden layer pair against enumeration, known truth recovered, annealed log Z close to exact."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from benchmarks.internals import (
    Batch,
    Energy,
    ViewBatch,
    annealed_log_partition,
    bias_of,
    exact_expectations,
    exact_log_partition,
    gibbs_step,
)
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import LBFGS, Bernoulli, Harmonium, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.inspection import log_partition
from harmonium.objectives import ExactLikelihood, MeanFieldCD, PersistentCD, SampledCD

BENCHMARK = Benchmark(
    title="Right",
    claim="every family × hidden layer pair against enumeration, recovery of known truth, annealed log Z",
    minutes=1,
    settings={"chains": 20_000, "annealed": 1000, "temperatures": 100, "rows": 4000, "seeds": 5},
    quick={"chains": 100, "annealed": 10, "temperatures": 10, "rows": 100, "seeds": 1},
)


def pairs(options: SimpleNamespace) -> list[list[object]]:
    """Return Gibbs moments and annealed log Z of every pair, in units of their standard errors."""
    # the models of the tests, which need more than a benchmark to be imported
    from tests.cases.models import SIZE, compatible_pairs, make_family, make_hidden, make_parameters, sizes_for

    rows = []
    for family, hidden in compatible_pairs():
        energy = Energy({"x": make_family(family)}, make_hidden(hidden))
        scale = 0.2 if (family, hidden) == ("Gaussian", "GaussianUnits") else 0.4
        parameters = make_parameters(energy, seed=len(family), scale=scale)
        exact = exact_expectations(energy, parameters, sizes_for(energy, 1))
        rng = np.random.default_rng(0)
        n_chains = options.chains
        sizes = sizes_for(energy, n_chains)
        state = energy.hidden.sample(np.zeros((n_chains, 2)), rng)
        for _ in range(40):
            state, batch = gibbs_step(energy, parameters, state, rng, sizes)
        drawn = np.asarray(batch.views["x"].statistic)
        error = drawn.std(axis=0) / np.sqrt(n_chains)
        moments = np.abs(drawn.mean(axis=0) - exact.statistics[bias_of("x")]) / error
        totals = dict.fromkeys(sizes, SIZE)
        annealed = annealed_log_partition(
            energy, parameters, rng, n_chains=options.annealed, n_temperatures=options.temperatures, sizes=totals
        )
        off = abs(annealed.value - exact.log_partition)
        share = off / annealed.standard_error if annealed.standard_error > 0 else 0.0
        rows.append([family, hidden, float(moments.max()), exact.log_partition, annealed.value, share])
    return rows


def truth(options: SimpleNamespace) -> list[list[object]]:
    """Return held-out log-likelihoods of models fitted to rows of a known model with 10 features and 3 units."""
    from tests.cases.models import make_parameters

    energy = Energy({"view0": Bernoulli().restore(10, {})}, BernoulliUnits().bind(3))
    parameters = make_parameters(energy, seed=7, scale=2.0)
    parameters["view0.bias"] = -parameters["view0.weights"].sum(axis=1) / 2
    parameters["hidden.bias"] = -parameters["view0.weights"].sum(axis=0) / 2

    def draw(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        hidden = energy.hidden.sample(np.zeros((options.rows, 3)), rng)
        for _ in range(60):
            hidden, batch = gibbs_step(energy, parameters, hidden, rng)
        return np.asarray(batch.views["view0"].statistic)

    train, test = draw(0), draw(1)
    share = train.mean(axis=0)
    of_truth = -energy.free_energy(parameters, Batch({"view0": ViewBatch(test)}, len(test))).mean()
    rows: list[list[object]] = [
        ["the true model", float(of_truth - exact_log_partition(energy, parameters))],
        ["independent features", float((test * np.log(share) + (1 - test) * np.log1p(-share)).sum(axis=1).mean())],
    ]
    for name, objective, driver in (
        ("exact likelihood, L-BFGS", ExactLikelihood(), LBFGS(300, weight_decay=0.0)),
        ("persistent CD-5", PersistentCD(5), Stochastic(100, learning_rate=0.02)),
        ("sampled CD-10", SampledCD(10), Stochastic(100, learning_rate=0.02)),
        ("sampled CD-1", SampledCD(), Stochastic(100, learning_rate=0.02)),
        ("mean-field CD-5", MeanFieldCD(5), Stochastic(60, learning_rate=0.01)),
    ):
        values = []
        for seed in range(options.seeds):
            model = Harmonium(3, views=Bernoulli(), objective=objective, driver=driver, random_state=seed).fit(train)
            values.append(float(model.score_samples(test).mean()) - log_partition(model, "exact").value)
        rows.append([name, float(np.mean(values))])
    return rows


def run(options: SimpleNamespace) -> Result:
    """Compare every pair with enumeration, and learners with the model that made their data."""
    result = Result()
    result.heading("Every family × hidden layer pair against enumeration")
    result.text(
        "Three features and two units. Gibbs: largest deviation of a feature's mean from the exact one, in standard "
        f"errors ({options.chains:,} chains). Annealing: deviation of log Z in its own standard errors "
        f"({options.annealed:,} chains, {options.temperatures} temperatures)."
    )
    columns = ["family", "hidden layer", "Gibbs, σ", "exact log Z", "annealed log Z", "deviation, σ"]
    result.table("pairs", columns, pairs(options))
    result.heading("Known truth")
    result.text(f"Mean log-likelihood of {options.rows:,} held-out rows (exact log Z), mean of {options.seeds} seeds.")
    result.table("truth", ["model", "nats a row"], truth(options))
    return result
