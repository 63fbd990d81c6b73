"""Share of the deviance of each view that topics explain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.batch import Batch, ViewBatch
from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.families import Family
from harmonium.families.protocol.extra_parameters import Extra
from harmonium.kernels.runtime.threads import compute
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.queries.blocks import completed_blocks
from harmonium.queries.latent import encode
from harmonium.queries.topics.features import topic_index
from harmonium.report.tables.latent import check_model
from harmonium.training.drivers.monitor import loss_of_view, view_losses

# cells that are reconstructed together; it decides about memory and speed alone
_BLOCK_CELLS = 1_000_000


def explained_table(model: Harmonium, X: Any) -> pd.DataFrame:
    """Return the share of the deviance of each view that the topics explain.

    Topics that say the same explain it once each, so their shares need not add up to the share of all topics together.
    A topic that fits only together with others may have a negative share.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views. Every topic takes as long as reconstructing X once.

    Returns
    -------
    DataFrame
        Views of X by topics, and a last column ``"all"`` for all topics together; NaN where there is nothing to
        explain.

    Notes
    -----
    The deviance of a view is the excess of -log p(x | h), over all observed values, above that of a model that fits
    every value as well as its family can, values being spread around it as they are in this model. With all hidden
    units at their means over the items, nothing is explained; a topic explains the part of the deviance that vanishes
    when it alone takes its expectation for each item. For a Gaussian view the share is R², with features weighted by
    the inverse of their conditional variances.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Gaussian, Harmonium, Stochastic
    >>> from harmonium.hidden import GaussianUnits
    >>> scores = np.tile([[-1.0, -1.0], [1.0, 1.0]], (20, 1))
    >>> driver = Stochastic(max_iter=50, learning_rate=0.05)
    >>> model = Harmonium(1, views=[Gaussian(0.1)], hidden=GaussianUnits(), driver=driver, random_state=0)
    >>> table = explained_table(model.fit([scores]), [scores])
    >>> table.columns.tolist(), bool(table.loc["view0", "all"] > 0.5)
    ([0, 'all'], True)
    """
    check_model(model)
    views = known_views(model, X)
    names = [name for name in model.families_ if name in views.names]
    latent = encode(model.fitted_, views).astype(np.float64)
    average = latent.mean(axis=0)
    # rows: no topic, each topic alone, all topics, the best there is
    topics = [topic.units for topic in model.fitted_.topics]
    losses = np.zeros((len(topics) + 3, len(names)))
    widest = max(model.families_[name].n_features_ for name in names)
    step = max(1, _BLOCK_CELLS // max(widest, model.n_components_))
    with compute(model.n_jobs):
        for first in range(0, len(views), step):
            rows = slice(first, first + step)
            for items, batch in completed_blocks(model.fitted_, views[rows]):
                present = Batch({name: batch.views[name] for name in names}, batch.n_rows)
                losses += _block_losses(model, present, latent[rows][items], average)
    nothing, best = losses[0], losses[-1]
    span = nothing - best
    # in a view that never varies there is nothing to explain but rounding errors
    span = np.where(span > 1e-9 * np.abs(nothing), span, np.nan)
    columns = pd.Index([*topic_index(model.fitted_), "all"], name="topic")
    return pd.DataFrame(((nothing - losses[1:-1]) / span).T, index=pd.Index(names, name="view"), columns=columns)


def _block_losses(model: Harmonium, batch: Batch, latent: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Return losses summed over the rows of a block, (states, views), in the order of `explained_table`."""
    problem, parameters = model.fitted_.problem, model.fitted_.parameters
    energy = problem.energy
    losses = [
        [loss.sum() for loss in view_losses(problem, parameters, batch, hidden_mean).values()]
        for hidden_mean in _hidden_states(latent, average, [topic.units for topic in model.fitted_.topics])
    ]
    best = []
    for name, view in batch.views.items():
        family = model.families_[name]
        natural = family.domain.clamp(energy.view_natural(parameters, name, latent, view.size))
        best.append(saturated_loss(family, view, natural, energy.extra(parameters, name)).sum())
    return np.array([*losses, best])


def _hidden_states(latent: np.ndarray, average: np.ndarray, topics: list[list[int]]) -> Iterator[np.ndarray]:
    """Yield all units at their averages, then with one topic after the other at its means, then all at their means."""
    nothing = np.tile(average, (len(latent), 1))
    yield nothing
    for units in topics:
        alone = nothing.copy()
        alone[:, units] = latent[:, units]
        yield alone
    yield latent


def saturated_loss(family: Family, view: ViewBatch, natural: np.ndarray, extra: Extra) -> np.ndarray:
    """Return -log p(x | natural) of each row at the best natural parameters for its values, to about 1e-6 per cell.

    ``natural`` are those of the model, from which a family may take how closely values lie together.

    Examples
    --------
    >>> import harmonium
    >>> family = harmonium.Poisson().restore(2, {})
    >>> view = ViewBatch(np.array([[1.0, 0.0]]))
    >>> saturated_loss(family, view, np.zeros((1, 2)), {}).round(4).tolist()  # log 1! - log 1 + 1
    [1.0]
    """
    statistic = to_dense(view.statistic).astype(np.float64)
    return loss_of_view(family, view, family.saturated_natural(statistic, natural, extra, view.size), extra)
