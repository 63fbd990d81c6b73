"""The spectrum of what a model leaves unexplained, and what chance makes of it.

Residuals are φ(x) - E[φ(x) | E[h | x]] less what is linear in E[h | x], side by side for all views, without the
directions in which statistics change with units, and in standard deviations. Chance is what the same
model leaves unexplained of rows that it has drawn itself, from the hidden units of the data: parallel analysis
(Horn 1965; Buja & Eyuboglu 1992) whose copies know everything that has been explained. Without units, the copies are of
independent features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import randomized_svd

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.inference.gibbs import sample_views, sizes_of
from harmonium.inference.mean_field import mean_views
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.objectives.problem import Problem
from harmonium.views.data import Data

# Numbers that a table of residuals may hold, and the side above which decompositions are by random projections:
# conventions, which decide about memory and time.
_LARGEST_TABLE, _LARGE = 60_000_000, 2000
# Power iterations of a random projection: a convention, which is enough for components that stand out.
_POWERS = 2
# Copies that chance is known by, and how many standard deviations above their mean a component must lie: conventions.
# The largest component of 1,000 rows of 150 columns of normal noise exceeds four with a probability of 0.0003 if mean
# and deviation are known, and of 0.004 if they come from ten copies (12,000 draws of the bidiagonal model of Wishart
# matrices, Dumitriu & Edelman 2002); three it exceeds with 0.0043 and 0.015, which several rounds would make 0.05. Its
# law is near that of Tracy & Widom (1996), whose tail is a long one.
# The largest component of a large table varies little, so that a few copies tell its size.
_COPIES, _COPIES_OF_LARGE, _DEVIATIONS = 10, 3, 4.0
# Rounds in which factors and the variances that they leave are found in turn, and the smallest share of a feature's
# variance that can be left: conventions.
_ROUNDS, _SMALLEST_NOISE = 10, 0.01
# Deviation up to which a unit counts as the same for all rows, and the share of the largest eigenvalue up to which
# units count as linearly dependent: what single precision cannot tell apart.
_SAME, _DEPENDENT = 1e-5, 1e-6


@dataclass(frozen=True)
class Components:
    """Leading principal components of a table whose features have variance 1 on average.

    Attributes
    ----------
    variances : ndarray of shape (components,)
        Variances, from the largest on.
    directions : ndarray of shape (features, components)
        Directions, of length 1.
    rest : float
        Average variance of the other directions.
    """

    variances: np.ndarray
    directions: np.ndarray
    rest: float


@dataclass(frozen=True)
class Factors:
    """Factors of all rows.

    Attributes
    ----------
    scores : ndarray of shape (rows, factors)
        The factors as the data show them: of variance 1, plus noise.
    loadings : ndarray of shape (features, factors)
        By how much a feature changes with a factor, in standard deviations of the feature.
    """

    scores: np.ndarray
    loadings: np.ndarray


def sampled_rows(problem: Problem, data: Data) -> np.ndarray:
    """Return the rows that tables are made of: all, or as many as a table can hold, evenly spaced."""
    n_features = sum(family.n_features_ for family in problem.energy.families.values())
    most = max(_LARGEST_TABLE // n_features, 2)
    return np.linspace(0, len(data) - 1, min(most, len(data))).astype(int)


def residuals(
    problem: Problem, parameters: Parameters, data: Data, rows: np.ndarray, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Return what `differences` gives, or the same of rows drawn by ``rng``, less all that is linear in units' means.

    Weights that are a little too long, or have learned noise, leave residuals that vary with units that are there
    already. They say nothing about other units.
    """
    table, means = _differences_and_means(problem, parameters, data, rows, rng)
    table -= table.mean(axis=0)
    means = _varying(means)
    table -= means @ _slopes(means.T @ means, means.T @ table)
    return table


def effects_of_units(problem: Problem, parameters: Parameters, data: Data, rows: np.ndarray) -> np.ndarray:
    """Return by how much each statistic changes with each unit that varies, by least squares: a column for each."""
    energy, families = problem.energy, problem.energy.families
    layer, batches = (
        energy.layer(parameters),
        [problem.complete(parameters, one) for one in data.blocks(families, rows)],
    )
    means = _varying(np.concatenate([layer.mean(energy.hidden_natural(parameters, batch)) for batch in batches]))
    products = np.zeros((means.shape[1], sum(family.n_features_ for family in families.values())))
    for batch, own in zip(batches, np.split(means, np.cumsum([one.n_rows for one in batches])[:-1]), strict=True):
        products += own.T @ np.concatenate([to_dense(batch.views[name].statistic) for name in families], axis=1)
    return _slopes(means.T @ means, products).T


def _varying(means: np.ndarray) -> np.ndarray:
    """Return the columns that are not the same for all rows, less their means."""
    centred = means - means.mean(axis=0)
    return np.asarray(centred[:, centred.std(axis=0) > _SAME])


def _slopes(moments: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the coefficients of least squares by second moments of what explains and its products with the rest."""
    inverse = np.linalg.pinv(moments.astype(np.float64), rcond=_DEPENDENT, hermitian=True)
    return np.asarray((inverse @ products).astype(products.dtype))


def differences(problem: Problem, parameters: Parameters, data: Data, rows: np.ndarray) -> np.ndarray:
    """Return φ(x) - E[φ(x) | E[h | x]] of some rows."""
    return _differences_and_means(problem, parameters, data, rows, None)[0]


def _differences_and_means(
    problem: Problem, parameters: Parameters, data: Data, rows: np.ndarray, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return φ(x) - E[φ(x) | E[h | x]] and E[h | x] of the rows, or of as many that the model draws by ``rng``."""
    energy, families = problem.energy, problem.energy.families
    layer, parts, means = energy.layer(parameters), [], []
    for block in data.blocks(families, rows):
        batch = problem.complete(parameters, block)
        natural = energy.hidden_natural(parameters, batch)
        if rng is not None:
            batch = sample_views(energy, parameters, layer.sample(natural, rng), rng, sizes_of(block))
            natural = energy.hidden_natural(parameters, batch)
        means.append(layer.mean(natural))
        expected, _ = mean_views(energy, parameters, means[-1], sizes_of(block))
        parts.append(_differences(problem, batch, expected, block))
    return np.concatenate(parts), np.concatenate(means)


def _differences(problem: Problem, batch: Batch, expected: Batch, block: Batch) -> np.ndarray:
    """Return all views side by side, minus what is expected of them; 0 where the block lacks them."""
    columns = []
    for name, family in problem.energy.families.items():
        statistic = np.asarray(to_dense(batch.views[name].statistic), dtype=np.float32)
        difference = statistic - to_dense(expected.views[name].statistic)
        missing = block.views[name].missing
        if missing is not None:
            difference[np.asarray(family.codec.spread(missing), dtype=bool)] = 0
        columns.append(difference)
    return np.concatenate(columns, axis=1)


def standardised(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the table in standard deviations, in place, and these; features that never vary stay zero."""
    deviation = np.sqrt(np.square(table).mean(axis=0, dtype=np.float64))
    table /= np.where(deviation > 1e-6, deviation, np.inf).astype(np.float32)
    return table, deviation


def components(table: np.ndarray, n_components: int, rng: np.random.Generator) -> Components:
    """Return the leading principal components of a centred table."""
    n_rows, n_features = table.shape
    side = min(table.shape)
    n_components = min(n_components, side)
    if side > _LARGE:
        state = int(rng.integers(2**31 - 1))
        _, singular, right = randomized_svd(table, n_components, n_iter=_POWERS, random_state=state)
        variances, directions = np.square(singular.astype(np.float64)) / n_rows, right.T
    elif n_features <= n_rows:
        values, vectors = np.linalg.eigh((table.T @ table).astype(np.float64) / n_rows)
        variances, directions = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    else:
        values, vectors = np.linalg.eigh((table @ table.T).astype(np.float64) / n_rows)
        variances = np.maximum(values[::-1][:n_components], 0)
        directions = table.T @ vectors[:, ::-1][:, :n_components] / np.sqrt(np.maximum(variances * n_rows, 1e-300))
    total = float(np.square(table).sum(dtype=np.float64)) / n_rows
    rest = max(total - float(variances.sum()), 0.0) / max(side - n_components, 1)
    return Components(np.maximum(variances, 0), np.asarray(directions, dtype=np.float64), rest)


def unexplained(
    problem: Problem,
    parameters: Parameters,
    data: Data,
    rows: np.ndarray,
    most: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Return the variances of the leading components of the residuals, at most so many, and the largest by chance.

    Directions of the effects that units have already are left out: which items have a unit is never known exactly,
    which leaves residuals along it. Variances are multiples of their average.
    """
    explained = effects_of_units(problem, parameters, data, rows)
    found = _scaled(residuals(problem, parameters, data, rows), explained, most, rng)
    n_copies = _COPIES_OF_LARGE if min(len(rows), len(explained)) > _LARGE else _COPIES
    chance = np.array(
        [_scaled(residuals(problem, parameters, data, rows, rng), explained, 1, rng)[0] for _ in range(n_copies)]
    )
    return found, float(chance.mean() + _DEVIATIONS * chance.std(ddof=1))


def _scaled(table: np.ndarray, explained: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return the leading variances of a table without what is explained, in which all features count the same."""
    n_left = min(table.shape[1], len(table) - 1)
    if explained.shape[1]:
        basis = np.linalg.qr(explained)[0].astype(np.float32)
        table -= (table @ basis) @ basis.T
        n_left -= explained.shape[1]
    table, _ = standardised(table)
    level = float(np.square(table).sum(dtype=np.float64)) / len(table) / max(n_left, 1)
    return components(table, most, rng).variances / max(level, 1e-300)


def factors(table: np.ndarray, n_factors: int, rng: np.random.Generator) -> Factors:
    """Return the factors of a table of standardised features, each of which has noise of its own variance.

    Principal components of the features in units of their noise, and the noise that they leave, are found in turn
    (principal factors).
    """
    noise = np.ones(table.shape[1])
    for _ in range(_ROUNDS):
        scale = 1 / np.sqrt(noise)
        leading = components(table * scale.astype(np.float32), n_factors, rng)
        signal = np.sqrt(np.maximum(leading.variances - leading.rest, 0.1 * leading.rest))
        loadings = leading.directions * signal / scale[:, None]
        before, noise = noise, np.maximum(1 - np.square(loadings).sum(axis=1), _SMALLEST_NOISE)
        if np.abs(noise / before - 1).max() < 0.05 or min(table.shape) > _LARGE:
            break
    scores = (table * scale.astype(np.float32)) @ (leading.directions / np.maximum(signal, 1e-12))
    return Factors(scores, loadings)
