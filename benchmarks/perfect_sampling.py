"""Perfect sampling, the gradient by brief sampling, and naive estimates of Z (Fig. 4 and 6 of the Bayesian harmoniums).

Synthetic models are made as in the paper: a symmetric 100 × 100 matrix with entries uniform in [0, 0.1], W its best
approximation of rank 10 (WWᵀ, so from the largest eigenvalues), redrawn until no entry of WWᵀ is negative, θ = λ = 0.
"""

from __future__ import annotations

import itertools
import time
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.stats import chi2

from benchmarks.datasets import load_bdgp
from benchmarks.internals import (
    Batch,
    Energy,
    LogPartition,
    Parameters,
    ViewBatch,
    annealed_log_partition,
    compute,
    gibbs_step,
    naive_log_partition,
    perfect_sample,
)
from benchmarks.measuring import alternate, median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import DWH, Bernoulli, Gaussian, HarmoniumWarning
from harmonium.hidden import BernoulliUnits, GaussianUnits, HiddenLayer

BENCHMARK = Benchmark(
    title="Perfect sampling",
    claim="perfect samples against enumeration, their time; bias and spread of the gradient by brief sampling; naive"
    " estimates of Z against annealing",
    minutes=3,
    data=("bdgp",),
    settings={"enumerated_samples": 200_000, "exact_samples": 100_000, "timed_samples": 1000, "rounds": 3},
)
N_FEATURES, N_UNITS = 100, 10
FEW_FEATURES, FEW_UNITS = 10, 3  # of models that can be enumerated
STEPS = (1, 2, 5, 10, 20, 50)
N_RUNS, N_CHAINS = 50, 100
N_SWEEPS = 1000
NAIVE_RUNS, NAIVE_DRAWS = 100, 1000
ANNEALED_RUNS, ANNEALED_CHAINS, TEMPERATURES = 20, 100, 300
ENTRIES = ((0, 0), (25, 1), (50, 2), (75, 3))


# ---- models ----------------------------------------------------------------------------------------------------------
def attractive_weights(
    rng: np.random.Generator,
    n_features: int = N_FEATURES,
    n_units: int = N_UNITS,
    largest: float = 0.1,
    near: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """W of the paper's recipe, and how often it was drawn; half of it as in ``near``, if that is given."""
    for trial in range(1, 1000):
        matrix = rng.uniform(0, largest, size=(n_features, n_features))
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        if near is not None:
            matrix = 0.5 * matrix + 0.5 * near @ near.T
        values, vectors = np.linalg.eigh(matrix)
        weights = vectors[:, -n_units:] * np.sqrt(np.maximum(values[-n_units:], 0))
        if (weights @ weights.T).min() >= 0:
            return weights, trial
    raise RuntimeError("no draw without negative couplings")


def model_of(
    weights: np.ndarray, theta: np.ndarray | float = 0.0, layer: HiddenLayer | None = None
) -> tuple[Energy, Parameters]:
    n_features, n_units = weights.shape
    energy = Energy({"x": Bernoulli().restore(n_features, {})}, (layer or GaussianUnits()).bind(n_units))
    bias = np.zeros(n_features) + theta
    return energy, {"hidden.bias": np.zeros(n_units), "x.weights": weights, "x.bias": bias}


def balance(weights: np.ndarray) -> np.ndarray:
    """θ at which zeros and ones are exchangeable: the hardest case for coupled chains."""
    return -0.5 * (weights @ weights.T).sum(axis=1)


def draw(energy: Energy, parameters: Parameters, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    batch, sweeps = perfect_sample(energy, parameters, number, np.random.default_rng(seed))
    return np.asarray(batch.views["x"].statistic), sweeps


# ---- perfect samples against enumeration -----------------------------------------------------------------------------
def against_enumeration(n_samples: int) -> list[list[object]]:
    """Return rows of the distance between frequencies of samples and probabilities."""
    rng = np.random.default_rng(0)
    n_features = FEW_FEATURES
    states = np.array(list(itertools.product([0.0, 1.0], repeat=n_features)))
    strong = attractive_weights(rng, n_features, FEW_UNITS, 1.0)[0]
    positive = rng.uniform(0, 1, size=(n_features, FEW_UNITS))
    cases = {
        f"the paper's recipe, {n_features} × {FEW_UNITS}": model_of(attractive_weights(rng, n_features, FEW_UNITS)[0]),
        "couplings ten times as strong": model_of(strong),
        "the same, zeros and ones exchangeable": model_of(strong, balance(strong)),
        "the same, θ ~ N(-2, 1)": model_of(strong, rng.normal(-2, 1, n_features)),
        "Bernoulli units, weights in [0, 1], θ = -1": model_of(positive, -1.0, BernoulliUnits()),
    }
    rows: list[list[object]] = []
    for name, (energy, parameters) in cases.items():
        log_density = -energy.free_energy(parameters, Batch({"x": ViewBatch(states)}, len(states)))
        probability = np.exp(log_density - np.logaddexp.reduce(log_density))
        x, sweeps = draw(energy, parameters, n_samples, seed=1)
        frequency = np.bincount((x @ 2 ** np.arange(n_features)[::-1]).astype(int), minlength=len(states)) / n_samples
        distance = float(np.abs(frequency - probability).sum() / 2)
        expected = float(np.sqrt(2 * probability * (1 - probability) / (np.pi * n_samples)).sum() / 2)
        often = probability * n_samples >= 5  # the rest together
        seen, due = (np.append(values[often], values[~often].sum()) for values in (frequency, probability))
        kept = due > 0
        chance = float(chi2.sf(n_samples * (np.square(seen - due)[kept] / due[kept]).sum(), kept.sum() - 1))
        time_back = [float(np.median(sweeps)), int(sweeps.max())]
        rows.append([name, distance, expected, distance / expected, chance, *time_back])
    return rows


# ---- time ------------------------------------------------------------------------------------------------------------
def times(weights: np.ndarray, number: int, rounds: int) -> list[list[object]]:
    """Return rows of coalescence and time a sample, with sweeps of Gibbs sampling for as many samples beside it."""
    rows: list[list[object]] = []
    for name, strength, balanced in (
        ("the paper's recipe, θ = 0", 1.0, False),
        ("couplings a tenth, θ = 0", 0.1, False),
        ("couplings a tenth, zeros and ones exchangeable", 0.1, True),
        ("couplings half, zeros and ones exchangeable", 0.5, True),
        ("couplings 0.8 ×, zeros and ones exchangeable", 0.8, True),
        ("the paper's couplings, zeros and ones exchangeable", 1.0, True),
    ):
        scaled = np.sqrt(strength) * weights
        model = model_of(scaled, balance(scaled) if balanced else 0.0)
        x, sweeps = draw(*model, number, seed=0)
        tasks = {"perfect": partial(draw, *model, number, 1), "gibbs": partial(gibbs_sweeps, *model, number)}
        seconds = alternate(tasks, rounds)
        far, largest = float(np.quantile(sweeps, 0.95)), int(sweeps.max())
        milliseconds = [1e3 * median(seconds[task]) / number for task in tasks]
        rows.append([name, float(x.mean()), float(np.median(sweeps)), far, largest, *milliseconds])
        print(rows[-1], flush=True)
    return rows


def gibbs_sweeps(energy: Energy, parameters: Parameters, number: int) -> None:
    """Draw as many samples by block Gibbs sampling from zero."""
    rng, hidden = np.random.default_rng(0), np.zeros((number, N_UNITS))
    for _ in range(N_SWEEPS):
        hidden, _ = gibbs_step(energy, parameters, hidden, rng)


# ---- the gradient of log Z by brief sampling (Fig. 4) ----------------------------------------------------------------
def gradients(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """∂ log Z / ∂W estimated by every run: runs × features × units, from as many samples each."""
    runs = x.reshape(N_RUNS, N_CHAINS, -1)
    return np.einsum("rci,rck->rik", runs, runs @ weights) / N_CHAINS


def brief_gradients(weights: np.ndarray, data: np.ndarray, theta: np.ndarray | float) -> dict[int, np.ndarray]:
    """Return estimates after l steps from the same items in all runs, as in training."""
    energy, parameters = model_of(weights, theta)
    rng = np.random.default_rng(5)
    start = Batch({"x": ViewBatch(np.tile(data, (N_RUNS, 1)))}, N_RUNS * N_CHAINS)
    hidden = energy.layer(parameters).sample(energy.hidden_natural(parameters, start), rng)
    found = {}
    for step in range(1, max(STEPS) + 1):
        hidden, batch = gibbs_step(energy, parameters, hidden, rng)
        if step in STEPS:
            found[step] = gradients(np.asarray(batch.views["x"].statistic), weights)
    return found


def brief_sampling(truth: np.ndarray, n_exact: int, file: Path) -> tuple[list[list[object]], list[str]]:
    """Return root mean squares over the entries of W of the bias and of the spread; draw some entries."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(3)
    # columns of W are free up to a rotation; a random one makes them alike, so that single entries can be looked at
    rotation = np.linalg.qr(rng.normal(size=(N_UNITS, N_UNITS)))[0]
    half = np.sqrt(0.5) * truth
    other = attractive_weights(rng, near=truth)[0]
    weaker, stronger = np.sqrt(0.4) * truth, np.sqrt(0.8) * truth
    cases = {
        "(a) W with half the couplings of the truth, θ = 0": (half, truth, 0.0, 0.0),
        "(b) W half as the truth, half another draw, θ = 0": (other, truth, 0.0, 0.0),
        "(c) zeros and ones exchangeable; couplings of the truth 0.8 ×, of W 0.4 ×": (
            weaker,
            stronger,
            balance(weaker),
            balance(stronger),
        ),
    }
    figure, axes = plt.subplots(len(cases), len(ENTRIES), figsize=(12, 8), layout="constrained", squeeze=False)
    rows: list[list[object]] = []
    notes = []
    for line, (name, (unrotated, true_weights, theta, true_theta)) in zip(axes, cases.items(), strict=True):
        weights = unrotated @ rotation
        data, _ = draw(*model_of(true_weights, true_theta), N_CHAINS, seed=7)
        many, _ = draw(*model_of(weights, theta), n_exact, seed=8)
        exact = many.T @ (many @ weights) / len(many)
        perfect = gradients(draw(*model_of(weights, theta), N_RUNS * N_CHAINS, seed=9)[0], weights)
        brief = brief_gradients(weights, data, theta)
        for step, found in [("perfect sampling", perfect), *((f"l = {step}", found) for step, found in brief.items())]:
            bias, spread = found.mean(axis=0) - exact, found.std(axis=0, ddof=1)
            chance = np.sqrt(np.square(spread).mean() / N_RUNS)
            rows.append([name, step, *(float(np.sqrt(np.square(part).mean())) for part in (bias, spread)), chance])
        of_data = np.sqrt(np.square(data.T @ (data @ weights) / N_CHAINS - exact).mean())
        size = np.sqrt(np.square(exact).mean())
        notes.append(f"{name}: root mean square of the gradient itself {size:.3g}, of data minus model {of_data:.3g}")
        for axis, (i, j) in zip(line, ENTRIES, strict=True):
            means = np.array([found[:, i, j].mean() for found in brief.values()])
            errors = 1.64 * np.array([found[:, i, j].std(ddof=1) for found in brief.values()]) / np.sqrt(N_RUNS)
            axis.errorbar(STEPS, means, errors, marker="o", markersize=3, capsize=2, label="brief sampling")
            line_at = perfect[:, i, j].mean()
            error = 1.64 * perfect[:, i, j].std(ddof=1) / np.sqrt(N_RUNS)
            axis.axhline(line_at, color="black", linestyle="--", label="perfect sampling")
            axis.axhspan(line_at - error, line_at + error, color="black", alpha=0.1)
            axis.set_xscale("log")
            axis.set_xticks(STEPS, [str(step) for step in STEPS])
            axis.minorticks_off()
            axis.set_title(f"{name[:3]} ∂ log Z / ∂W[{i}, {j}]", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("Gibbs steps from the data, l")
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=120)
    return rows, notes


# ---- naive Monte Carlo of Z (Fig. 6) ---------------------------------------------------------------------------------
def fitted_dwh() -> tuple[Energy, Parameters]:
    data = load_bdgp()
    model = DWH(N_UNITS, {"image": Gaussian(), "text": Bernoulli()}, random_state=0).fit(data.views)
    return model.fitted_.energy, model.fitted_.parameters


def estimates(energy: Energy, parameters: Parameters) -> tuple[list[LogPartition], list[LogPartition]]:
    """Return naive estimates of log Z, and some by annealing."""
    naive = [
        naive_log_partition(energy, parameters, np.random.default_rng(seed), NAIVE_DRAWS) for seed in range(NAIVE_RUNS)
    ]
    annealed = [
        annealed_log_partition(energy, parameters, np.random.default_rng(seed), ANNEALED_CHAINS, TEMPERATURES)
        for seed in range(ANNEALED_RUNS)
    ]
    return naive, annealed


def naive_monte_carlo(weights: np.ndarray, file: Path) -> list[list[object]]:
    """Return rows of both estimates of log Z; draw histograms of the naive ones."""
    import matplotlib.pyplot as plt

    cases = {
        "(a) synthetic, couplings a hundredth": model_of(0.1 * weights),
        "(b) synthetic, the paper's recipe": model_of(weights),
        "(c) DWH of BDGP, 10 units": fitted_dwh(),
    }
    figure, axes = plt.subplots(1, len(cases), figsize=(12, 3.5), layout="constrained")
    rows: list[list[object]] = []
    for axis, (name, (energy, parameters)) in zip(axes, cases.items(), strict=True):
        naive, annealed = estimates(energy, parameters)
        for method, found in (("naive", naive), ("annealed", annealed)):
            values = np.array([estimate.value for estimate in found])
            relative = np.exp(values - values.max())
            rows.append(
                [
                    name,
                    method,
                    len(found),
                    float(values.mean()),
                    float(values.std(ddof=1)),
                    float(np.mean([estimate.standard_error for estimate in found])),
                    float(relative.std(ddof=1) / relative.mean()),
                    float(relative.max() / relative.sum()),
                ]
            )
            print(rows[-1], flush=True)
        values = np.array([estimate.value for estimate in naive])
        relative = np.exp(values - values.max())
        relative /= relative.mean()
        axis.hist(relative, bins=30, color="C0")
        axis.axvline(1.0, color="black", linestyle="--")
        spread = relative.std(ddof=1)
        axis.axvspan(1 - spread, 1 + spread, color="black", alpha=0.1)
        axis.set(xlabel="estimated Z / its mean over the runs", title=name)
    axes[0].set_ylabel(f"runs of {NAIVE_RUNS}")
    figure.savefig(file, dpi=120)
    return rows


def run(options: SimpleNamespace) -> Result:
    """Check and time perfect samples; look at brief sampling and at naive estimates of Z."""
    warnings.simplefilter("ignore", HarmoniumWarning)
    begin = time.perf_counter()
    weights, trials = attractive_weights(np.random.default_rng(0))
    couplings = weights @ weights.T
    with compute(None):
        enumerated = against_enumeration(options.enumerated_samples)
        brief, notes = brief_sampling(weights, options.exact_samples, options.output / "brief_sampling.png")
        naive = naive_monte_carlo(weights, options.output / "naive_partition.png")
        timed = times(weights, options.timed_samples, options.rounds)
    result = Result()
    result.text(
        f"The synthetic model (draw {trials}, the first without negative couplings): entries of WWᵀ from "
        f"{couplings.min():.3g} to {couplings.max():.3g}, mean {couplings.mean():.3g}."
    )
    result.heading("Perfect samples against enumeration")
    result.text(
        f"All {2**FEW_FEATURES:,} states, {options.enumerated_samples:,} samples. The expected distance is that of as "
        "many independent exact draws; p of a χ² test."
    )
    columns = ["model", "total variation", "expected", "ratio", "p", "sweeps, median", "sweeps, largest"]
    result.table("enumeration", columns, enumerated)
    result.heading("Coalescence and time")
    result.text(
        f"{N_FEATURES} × {N_UNITS}; sweeps: how long ago the coupled chains had to start (a power of two). Gibbs: "
        f"{N_SWEEPS:,} sweeps from zero, not exact, for as many samples."
    )
    sweeps = ["sweeps, median", "95 %", "largest"]
    columns = ["model", "share of ones", *sweeps, "perfect, ms a sample", "Gibbs, ms a sample"]
    result.table("time", columns, timed)
    result.heading("Gradient of log Z by brief sampling")
    result.text(
        f"{N_CHAINS} samples a run, {N_RUNS} runs, all from the same {N_CHAINS} items drawn exactly from the truth. "
        f"Root mean squares over the {N_FEATURES * N_UNITS:,} entries; the last column is the bias that chance alone "
        f"gives {N_RUNS} runs."
    )
    result.table("brief sampling", ["setting", "samples", "bias", "spread over runs", "bias by chance"], brief)
    for note in notes:
        result.text(note)
    result.figure("brief_sampling.png", "gradient by brief sampling")
    result.heading("Naive estimates of Z")
    result.text(
        f"Naive: {NAIVE_DRAWS:,} draws a run. Annealed: {ANNEALED_CHAINS} chains, {TEMPERATURES} temperatures. Spread "
        "and share of Z itself are relative to the mean over the runs."
    )
    columns = dict.fromkeys(["model", "method", "runs", "mean log Z", "spread of log Z", "stated error"])
    columns |= dict.fromkeys(["spread of Z / mean", "share of the largest"])
    result.table("naive", {**columns, "mean log Z": "{:.2f}"}, naive)
    result.figure("naive_partition.png", "histograms of estimates")
    result.text(f"In all {time.perf_counter() - begin:.0f} seconds.")
    return result
