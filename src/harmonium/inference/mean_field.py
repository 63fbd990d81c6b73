"""Mean field: expectations instead of samples, which also fill in views or cells that are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.families.protocol.extra_parameters import Extra
from harmonium.inference.gibbs import Sizes
from harmonium.kernels.sparse.matrix import add_to_rows, take_rows


def mean_views(
    energy: Energy, parameters: Parameters, hidden_mean: np.ndarray, sizes: Sizes | None = None
) -> tuple[Batch, dict[str, np.ndarray]]:
    """Return E[φ(x) | h] of all views at the means of h, dense, and the naturals that they came from."""
    views, naturals = {}, {}
    for name, family in energy.families.items():
        size = (sizes or {}).get(name)
        naturals[name] = family.domain.clamp(energy.view_natural(parameters, name, hidden_mean, size))
        views[name] = ViewBatch(family.mean(naturals[name], energy.extra(parameters, name), size), size)
    return Batch(views, len(hidden_mean)), naturals


def fill_missing(
    energy: Energy, parameters: Parameters, batch: Batch, reference: dict[str, np.ndarray], n_iterations: int = 10
) -> Batch:
    """Return the batch with missing sites at their mean-field expectations given the observed ones.

    The iteration hidden means ↔ missing means starts from the mean statistics of the training data (``reference``).
    Complete rows cost nothing. The default of ten iterations is a convention.
    """
    if not batch.has_missing:
        return batch
    rows = incomplete_rows(batch)
    part = taken(batch, rows)
    observed_natural = energy.hidden_natural(parameters, part)
    layer = energy.layer(parameters)
    # rows that lack something of each view, as others cost nothing; all if the layer is to solve for them at once
    lacking = {
        name: np.arange(len(rows)) if layer.coordinates is not None else np.flatnonzero(view.missing.any(axis=1))
        for name, view in part.views.items()
        if view.missing is not None and view.missing.any()
    }
    lacked = {name: taken(part, own).views[name] for name, own in lacking.items()}
    masks = {
        name: energy.families[name].codec.spread(view.missing)
        for name, view in lacked.items()
        if view.missing is not None
    }
    fills = {name: np.where(mask, reference[name], np.float32(0)) for name, mask in masks.items()}
    families = {name: _given_observed(energy.families[name], view) for name, view in lacked.items()}
    naturals: dict[str, np.ndarray] = {}
    _solve_linear(energy, parameters, part, observed_natural, masks, fills)
    for _ in range(n_iterations):
        natural = observed_natural.copy()
        for name, fill in fills.items():
            told = energy.row_weighted(name, fill @ parameters[weights_of(name)], lacked[name].size)
            natural[lacking[name]] += told
        hidden_mean = layer.mean(natural)
        for name, mask in masks.items():
            family, size = families[name], lacked[name].size
            view_natural = energy.view_natural(parameters, name, hidden_mean[lacking[name]], size)
            naturals[name] = family.domain.clamp(view_natural)
            mean = family.mean(naturals[name], energy.extra(parameters, name), size)
            fills[name] = np.where(mask, mean, mean.dtype.type(0))
    views = dict(batch.views)
    for name, natural in naturals.items():
        own = rows[lacking[name]]
        views[name] = _filled(views[name], own, fills[name])
        term = np.zeros(batch.n_rows)
        extra = energy.extra(parameters, name)
        term[own] = _fill_term(families[name], extra, parameters[bias_of(name)], lacked[name], natural, fills[name])
        views[name].fill_term = term
    return replace(batch, views=views)


def _given_observed(family: Family, view: ViewBatch) -> Family:
    """Return the family of missing sites given what is observed of the same rows, if rows are dense."""
    if view.missing is None or not isinstance(view.statistic, np.ndarray):  # only whole rows of others can be missing
        return family
    return family.given(view.statistic, view.missing)


def _solve_linear(
    energy: Energy,
    parameters: Parameters,
    part: Batch,
    observed_natural: np.ndarray,
    masks: dict[str, np.ndarray],
    fills: dict[str, np.ndarray],
) -> None:
    """Fill in the real-valued views that rows lack as a whole, in place, where the hidden layer can do so exactly.

    The iteration that follows would come to the same, but slowly where such views say much about the hidden units.
    """
    layer = energy.layer(parameters)
    if layer.coordinates is None:
        return
    curvatures = {}
    for name in masks:
        curvature = energy.families[name].domain.curvature(parameters[weights_of(name)], energy.extra(parameters, name))
        if curvature is not None:
            curvatures[name] = curvature
    lacks = np.array([masks[name].all(axis=1) for name in curvatures]).reshape(len(curvatures), part.n_rows).T
    if not lacks.any():
        return
    precision = np.linalg.inv(np.asarray(layer.conditional_variance, dtype=np.float64))
    for pattern in np.unique(lacks, axis=0):
        lacking = [name for name, is_lacking in zip(curvatures, pattern, strict=True) if is_lacking]
        if not lacking:
            continue
        rows = (lacks == pattern).all(axis=1)
        natural = observed_natural[rows]
        for name, fill in fills.items():
            size = part.views[name].size
            known = fill[rows]
            if name in lacking:  # what the view would be if all units were zero
                known = energy.families[name].mean(parameters[bias_of(name)][None, :], energy.extra(parameters, name))
            told = known @ parameters[weights_of(name)]
            natural = natural + energy.row_weighted(name, told, None if size is None else size[rows])
        left = precision - np.sum([curvatures[name] for name in lacking], axis=0)
        hidden_mean = np.linalg.solve(left, natural.T.astype(np.float64)).T.astype(natural.dtype, copy=False)
        for name in lacking:
            view_natural = energy.view_natural(parameters, name, hidden_mean)
            fills[name][rows] = energy.families[name].mean(view_natural, energy.extra(parameters, name))


def _fill_term(
    family: Family, extra: Extra, bias: np.ndarray, view: ViewBatch, natural: np.ndarray, fill: np.ndarray
) -> np.ndarray:
    """Return Σ [log-partition - (natural - θ)·mean] over the missing sites of each row, in float64."""
    log_partition = family.log_partition(natural, extra, view.size)
    assert view.missing is not None
    total = np.where(view.missing, log_partition, 0).sum(axis=1, dtype=np.float64)
    # the fill is zero at observed sites
    return total - ((natural - bias) * fill).sum(axis=1, dtype=np.float64)


def incomplete_rows(batch: Batch) -> np.ndarray:
    """Return the numbers of the rows that lack something."""
    incomplete = np.zeros(batch.n_rows, dtype=bool)
    for view in batch.views.values():
        if view.missing is not None:
            incomplete |= view.missing.any(axis=1)
    return np.flatnonzero(incomplete)


def taken(batch: Batch, rows: np.ndarray) -> Batch:
    """Return the views of some rows of a batch, with what was filled in."""
    views = {}
    for name, view in batch.views.items():
        fill = None
        if view.fill is not None:
            place = np.flatnonzero(np.isin(rows, view.fill[0]))
            fill = place, view.fill[1][np.searchsorted(view.fill[0], rows[place])]
        views[name] = ViewBatch(
            take_rows(view.statistic, rows),
            None if view.size is None else view.size[rows],
            None if view.missing is None else view.missing[rows],
            fill,
        )
    return Batch(views, len(rows))


def _filled(view: ViewBatch, rows: np.ndarray, fill: np.ndarray) -> ViewBatch:
    assert view.missing is not None
    statistic, beside = add_to_rows(view.statistic, rows, fill, view.missing[rows].all(axis=1))
    return ViewBatch(statistic, view.size, view.missing, beside)


def mean_field_free_energy(
    energy: Energy, parameters: Parameters, batch: Batch, naturals: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the variational free energy of q(x) q(h), of shape (rows,), which is at least -log Z.

    q(x) has the given naturals and the means in ``batch``; q(h) is optimal given those means. As
    E_q[log q(x) - log r(x)] = natural·mean - log-partition, only log-partitions and means are needed.
    """
    hidden_natural = energy.hidden_natural(parameters, batch)
    total = -energy.layer(parameters).log_partition(hidden_natural).sum(axis=1, dtype=np.float64)
    for name, natural in naturals.items():
        view = batch.views[name]
        log_partition = energy.families[name].log_partition(natural, energy.extra(parameters, name), view.size)
        shift = (natural - parameters[bias_of(name)]) * view.statistic
        total += shift.sum(axis=1, dtype=np.float64) - log_partition.sum(axis=1, dtype=np.float64)
    return total
