"""A Langevin step against a CD-1 step (Adam) of the same model and rows: what drawing weights costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from common import alternate, median, table, write
from harmonium import Bernoulli, Gaussian, GaussianUnits, Langevin, SampledCD, Stochastic
from harmonium.estimators.preparation import prepare
from harmonium.kernels.threads import compute
from harmonium.training import Training
from harmonium.training.initialise import initial_parameters
from harmonium.training.posterior import Chain, Posterior
from harmonium.training.priors import GaussianPrior
from harmonium.training.progress import Silent
from harmonium.views import Views

STEPS = 50


def cases() -> dict[str, tuple[dict[str, Any], dict[str, Any], int]]:
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


def tasks(data: dict[str, Any], families: dict[str, Any], n_units: int) -> dict[str, Any]:
    views = Views(data)
    problem = prepare(views, families, GaussianUnits().bind(n_units))
    rng = np.random.default_rng(0)
    parameters = initial_parameters(problem.energy, views, problem.reference, rng)
    rows = np.arange(len(views))
    objective = SampledCD()
    training = Training({name: value.copy() for name, value in parameters.items()})
    stochastic = Stochastic(batch_size=len(views), learning_rate=1e-4)
    driver = Langevin(n_warmup=10**6)
    chain = Chain({name: value.copy() for name, value in parameters.items()}, rng)
    prior = {view: GaussianPrior(scale=0.05).start(parameters[f"{view}.weights"], 1.0) for view in families}
    posterior = Posterior([chain], prior, n_warmup=10**6)
    with compute():
        driver.prepare(problem, objective, views, chain, posterior)

    def learn() -> None:
        with compute():
            for _ in range(STEPS):
                stochastic.epoch(problem, objective, views, rows, training, rng, Silent())

    def draw() -> None:
        with compute():
            for _ in range(STEPS):
                driver.move(problem, objective, views, rows, chain, posterior)

    return {"CD-1": learn, "Langevin": draw}


def main() -> None:
    rows: list[list[object]] = []
    for name, case in cases().items():
        seconds = alternate(tasks(*case), rounds=7)
        step = {task: median(values) / STEPS * 1000 for task, values in seconds.items()}
        ratios = sorted(b / a for a, b in zip(seconds["CD-1"], seconds["Langevin"], strict=True))
        rows.append([name, step["CD-1"], step["Langevin"], f"{median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"])
    body = table(["model", "CD-1 step, ms", "Langevin step, ms", "ratio"], rows)
    write("langevin_speed", "What a Langevin step costs", body, "python benchmarks/langevin_speed.py")


if __name__ == "__main__":
    main()
