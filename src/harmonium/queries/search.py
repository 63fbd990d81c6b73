"""Coordinates by which items are found, whatever views they have.

The model is linearised at the average item: given an item, units move by their slopes times what the item's values add
to their naturals beyond average ones; views that the item lacks are integrated out. With D the slopes and V_v the
variances of the statistics of view v,

    G_v = D^½ W_vᵀ V_v W_v D^½     what a view tells of the units
    P = I - Σ_v G_v                precision of the units of any item
    E = (P + Σ_(v observed) G_v)⁻¹ D^½ Σ_(v observed) W_vᵀ (φ(x_v) - mean)

E is the expectation of the units' moves given the item, and the coordinates are P^½ E: moves in units of how far items
differ. An item with one view and an item with another can so be compared by cosine: what all items with such views
share is gone with the mean, and a direction counts by what it says, not by how many features say it.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, weights_of
from harmonium.queries.blocks import blocks
from harmonium.training import FittedModel
from harmonium.views import Views

# Where a model is not linear at all, the linear one may have no spread that is finite: no direction of the units is
# taken to be known better than this from all views together. 0.9 was chosen on training rows of Wikipedia, emoji, BDGP
# and mfeat; 0.95 finds as much to within 0.01.
_LARGEST_SHARE = 0.9
# Steps to the slopes, nodes of the quadrature for their means, and sizes of rows at a time: for accuracy and memory.
_STEPS = 100
_TOLERANCE = 1e-5
_NODES = 20
_SIZES = 64


@dataclass(frozen=True, eq=False)
class Linearised:
    """A model linearised at the average item.

    Parameters
    ----------
    root : ndarray of shape (units, units)
        Root R of how the means of units move with their natural parameters, R Rᵀ, on average over items.
    told : dict of str to ndarray of shape (units, units)
        What each view tells of the units, G_v.
    precision : ndarray of shape (units, units)
        Precision P of the units of any item.
    """

    root: np.ndarray
    told: dict[str, np.ndarray]
    precision: np.ndarray

    def reader(self, observed: list[str]) -> np.ndarray:
        """Return the matrix by which deviations of naturals, given these views, become coordinates."""
        given = self.precision + sum((self.told[name] for name in observed), np.zeros_like(self.precision))
        return self.root @ np.linalg.solve(given, _root(self.precision))


_KNOWN: WeakKeyDictionary[FittedModel, Linearised] = WeakKeyDictionary()


def linearised(model: FittedModel) -> Linearised:
    """Return the model linearised at the average item; it is worked out once for each model.

    Slopes are averages over items whose naturals are normal around that of the average item, with the spread that the
    linear model itself gives them: a fixed point.
    """
    if model not in _KNOWN:
        _KNOWN[model] = _linearise(model)
    return _KNOWN[model]


def _linearise(model: FittedModel) -> Linearised:
    energy, parameters = model.energy, model.parameters
    weights = {name: parameters[weights_of(name)].astype(np.float64) for name in model.families}
    natural = parameters[HIDDEN_BIAS].astype(np.float64)
    products = {}
    for name, family in model.families.items():
        natural = natural + model.reference[name] @ weights[name]
        variance = family.statistic_variance(model.reference[name], energy.extra(parameters, name))
        products[name] = (weights[name].T * variance) @ weights[name]
    total = np.sum(list(products.values()), axis=0)
    layer = energy.layer(parameters)
    nodes, shares = np.polynomial.hermite_e.hermegauss(_NODES)
    shares = shares[:, None] / shares.sum()
    slopes = layer.mean_derivative(natural[None])[0]
    for _ in range(0 if layer.linear_mean else _STEPS):
        root = np.sqrt(slopes)
        values, directions = _bounded(root[:, None] * total * root)
        deviation = np.sqrt((directions**2 @ (values / (1 - values))) / slopes)
        mean = (shares * layer.mean_derivative(natural + nodes[:, None] * deviation)).sum(axis=0)
        # half a step, as slopes and spread work against each other; a unit that never moves keeps a trace
        before, slopes = slopes, np.maximum((slopes + mean) / 2, np.finfo(np.float32).tiny)
        if np.abs(slopes - before).max() <= _TOLERANCE * slopes.max():
            break
    # units may depend on each other where means are linear
    root = np.linalg.cholesky(layer.mean(np.eye(len(slopes)))) if layer.linear_mean else np.diag(np.sqrt(slopes))
    values, directions = _bounded(root.T @ total @ root)
    told = {name: root.T @ product @ root for name, product in products.items()}
    return Linearised(root, told, (directions * (1 - values)) @ directions.T)


def _bounded(told: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, as far as they are allowed to go, and eigenvectors."""
    values, directions = np.linalg.eigh(told)
    return np.clip(values, 0, _LARGEST_SHARE), directions


def _root(precision: np.ndarray) -> np.ndarray:
    values, directions = np.linalg.eigh(precision)
    return (directions * np.sqrt(values)) @ directions.T


def search_coordinates(model: FittedModel, views: Views) -> np.ndarray:
    """Return the coordinates of items in which cosine finds what belongs together, of shape (rows, units), in float32.

    Rows that lack every view have coordinates of zero.
    """
    linear = linearised(model)
    names = np.array(list(model.families))
    result = np.empty((len(views), model.n_units), dtype=np.float32)
    for items, batch in blocks(model, views):
        deviation = _deviation(model, batch)
        coordinates = np.empty_like(deviation)
        observed = np.stack([view.observed_rows for view in batch.views.values()], axis=1)
        patterns, kind = np.unique(observed, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = kind.ravel() == number
            coordinates[rows] = deviation[rows] @ linear.reader(names[pattern].tolist())
        result[items] = coordinates
    return result


def _deviation(model: FittedModel, batch: Batch) -> np.ndarray:
    """Return what observed values add to the naturals of units beyond average ones, in float64."""
    total = model.energy.hidden_natural(model.parameters, batch, with_bias=False).astype(np.float64)
    for name, view in batch.views.items():
        total -= model.energy.row_weighted(name, _average(model, name, view, batch.n_rows), view.size)
    return total


def _average(model: FittedModel, name: str, view: ViewBatch, n_rows: int) -> np.ndarray:
    """Return what average values of the observed sites of each row add to the naturals of units, not yet weighted."""
    family, weights = model.families[name], model.parameters[weights_of(name)].astype(np.float64)
    reference = model.reference[name].astype(np.float64)
    result = np.empty((n_rows, model.n_units))
    if view.size is None:
        groups = [(np.arange(n_rows), reference[None], np.zeros(n_rows, dtype=np.intp))]
    else:
        natural, extra = family.natural_from_mean(reference), model.energy.extra(model.parameters, name)
        sizes, place = np.unique(view.size, return_inverse=True)
        groups = []
        for first in range(0, len(sizes), _SIZES):
            part = sizes[first : first + _SIZES]
            rows = np.flatnonzero((place >= first) & (place < first + len(part)))
            mean = family.mean(np.tile(natural, (len(part), 1)), extra, part)
            groups.append((rows, mean, place[rows] - first))
    for rows, mean, at in groups:
        result[rows] = (mean @ weights)[at]
        if view.missing is not None:
            missing = view.missing[rows]
            lacking = missing.all(axis=1)
            partly = np.flatnonzero(missing.any(axis=1) & ~lacking)
            result[rows[lacking]] = 0
            result[rows[partly]] -= np.where(family.codec.spread(missing[partly]), mean[at[partly]], 0) @ weights
    return result
