"""Factors at once: a spectral decomposition of balanced views, in place of steps along gradients."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.utils.extmath import randomized_svd

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.core.validation import Choice, Number, Whole
from harmonium.families import Family
from harmonium.families.protocol.extra_parameters import Extra
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.training.balance import balanced_scales
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.monitor import Monitor
from harmonium.training.drivers.run import Run
from harmonium.views.data import Data

# Matrices with more rows and columns than this are decomposed by random projections; a convention.
_LARGE = 2000
# Permuted copies that a factor is compared with: a convention, by which chance keeps one factor in twenty.
_COPIES = 20
# Power of the number of dimensions of a view by which its values are multiplied, if features of several views have one
# variance: halfway between 0, equal variances, and 1/4, that of STATIS. Settled on random parts of mfeat, BDGP,
# Wikipedia, emoji and photographs of Caltech-4 and SYSU-Shapes (`Balanced`).
_POWER_OF_DIMENSIONS = 1 / 8
# Components by which the dimensions of large matrices are counted: a convention.
_LEADING = 100
# Share of the variance of views with one variance that factors leave out at least, so that as many factors as features
# do not make the likelihood infinite: a convention, that of `Gaussian`.
_LEAST_LEFT_OUT = 0.01


class Spectral(Driver):
    """Closed-form training of `FactorUnits`: principal components of balanced views.

    Every view counts the same, whatever its number of features: in the units of the data it is scaled to a total
    variance of 1, or of its view weight squared. Values that are missing are filled in by what the factors expect, in
    sweeps. All rows are held in memory, in float32.

    Parameters
    ----------
    selects : bool or "root", default=True
        Whether factors are left out that explain no more than those of copies of the data in which every feature is
        permuted. "root" keeps as many as the root of the number of rows in their place, for a space to cluster in.
    shrinkage : float or "auto", default="auto"
        How far factors are drawn to zero: the variance, in units of the conditional variance of a feature, that chance
        gives to a direction. "auto" takes the average over the directions that are left out; with 1, the least, the
        model is that of the largest likelihood for complete, balanced views. Below, the covariance of the data that the
        model implies, D + A Aᵀ / q, would exceed that of the data.
    max_iter : int, default=50
        Largest number of sweeps. Data without gaps take one.
    tol : float, default=0.01
        Relative change of the values that are filled in at which to stop.

    See Also
    --------
    FactorUnits : The layer that it trains.
    Stochastic : Trains any layer, with a head too.

    Notes
    -----
    With normal units and normal features of variances D, a harmonium is factor analysis: x has covariance
    D + A Aᵀ / q, and the units given x have precision q + Aᵀ D⁻¹ A if W = D⁻¹ A (Marks & Movellan 2001). The loadings A
    are those of regularised iterative principal components (Josse & Husson 2012), the shrinkage q is the variance that
    they leave out, on average over directions. With more features than rows, the direction of a factor is uncertain,
    and q keeps that uncertainty from being taken for signal; p(x) then understates how much features go together. For
    views that are not normal, the decomposition is an approximation, and D is the average variance of a feature on the
    way from its mean to where factors take it: that of a rare tag at its mean would have it certain as soon as a factor
    says a little in its favour.

    How many factors there are is settled by parallel analysis: in copies of the data every feature is permuted among
    the rows that have its view, which leaves no factor (Buja & Eyuboglu 1992); a factor stays if it and all larger ones
    explain more than in any of 20 copies.

    References
    ----------
    Josse & Husson (2012), Handling missing values in exploratory multivariate data analysis methods. Buja & Eyuboglu
    (1992), Remarks on parallel analysis. Marks & Movellan (2001), Diffusion networks, products of experts, and factor
    analysis.

    Examples
    --------
    >>> Spectral(selects=False)
    Spectral(selects=False)
    """

    settings = {
        "selects": Choice((True, False, "root"), remedy="True is usual"),
        "shrinkage": Number(lower=1.0, inclusive=True, remedy="'auto' is usual", also=("auto",)),
        "max_iter": Whole(remedy="50 is usual"),
        "tol": Number(inclusive=True, remedy="0.01 is usual"),
    }
    unit = "sweep"
    weighs_views = True

    def __init__(
        self,
        selects: bool | Literal["root"] = True,
        shrinkage: float | Literal["auto"] = "auto",
        max_iter: int = 50,
        tol: float = 0.01,
    ) -> None:
        self.selects = selects
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse units that are no factors, heads, and rows with totals or lengths."""
        hidden = problem.energy.hidden
        if hidden.coordinates is None:
            raise ValueError(
                f"Spectral needs FactorUnits(); got {type(hidden).__name__}(); use the Stochastic() driver."
            )
        if problem.head is not None:
            raise ValueError(
                f"Spectral finds factors of the views alone; got the head {type(problem.head).__name__}(); use the "
                "Stochastic() driver, or fit a model to the factors."
            )
        for name, family in problem.energy.families.items():
            if family.length.typical(1) is not None:
                raise ValueError(
                    f"Spectral needs views without totals or lengths of rows; view {name!r} is "
                    f"{type(family).__name__}; use the Stochastic() driver, or logarithms of counts as Gaussian()."
                )

    def epochs(self, n_rows: int) -> int:
        """Return the largest number of sweeps."""
        return self.max_iter

    def run(self, run: Run) -> None:
        """Decompose the balanced views.

        Parameters are there when all is done, so an interrupt leaves nothing.
        """
        problem, data, training, rng = run.problem, run.data, run.training, run.rng
        begin = time.perf_counter()
        training.n_items = len(data)
        table = _Table.of(problem, data)
        table.reweigh(_pooling(problem, table), rng)
        n_units = min(problem.energy.hidden.n_units_, min(table.values.shape))
        if self.selects == "root":
            n_units = min(n_units, max(1, round(np.sqrt(len(data)))))
        elif self.selects:
            n_units = _number_of_factors(table, n_units, rng)
        decomposition = _decompose(table.values, n_units, rng)
        training.log.stopped = "max_iter reached" if table.has_gaps else "converged after 1 sweep"
        sweeps = 1
        while table.has_gaps and sweeps < self.max_iter:
            change = table.fill(decomposition.expected(table.values))
            decomposition = _decompose(table.values, n_units, rng)
            sweeps += 1
            run.reporter.batch(len(data))
            if change <= self.tol:
                training.log.stopped = f"converged after {sweeps} sweeps"
                break
        training.parameters = self._parameters(problem, table, decomposition)
        training.log.n_iter += sweeps
        rows = np.arange(len(data))
        monitor = Monitor(problem, data, rows, rows[:0])
        entry = {"epoch": training.log.n_iter, **monitor.read(training.parameters, training.log.n_iter)}
        training.log.add({**entry, "seconds": time.perf_counter() - begin})
        run.reporter.epoch(training.log.n_iter, entry)
        training.snapshot(always=True)

    def _parameters(self, problem: Problem, table: _Table, decomposition: _Decomposition) -> Parameters:
        """Return the harmonium with these loadings; units beyond the factors have no weights."""
        n_units, found = problem.energy.hidden.n_units_, decomposition.size
        loadings = np.zeros((table.values.shape[1], n_units))
        loadings[:, :found] = table.in_statistics(decomposition.loadings(table.values))
        precision = np.zeros((n_units, n_units))
        bias = np.zeros(n_units)
        parameters: Parameters = {HIDDEN_BIAS: bias}
        information = 0.0
        left_out = table.left_out(loadings[:, :found])
        table.pool(left_out, _pooling(problem, table))
        for name, columns in table.columns.items():
            family, mean = problem.energy.families[name], problem.reference[name].astype(np.float64)
            left = left_out[columns]
            extra = family.extra_parameters.initial | family.extra_parameters.from_residuals(left)
            explained = np.sqrt(np.square(loadings[columns]).sum(axis=1))
            variance = _variance_within(family, mean, explained, extra)
            weights = loadings[columns] / np.maximum(variance, 1e-12)[:, None]
            precision += loadings[columns].T @ weights
            bias -= mean @ weights
            information += float((table.variances[columns] / np.maximum(variance, 1e-12)).sum())
            parameters[weights_of(name)] = weights
            natural = family.natural_from_mean(mean)[None, :]
            parameters[bias_of(name)] = family.saturated_natural(mean[None, :], natural, extra)[0]
            parameters |= {extra_of(name, extra_name): value for extra_name, value in extra.items()}
        # the table has a total variance for each view; the noise of a feature is the unit of its variance
        unit = information / max(table.total, 1e-300)
        shrinkage = max(decomposition.noise * unit, 1.0) if self.shrinkage == "auto" else float(self.shrinkage)
        precision += shrinkage * np.eye(n_units)
        parameters[extra_of(HIDDEN, "covariance")] = np.linalg.inv(precision)
        return {name: value.astype(np.float32) for name, value in parameters.items()}


@dataclass
class _Table:
    """All views side by side, balanced and centred, and how to get back to their statistics.

    Attributes
    ----------
    values : ndarray of float32 of shape (rows, features)
        Balanced values, 0 where they are missing until they are filled in.
    missing : ndarray of bool of shape (rows, features)
        Which values are filled in.
    columns : dict of str to slice
        Features of each view.
    scales : ndarray of shape (features,)
        Factor by which each statistic was multiplied.
    variances : ndarray of shape (features,)
        Variances of the statistics, where they are observed.
    """

    values: np.ndarray
    missing: np.ndarray
    columns: dict[str, slice]
    scales: np.ndarray
    variances: np.ndarray

    @classmethod
    def of(cls, problem: Problem, data: Data) -> _Table:
        """Return the table of a problem's views."""
        families = problem.energy.families
        by_view = balanced_scales(problem, data)
        ends = np.cumsum([family.n_features_ for family in families.values()])
        columns = {
            name: slice(int(end) - family.n_features_, int(end))
            for (name, family), end in zip(families.items(), ends, strict=True)
        }
        values = np.zeros((len(data), int(ends[-1])), dtype=np.float32)
        missing = np.zeros(values.shape, dtype=bool)
        first = 0
        for block in data.blocks(families):
            rows = slice(first, first + block.n_rows)
            for name, view in block.views.items():
                values[rows, columns[name]] = (to_dense(view.statistic) - problem.reference[name]) * by_view[name]
                if view.missing is not None:
                    missing[rows, columns[name]] = families[name].codec.spread(view.missing)
            first = rows.stop
        values[missing] = 0
        scales = np.concatenate([by_view[name] for name in families])
        observed = np.maximum(len(data) - missing.sum(axis=0), 1)
        variances = np.square(values).sum(axis=0, dtype=np.float64) / observed / np.square(scales)
        return cls(values, missing, columns, scales, variances)

    def reweigh(self, pooling: list[slice], rng: np.random.Generator) -> None:
        """Let views with one variance count by the number of dimensions that they vary in, in place."""
        for columns in pooling if len(pooling) > 1 else []:
            weight = _dimensions(self.values[:, columns], rng) ** _POWER_OF_DIMENSIONS
            self.values[:, columns] *= np.float32(weight)
            self.scales[columns] *= weight

    @property
    def has_gaps(self) -> bool:
        """Whether anything is missing."""
        return bool(self.missing.any())

    @property
    def total(self) -> float:
        """Variance of all balanced features together."""
        return float((self.variances * np.square(self.scales)).sum())

    def fill(self, expected: np.ndarray) -> float:
        """Fill in what is missing, in place, and return the relative change."""
        before, after = self.values[self.missing], expected[self.missing]
        self.values[self.missing] = after
        return float(np.linalg.norm(after - before) / max(float(np.linalg.norm(after)), 1e-12))

    def permuted(self, rng: np.random.Generator) -> np.ndarray:
        """Return values whose features have nothing to do with each other: each goes to the rows that have its view."""
        copy = self.values.copy()
        for columns in self.columns.values():
            having = ~self.missing[:, columns].all(axis=1)
            copy[having, columns] = rng.permuted(self.values[having, columns], axis=0)
        return copy

    def in_statistics(self, loadings: np.ndarray) -> np.ndarray:
        """Return balanced loadings in the units of the statistics."""
        return loadings / self.scales[:, None]

    def left_out(self, loadings: np.ndarray) -> np.ndarray:
        """Return the variances of the statistics that factors of variance 1 leave out."""
        return np.maximum(self.variances - np.square(loadings).sum(axis=1), 0)

    def pool(self, left_out: np.ndarray, pooling: list[slice]) -> None:
        """Give features of some views one variance that is left out, their average on the balanced scale, in place."""
        squares = np.square(self.scales)
        n_features = sum(columns.stop - columns.start for columns in pooling)
        left = sum(float(left_out[columns] @ squares[columns]) for columns in pooling)
        whole = sum(float(self.variances[columns] @ squares[columns]) for columns in pooling)
        for columns in pooling:
            left_out[columns] = max(left, _LEAST_LEFT_OUT * whole) / n_features / squares[columns]


@dataclass(frozen=True)
class _Decomposition:
    """Principal components of a table, and the variance that chance gives to a direction.

    Attributes
    ----------
    scores : ndarray of shape (rows, factors)
        Left singular vectors.
    variances : ndarray of shape (factors,)
        Variances of the components, from the largest on.
    noise : float
        Average variance of the directions that are left out.
    """

    scores: np.ndarray
    variances: np.ndarray
    noise: float

    @property
    def size(self) -> int:
        """Number of factors."""
        return len(self.variances)

    @property
    def _signal(self) -> np.ndarray:
        """Share of each component's variance that is not noise."""
        return np.maximum(1 - self.noise / np.maximum(self.variances, 1e-300), 0)

    def expected(self, values: np.ndarray) -> np.ndarray:
        """Return the table that the factors expect, drawn towards zero."""
        return (self.scores * self._signal.astype(np.float32)) @ (self.scores.T @ values)

    def loadings(self, values: np.ndarray) -> np.ndarray:
        """Return the loadings of factors with variance 1, of shape (features, factors)."""
        scaled = self.scores * np.sqrt(self._signal / len(values)).astype(np.float32)
        return np.asarray(values.T @ scaled, dtype=np.float64)


def _variance_within(family: Family, mean: np.ndarray, spread: np.ndarray, extra: Extra) -> np.ndarray:
    """Return the average variance of each statistic while its mean moves, at least that at the mean, in float64.

    The average over the naturals between two means is their difference by that of their naturals. Means move by three
    standard deviations, ``spread``, to the side where the average is larger. A variance that does not depend on the
    mean, as that of normal features, is returned as it is.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> rare, spread = np.array([0.002, 0.002]), np.array([1e-6, 0.02])
    >>> _variance_within(Bernoulli(), rare, spread, {}).round(3).tolist()
    [0.002, 0.017]
    """
    mean, spread = mean.astype(np.float64), np.maximum(spread, 1e-9)

    def average(shift: np.ndarray) -> np.ndarray:
        moved = family.natural_from_mean(mean + shift) - family.natural_from_mean(mean)
        return np.abs(shift) / np.maximum(np.abs(moved), 1e-12)

    # a thousandth of the spread stands for no way at all
    here = np.maximum(average(1e-3 * spread), average(-1e-3 * spread))
    away = np.maximum(average(3 * spread), average(-3 * spread))
    return family.statistic_variance(mean, extra) * np.maximum(away / here, 1.0)


def _pooling(problem: Problem, table: _Table) -> list[slice]:
    """Return the columns of each view whose features have one variance with those of other views."""
    families = problem.energy.families
    return [columns for name, columns in table.columns.items() if families[name].extra_parameters.pools_variance]


def _dimensions(values: np.ndarray, rng: np.random.Generator) -> float:
    """Return the number of dimensions that rows vary in, (Σλ)² / Σλ² for variances λ of principal components."""
    total = float(np.square(values).sum(dtype=np.float64))
    if min(values.shape) > _LARGE:
        _, singular, _ = randomized_svd(values, _LEADING, random_state=int(rng.integers(2**31 - 1)))
        squares = float(np.power(singular.astype(np.float64), 4).sum())
    else:
        gram = values @ values.T if len(values) < values.shape[1] else values.T @ values
        squares = float(np.square(gram).sum(dtype=np.float64))
    return total**2 / squares if squares > 0 else 1.0


def _decompose(values: np.ndarray, n_units: int, rng: np.random.Generator) -> _Decomposition:
    """Return the leading principal components of a table."""
    n_rows = len(values)
    if min(values.shape) > _LARGE:
        state = int(rng.integers(2**31 - 1))
        scores, singular, _ = randomized_svd(values, n_units, random_state=state)
        variances = np.square(singular.astype(np.float64)) / n_rows
    elif n_rows <= values.shape[1]:
        squares, vectors = np.linalg.eigh((values @ values.T).astype(np.float64))
        scores, variances = vectors[:, ::-1][:, :n_units], squares[::-1][:n_units] / n_rows
    else:
        squares, vectors = np.linalg.eigh((values.T @ values).astype(np.float64))
        variances = np.maximum(squares[::-1][:n_units], 0) / n_rows
        scores = values @ vectors[:, ::-1][:, :n_units] / np.sqrt(np.maximum(variances * n_rows, 1e-300))
    total = float(np.square(values).sum(dtype=np.float64)) / n_rows
    # centred rows span one direction less
    n_left = max(min(n_rows - 1, values.shape[1]) - n_units, 1)
    return _Decomposition(scores.astype(np.float32), variances, max(total - float(variances.sum()), 0.0) / n_left)


def _number_of_factors(table: _Table, largest: int, rng: np.random.Generator) -> int:
    """Return how many leading components explain more than those of permuted copies, at least 1."""
    found = _decompose(table.values, largest, rng).variances
    chance = np.max([_decompose(table.permuted(rng), largest, rng).variances for _ in range(_COPIES)], axis=0)
    stands_out = found > chance
    return largest if stands_out.all() else max(1, int(np.argmin(stands_out)))
