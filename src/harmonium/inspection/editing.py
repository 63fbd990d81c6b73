"""A fitted estimator whose topics were edited by hand."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

from harmonium.estimators.checking import check_model
from harmonium.estimators.harmonium import Harmonium
from harmonium.queries.topics.shown import edited
from harmonium.training.topic_edits import TopicEdits

Model = TypeVar("Model", bound=Harmonium)


def edit_topics(model: Model, edits: TopicEdits) -> Model:
    """Return a fitted model that shows its topics as they were edited by hand.

    ``topics()``, ``transform`` and its names of columns, reports and model folders show the topics of the edits; a file
    keeps them. Units, predictions, search and everything else that is computed stay the same, to the bit. The model
    that is given stays as it is.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    edits : TopicEdits
        What is done to the topics, in place of the edits that the model has: add to ``model.fitted_.edits`` to keep
        them, and take their ``undo()`` to go back.

    Returns
    -------
    Harmonium
        A fitted copy.

    See Also
    --------
    merge_duplicates : A model with fewer units, of which those that agree became one.
    harmonium.ModelFolder.edit_topics : The same for a model with its items.

    Notes
    -----
    The value of a topic that was merged is the sum of those of its units: E[h] is then the number of them that an item
    is expected to have, and shares of topics add up. That of a topic that was split by features is E[h] of the unit
    times the share that these features have in what speaks for it, the sum of positive weights times statistics, so
    that both parts add up to the unit.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.inspection import TopicEdits, edit_topics
    >>> from harmonium.recipes import TopicModel
    >>> words = np.kron(np.eye(3), np.ones((20, 4)))
    >>> model = TopicModel(3, random_state=0).fit(words)
    >>> shown = edit_topics(model, TopicEdits().merge(0, 2).rename(0, "both"))
    >>> shown.get_feature_names_out().tolist(), shown.topics(n=2).index.tolist()
    (['both', 'topic_1'], ['both', 1])
    >>> np.allclose(shown.transform(words)[:, 0], model.transform(words)[:, [0, 2]].sum(axis=1))
    True
    """
    check_model(model)
    if not isinstance(edits, TopicEdits):
        raise TypeError(f"edits must be TopicEdits; got {type(edits).__name__}; pass TopicEdits().merge(0, 1), say.")
    result = copy(model)
    result.fitted_ = edited(model.fitted_, edits)
    return result
