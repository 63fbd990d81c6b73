"""Topics in the form that other tools take: pyLDAvis, and the tables of BERTopic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.metrics import topic_distribution
from harmonium.queries.topics.features import naming_view, relevance, typical_rows, view_name
from harmonium.report.tables.latent import check_model, topic_means
from harmonium.report.tables.quality import item_features
from harmonium.report.tables.topics import topic_labels


def pyldavis_inputs(model: Harmonium, X: Any, view: str | None = None) -> dict[str, Any]:
    """Return what ``pyLDAvis.prepare`` takes.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items.
    view : str, optional
        View of words or tags; by default that of `topic_labels`.

    Returns
    -------
    dict
        ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and ``term_frequency``, to be passed as
        ``pyLDAvis.prepare(**inputs)``. Topics here are no distributions over words: how much a word says about a topic,
        which ``topics()`` ranks by, is divided by its sum, as are coordinates of items. Items and words that no count
        stands for are left out.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> inputs = pyldavis_inputs(TopicModel(2, random_state=0).fit(words), words)
    >>> inputs["topic_term_dists"].shape, inputs["doc_topic_dists"].shape, int(inputs["doc_lengths"][0])
    ((2, 12), (120, 2), 6)
    """
    check_model(model)
    name = naming_view(model.fitted_) if view is None else view_name(model.fitted_, view)
    rows, counts = item_features(model, X, name)
    lengths, frequency = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    full, used = lengths > 0, frequency > 0
    terms = np.maximum(relevance(model.fitted_, name).to_numpy().T[:, used], 0) + 1e-12
    return {
        "topic_term_dists": terms / terms.sum(axis=1, keepdims=True),
        "doc_topic_dists": topic_distribution(topic_means(model, X)[rows][full]),
        "doc_lengths": lengths[full],
        "vocab": np.asarray(model.fitted_.feature_names[name], dtype=object)[used].tolist(),
        "term_frequency": frequency[used],
    }


def topic_info(
    model: Harmonium, X: Any, documents: Sequence[Any] | None = None, n_features: int = 10, n_items: int = 3
) -> pd.DataFrame:
    """Return topics as ``get_topic_info`` of BERTopic does.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items.
    documents : sequence, optional
        Text or name of each item. Default: row numbers.
    n_features : int, default=10
        Number of features of each topic.
    n_items : int, default=3
        Number of representative items.

    Returns
    -------
    DataFrame
        A row for each topic with ``Topic``, ``Count`` (items whose strongest topic it is), ``Name``, ``Representation``
        (a list of features) and ``Representative_Docs`` (a list of items); ``to_json(orient="records")`` makes JSON.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> topic_info(TopicModel(2, random_state=0).fit(words), words)["Count"].tolist()
    [60, 60]
    """
    check_model(model)
    check_whole("topic_info", "n_features", n_features, remedy="10 is usual")
    check_whole("topic_info", "n_items", n_items, remedy="3 is usual")
    latent = topic_means(model, X)
    names, labels = _documents(documents, len(latent)), topic_labels(model)
    words = model.topics(naming_view(model.fitted_), n_features).to_numpy()
    return pd.DataFrame(
        {
            "Topic": labels.index,
            "Count": np.bincount(latent.argmax(axis=1), minlength=len(labels)),
            "Name": [f"{topic}_{label.replace(', ', '_')}" for topic, label in labels.items()],
            "Representation": [list(row) for row in words],
            "Representative_Docs": [[names[item] for item in row] for row in typical_rows(latent, n_items)],
        }
    )


def document_info(
    model: Harmonium, X: Any, documents: Sequence[Any] | None = None, n_features: int = 10
) -> pd.DataFrame:
    """Return items as ``get_document_info`` of BERTopic does.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, of any collection that the model reads.
    documents : sequence, optional
        Text or name of each item. Default: row numbers.
    n_features : int, default=10
        Number of features of each topic.

    Returns
    -------
    DataFrame
        A row for each item with ``Document``, ``Topic`` (its strongest), ``Name``, ``Representation``, ``Top_n_words``,
        ``Probability`` (E[h] of the topic) and ``Representative_document``.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> document_info(TopicModel(2, random_state=0).fit(words), words)["Topic"].nunique()
    2
    """
    topics, latent = topic_info(model, X, None, n_features), topic_means(model, X)
    strongest = latent.argmax(axis=1)
    pairs = [(item, topic) for topic, row in enumerate(topics["Representative_Docs"]) for item in row]
    typical = {item for item, topic in pairs if strongest[item] == topic}
    table = topics.loc[strongest, ["Topic", "Name", "Representation"]].reset_index(drop=True)
    table.insert(0, "Document", _documents(documents, len(latent)))
    table["Top_n_words"] = table["Representation"].map(" - ".join)
    table["Probability"] = latent.max(axis=1)
    table["Representative_document"] = [row in typical for row in range(len(latent))]
    return table


def _documents(documents: Sequence[Any] | None, n_rows: int) -> list[Any]:
    """Return the name of each item; refuse another number of them."""
    names = list(range(n_rows)) if documents is None else list(documents)
    if len(names) != n_rows:
        raise ValueError(
            f"documents must have one entry for each of the {n_rows} rows of X; got {len(names)}; pass those of the "
            "same items."
        )
    return names
