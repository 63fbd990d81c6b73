"""A battery for the hashed normal numbers: moments, distribution, tails, order, and independence of streams.

Each statistic has a known distribution for independent normal numbers; its critical value is exceeded by chance once in
10,000 times. Numbers and keys are fixed, so a test that passes does not fail by bad luck later.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from harmonium.kernels.sampling.normal import fill_normal

CHANCE = 1e-4
NORMAL = 3.891  # two-sided critical value of a normal statistic
KOLMOGOROV = 2.225  # of √n D: 2 exp(-2 · 2.225²) = 1e-4
N_STREAMS, SIZE, LAGS = 8, 50_000, 16

KEYS = {
    "consecutive": np.arange(N_STREAMS),
    "one bit apart": 2 ** np.arange(16, 16 + N_STREAMS),
    "random": np.random.default_rng(0).integers(2**32, size=N_STREAMS),
    "near the end": 2**32 - 1 - np.arange(N_STREAMS),
}


def streams(keys: np.ndarray, first_cell: int = 0) -> np.ndarray:
    numbers = np.empty((len(keys), SIZE), dtype=np.float32)
    for row, key in zip(numbers, keys, strict=True):
        fill_normal(row, np.uint32(key), first_cell)
    return numbers.astype(np.float64)


def chi_square_ratio(statistic: float, degrees: int) -> float:
    """Above 1 if the statistic is too large, or too small: numbers can be more even than chance."""
    return float(
        max(statistic / stats.chi2.isf(CHANCE, degrees), stats.chi2.ppf(CHANCE, degrees) / max(statistic, 1e-9))
    )


def serial(numbers: np.ndarray) -> float:
    """Sum over streams and lags of n r², χ² with one degree of freedom each."""
    centred = numbers - numbers.mean(axis=1, keepdims=True)
    variance = np.square(centred).mean(axis=1)
    total = 0.0
    for lag in range(1, LAGS + 1):
        r = (centred[:, lag:] * centred[:, :-lag]).mean(axis=1) / variance
        total += np.square(r).sum() * (SIZE - lag)
    return chi_square_ratio(total, LAGS * len(numbers))


def crossed(numbers: np.ndarray, others: np.ndarray | None = None) -> float:
    """Sum of n r² over all pairs of streams, or of one of the streams and one of the others."""
    if others is None:
        r = np.corrcoef(numbers)[np.triu_indices(len(numbers), 1)]
    else:
        r = np.corrcoef(numbers, others)[: len(numbers), len(numbers) :].ravel()
    return chi_square_ratio(float(np.square(r).sum()) * numbers.shape[1], len(r))


def battery(numbers: np.ndarray) -> dict[str, float]:
    """Each statistic as a share of its critical value, below 1 unless something is wrong."""
    n = numbers.size
    flat = numbers.ravel()
    halves = np.hsplit(numbers, 2)  # cosines and sines of the same radius
    # moments of a standard normal and the variances of their estimates
    moments = {1: (0, 1), 2: (1, 2), 3: (0, 15), 4: (3, 96), 6: (15, 10_170)}
    result = {
        f"moment {order}": abs((flat**order).mean() - expected) / np.sqrt(variance / n) / NORMAL
        for order, (expected, variance) in moments.items()
    }
    result["distribution"] = np.sqrt(n) * stats.kstest(flat, "norm").statistic / KOLMOGOROV
    for far in (3.0, 4.0, 4.5):
        share = 2 * stats.norm.sf(far)
        n_far = np.count_nonzero(np.abs(flat) > far)
        result[f"beyond {far}"] = abs(n_far - n * share) / np.sqrt(n * share) / NORMAL
    edges = stats.norm.ppf(np.linspace(0, 1, 1001))
    filled = np.histogram(flat, edges)[0]
    result["thousandths"] = chi_square_ratio(float(np.square(filled - n / 1000).sum()) / (n / 1000), 999)
    # changes of sign are n/2 on average, with variance n/4
    changes = np.count_nonzero(np.signbit(numbers[:, 1:]) != np.signbit(numbers[:, :-1]))
    n_steps = numbers[:, 1:].size
    result["changes of sign"] = abs(changes - n_steps / 2) / np.sqrt(n_steps / 4) / NORMAL
    for name, seen in (("values", numbers), ("squares", np.square(numbers))):
        result[f"serial correlation of {name}"] = serial(seen)
        result[f"cross-stream correlation of {name}"] = crossed(seen)
        first, second = (np.square(half) if name == "squares" else half for half in halves)
        result[f"correlation of halves, {name}"] = crossed(first, second)
    result["correlation with shifted streams"] = crossed(numbers[:, 1:], np.roll(numbers, 1, axis=0)[:, :-1])
    return {name: float(value) for name, value in result.items()}


@pytest.mark.parametrize("first_cell", [0, 2**32 - 20_000])
@pytest.mark.parametrize("keys", KEYS)
def test_hashed_numbers_pass(keys: str, first_cell: int) -> None:
    result = battery(streams(KEYS[keys], first_cell))
    assert {name: value for name, value in result.items() if not value < 1} == {}


def test_numbers_of_numpy_pass_too() -> None:
    assert max(battery(np.random.default_rng(1).standard_normal((N_STREAMS, SIZE))).values()) < 1


SMALL_FAULTS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "shifted": (lambda x: x + 0.01, "moment 1"),
    "one per cent too wide": (lambda x: 1.01 * x, "moment 2"),
    "skewed": (lambda x: x + 0.01 * (x**2 - 1), "moment 3"),
    "cut off": (lambda x: np.clip(x, -3.5, 3.5), "beyond 4.0"),
    "of six uniform numbers": (
        lambda x: np.sqrt(2) * (np.random.default_rng(2).random((6, *x.shape)).sum(axis=0) - 3),
        "distribution",
    ),
    "too even": (
        lambda x: (
            np.random.default_rng(2).permutation(stats.norm.ppf((np.arange(x.size) + 0.5) / x.size)).reshape(x.shape)
        ),
        "thousandths",
    ),
    "rounded": (lambda x: x.round(2), "thousandths"),
    "in waves": (lambda x: x * (1 + 0.1 * np.sin(np.arange(SIZE) / 10)), "serial correlation of squares"),
    "with memory": (lambda x: x + 0.03 * np.roll(x, 1, axis=1), "serial correlation of values"),
    "with a common part": (lambda x: x + 0.06 * x[0], "cross-stream correlation of values"),
    "one stream, shifted": (
        lambda x: np.array([np.roll(x[0], row) for row in range(N_STREAMS)]),
        "correlation with shifted streams",
    ),
}


@pytest.mark.parametrize("fault", SMALL_FAULTS)
def test_small_faults_are_found(fault: str) -> None:
    spoil, statistic = SMALL_FAULTS[fault]
    assert battery(spoil(streams(KEYS["random"])))[statistic] > 1
