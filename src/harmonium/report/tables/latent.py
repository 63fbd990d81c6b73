"""Latent coordinates and use of units by items, for tables and displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.estimators import Harmonium
from harmonium.estimators.checking import check_model as check_model
from harmonium.estimators.input import known_views
from harmonium.kernels.runtime.threads import compute
from harmonium.queries.latent import encode, shown
from harmonium.queries.topics.shown import of_topics, part_shares


def latent_means(model: Harmonium, X: Any) -> np.ndarray:
    """Return E[h | x] of each item.

    Unlike ``transform``, it does not depend on the ``output`` of the model.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.

    Returns
    -------
    ndarray of float32 of shape (n_items, n_components_)
        Means of the hidden units; topics that were edited by hand are as they are shown.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2), output="coordinates").fit(words)
    >>> means = latent_means(model, words)  # binary units
    >>> means.shape, bool(((means > 0) & (means < 1)).all())
    ((12, 2), True)
    """
    check_model(model)
    views = known_views(model, X)
    with compute(model.n_jobs):
        return shown(model.fitted_, views)


def topic_means(model: Harmonium, X: Any) -> np.ndarray:
    """Return E[h] of the topics of each item; other units, which a model may have to predict, are left out."""
    return latent_means(model, X)[:, : model.n_topics_]


@dataclass
class UnitUse:
    """Use of the topics by items, in float64.

    Attributes
    ----------
    natural : ndarray of shape (items, units)
        Natural parameters, which still differ where means are rounded to 1; means of topics that were merged
        or split by hand.
    mean : ndarray of shape (items, units)
        E[h], or E[z h] for units that an item may lack.
    presence : ndarray of shape (items, units)
        E[z], the probability that the item has the unit; for layers whose units every item has, the mean.
    """

    natural: np.ndarray
    mean: np.ndarray
    presence: np.ndarray


def unit_naturals(model: Harmonium, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return naturals of all units for each item, in float64, and the shares that topics have of units, if any."""
    check_model(model)
    views = known_views(model, X)
    with compute(model.n_jobs):
        return encode(model.fitted_, views, "natural").astype(np.float64), part_shares(model.fitted_, views)


def unit_use(model: Harmonium, X: Any) -> UnitUse:
    """Return naturals, means and presences of the topics for each item."""
    natural, shares = unit_naturals(model, X)
    layer = model.fitted_.energy.layer(model.fitted_.parameters)
    mean = layer.mean(natural)
    parts = (natural, mean, layer.selection.presence(natural, mean))
    use = UnitUse(*(of_topics(model.fitted_, part, shares) for part in parts))
    for place, topic in enumerate(model.fitted_.topics):
        if not topic.is_unit:
            use.natural[:, place] = use.mean[:, place]
    return use
