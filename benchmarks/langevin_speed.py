"""A Langevin step against a CD-1 step (Adam) of the same model and rows: what drawing weights costs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.internals import Data, MarkovChain, Posterior, Training, compute, initial_parameters, prepare
from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import Bernoulli, Gaussian, Langevin, Stochastic, Views
from harmonium.hidden import GaussianUnits
from harmonium.objectives import SampledCD
from harmonium.training import GaussianPrior
from harmonium.training.drivers.run import Run

BENCHMARK = Benchmark(
    title="What a Langevin step costs",
    claim="a Langevin step against a CD-1 step of the same model",
    minutes=1,
    settings={"steps": 50, "rounds": 7},
    quick={"steps": 1, "rounds": 1},
)


def cases() -> dict[str, tuple[dict[str, Any], dict[str, Any], int]]:
    """Return views, families and number of units by name."""
    rng = np.random.default_rng(0)
    small = (rng.random((200, 100)) < 0.5).astype(np.float32)
    words = scipy.sparse.random_array((1000, 5000), density=0.01, rng=rng, format="csr", dtype=np.float32)
    words.data[:] = 1
    image = rng.normal(size=(1000, 200)).astype(np.float32)
    return {
        "100 binary features, 10 units, 200 rows": ({"x": small}, {"x": Bernoulli()}, 10),
        "5,000 words and 200 real features, 50 units, 1,000 rows": (
            {"words": words, "image": image},
            {"words": Bernoulli(), "image": Gaussian()},
            50,
        ),
        "the same, steps of 100 rows": (
            {"words": words[:100], "image": image[:100]},
            {"words": Bernoulli(), "image": Gaussian()},
            50,
        ),
    }


def tasks(given: dict[str, Any], families: dict[str, Any], n_units: int, n_steps: int) -> dict[str, Any]:
    """Return functions that take so many steps of either kind."""
    views = Views(given)
    data = Data(views)
    problem = prepare(views, families, GaussianUnits().bind(n_units))
    rng = np.random.default_rng(0)
    parameters = initial_parameters(problem.energy, views, problem.reference, rng)
    rows = np.arange(len(views))
    objective = SampledCD()
    training = Training({name: value.copy() for name, value in parameters.items()})
    stochastic = Stochastic(batch_size=len(views), learning_rate=1e-4)
    driver = Langevin(n_warmup=10**6)
    chain = MarkovChain({name: value.copy() for name, value in parameters.items()}, rng)
    prior = {view: GaussianPrior(scale=0.05).start(parameters[f"{view}.weights"], 1.0) for view in families}
    posterior = Posterior([chain], prior, n_warmup=10**6)
    drawn = Run(problem, objective, data, training, rng)
    with compute():
        driver.prepare(drawn, chain, posterior)

    def learn() -> None:
        with compute():
            for _ in range(n_steps):
                stochastic.update(Run(problem, objective, data, training, rng))

    def draw() -> None:
        with compute():
            for _ in range(n_steps):
                driver.move(drawn, rows, chain, posterior)

    return {"CD-1": learn, "Langevin": draw}


def run(options: SimpleNamespace) -> Result:
    """Time both kinds of steps alternately."""
    rows = []
    for name, case in cases().items():
        seconds = alternate(tasks(*case, options.steps), options.rounds)
        step = {task: median(values) / options.steps * 1000 for task, values in seconds.items()}
        ratios = [b / a for a, b in zip(seconds["CD-1"], seconds["Langevin"], strict=True)]
        ratio = {"median": median(ratios), "smallest": min(ratios), "largest": max(ratios)}
        rows.append([name, step["CD-1"], step["Langevin"], ratio])
    columns = dict.fromkeys(["model", "CD-1 step, ms", "Langevin step, ms"])
    result = Result()
    result.table("steps", {**columns, "ratio": "{median:.2f} ({smallest:.2f}–{largest:.2f})"}, rows)
    return result
