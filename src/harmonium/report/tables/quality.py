"""Quality of topics: coherence, exclusivity, share of the items and stability, in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.inspection import bootstrap_stability
from harmonium.kernels.sparse.matrix import to_scipy
from harmonium.metrics import topic_coherence
from harmonium.queries.topics.features import naming_view, relevance, view_name
from harmonium.report.tables.latent import check_model, unit_use
from harmonium.report.tables.topics import topic_labels

# rows that are read at a time: for memory only
_BLOCK_ROWS = 1000


def quality_table(
    model: Harmonium, X: Any, view: str | None = None, n_features: int = 10, n_resamples: int = 0
) -> pd.DataFrame:
    """Return coherence, exclusivity, share and stability of each topic.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items; for the stability, those that the model was fitted on.
    view : str, optional
        View of words or tags whose features are judged; by default that of `topic_labels`.
    n_features : int, default=10
        Number of features of each topic that are judged, at least 2.
    n_resamples : int, default=0
        Number of times that topics are learned again from resampled items, which takes as many fits; 5 is usual. By
        default there is no stability.

    Returns
    -------
    DataFrame
        A row for each topic: its ``label``; ``coherence``, the mean NPMI of its features over the items;
        ``exclusivity``, the topic's share in what its features say about all topics, 1 if they belong to it alone;
        ``share`` of the items that have it; and ``stability``, that of `harmonium.inspection.bootstrap_stability`,
        for topics that were merged by hand the mean of their units.

    See Also
    --------
    harmonium.metrics.topic_coherence : The measure, for other documents and for topics of other models.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> table = quality_table(TopicModel(2, random_state=0).fit(words), words, n_features=3)
    >>> table.columns.tolist(), table["coherence"].round(2).tolist()
    (['label', 'coherence', 'exclusivity', 'share'], [1.0, 1.0])
    """
    check_model(model)
    check_whole("quality_table", "n_features", n_features, lower=2, remedy="10 is usual")
    check_whole("quality_table", "n_resamples", n_resamples, lower=0, remedy="5 is usual")
    name = naming_view(model.fitted_) if view is None else view_name(model.fitted_, view)
    _, counts = item_features(model, X, name)
    words = model.topics(name, n_features)
    names = model.fitted_.feature_names[name]
    said = np.maximum(relevance(model.fitted_, name).to_numpy(), 0)
    shares = said / np.maximum(said.sum(axis=1, keepdims=True), 1e-12)
    places = {feature: place for place, feature in enumerate(names)}
    rows = [[places[feature] for feature in row] for row in words.to_numpy()]
    table = pd.DataFrame({"label": topic_labels(model, name)})
    table["coherence"] = topic_coherence(rows, counts)
    table["exclusivity"] = [float(shares[row, topic].mean()) for topic, row in enumerate(rows)]
    table["share"] = unit_use(model, X).presence.mean(axis=0)
    if n_resamples:
        found = bootstrap_stability(model, X, n_resamples)
        table["stability"] = [found[topic.units].mean() for topic in model.fitted_.topics]
    return table


def item_features(model: Harmonium, X: Any, name: str) -> tuple[np.ndarray, scipy.sparse.csr_array]:
    """Return the rows that have a view which counts something, and what they have of its features."""
    views, family = known_views(model, X), model.families_[name]
    if name not in views.names or not family.counts_something:
        raise ValueError(
            f"Features must be words, tags or counts of X to be judged by the items that have them; view {name!r} "
            "has none; name another view."
        )
    source = views.source(name)
    rows = np.flatnonzero(source.rows >= 0)
    parts = [
        scipy.sparse.csr_array(to_scipy(source.batch(rows[first : first + _BLOCK_ROWS], family).statistic))
        for first in range(0, len(rows), _BLOCK_ROWS)
    ]
    return rows, scipy.sparse.csr_array(scipy.sparse.vstack(parts))
