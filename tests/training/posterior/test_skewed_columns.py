"""Posterior draws of columns that are nearly all ones, from few items: intervals of couplings are wide enough."""

from __future__ import annotations

import numpy as np

from harmonium import BEFH, Bernoulli, Langevin
from harmonium.energy import Energy
from harmonium.hidden import GaussianUnits
from harmonium.inference.gibbs import gibbs_step
from harmonium.inspection import posterior_draws
from harmonium.training import EmpiricalBayes

N_FEATURES, N_UNITS, SCALE = 16, 2, 0.5


def skewed_items(n_items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Couplings and items of weights from N(0, 0.5²), with biases that make most cells one."""
    rng = np.random.default_rng(seed)
    weights = SCALE * rng.standard_normal((N_FEATURES, N_UNITS))
    bias = 2.0 - 0.5 * (weights @ weights.T).sum(axis=1)
    energy = Energy({"x": Bernoulli().restore(N_FEATURES, {})}, GaussianUnits().bind(N_UNITS))
    parameters = {"hidden.bias": np.zeros(N_UNITS), "x.bias": bias, "x.weights": weights}
    hidden = rng.standard_normal((n_items, N_UNITS))
    for _ in range(200):
        hidden, batch = gibbs_step(energy, parameters, hidden, rng)
    return weights, np.asarray(batch.views["x"].statistic, dtype=np.float64)


def coverage(driver: Langevin, weights: np.ndarray, items: np.ndarray) -> tuple[float, float]:
    """Share of couplings in their central 90 % intervals, and the scale of the prior."""
    model = BEFH(N_UNITS, Bernoulli(), driver=driver, random_state=0).fit(items)
    pairs = np.triu_indices(N_FEATURES, 1)
    draws = posterior_draws(model)["view0.weights"].reshape(-1, N_FEATURES, N_UNITS)
    found = (draws @ draws.transpose(0, 2, 1))[:, pairs[0], pairs[1]]
    lower, upper = np.quantile(found, [0.05, 0.95], axis=0)
    truth = (weights @ weights.T)[pairs]
    scale = np.sqrt(model.fitted_.posterior.prior["view0"].variance.mean())
    return float(((truth >= lower) & (truth <= upper)).mean()), float(scale)


def test_intervals_of_few_skewed_items_cover_what_they_claim() -> None:
    weights, items = skewed_items(50, seed=5)
    assert items.mean() > 0.8
    short = {"n_draws": 50, "n_warmup": 200, "thin": 4, "n_chains": 2}
    by_default, scale = coverage(Langevin(**short), weights, items)
    estimated = Langevin(**short, biases="learned", prior=EmpiricalBayes(centred=True))
    by_likelihood, collapsed = coverage(estimated, weights, items)
    assert scale > 0.3 and collapsed < 0.8 * scale
    assert by_default > 0.65 and by_likelihood < by_default - 0.1
