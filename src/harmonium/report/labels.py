"""Labels of topics, as a table."""

from __future__ import annotations

import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.queries import labels
from harmonium.queries.topics import view_name
from harmonium.report.latent import check_model
from harmonium.validation import check_whole


def topic_labels(model: Harmonium, view: str | None = None, n: int = 3) -> pd.Series:
    """Return a short label of each topic, different from all others.

    Report, explorer and command line call topics by the same labels.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    view : str, optional
        View whose features make the labels. Default: tags if the model was fitted on a table that has some, then words,
        then the first view.
    n : int, default=3
        Number of features in a label. Topics with the same ones get up to as many more, by which they differ; those
        that differ by none of these get numbers. Of words with the same stem, such as "printer" and "printers", the
        first is taken.

    Returns
    -------
    Series
        Labels by topic: the features that ``topics()`` of the model ranks first.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2), random_state=0).fit({"words": words})
    >>> found = topic_labels(model, n=2)
    >>> found.nunique(), found.name
    (2, 'label')
    """
    check_model(model)
    check_whole("topic_labels", "n", n, remedy="3 is usual")
    found = labels.topic_labels(model.fitted_, None if view is None else view_name(model.fitted_, view), n)
    return pd.Series(found, index=pd.RangeIndex(len(found), name="topic"), name="label")
