"""The strongest topics of each item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import check_real, check_whole
from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.queries.topics.features import topic_index
from harmonium.report.tables.latent import unit_use
from harmonium.report.tables.topics import topic_labels


def document_topics(
    model: Harmonium, X: Any, n: int = 3, view: str | None = None, least: float | None = None
) -> pd.DataFrame:
    """Return the strongest topics of each item, with their labels.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items.
    n : int, default=3
        Number of topics for each item.
    view : str, optional
        View whose features make the labels; by default that of `topic_labels`.
    least : float, optional
        Topics whose E[h] is below this are left out; 0.5 leaves those that an item of binary units rather has than not.
        Default: none is left out.

    Returns
    -------
    DataFrame
        One row for each item, in the order and with the labels of the rows of X. Under ``topic``, ``mean`` and
        ``label`` there are columns 1 to n, the strongest topic first: its number or name, its E[h], and its label of
        `topic_labels`. Cells of topics that are left out are missing.

    See Also
    --------
    topic_table : The same for topics: which items have most of each.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": words})
    >>> table = document_topics(model, {"words": words}, n=2)
    >>> table["label"].shape, sorted(table["topic"].iloc[0].tolist())
    ((12, 2), [0, 1])
    """
    check_whole("document_topics", "n", n, remedy="3 is usual")
    if least is not None:
        check_real("document_topics", "least", least, remedy="0.5 suits binary units")
    use = unit_use(model, X)
    labels = topic_labels(model, view).to_numpy()
    numbers = topic_index(model.fitted_)
    is_number = pd.api.types.is_integer_dtype(numbers)
    # naturals still differ where means are rounded to 1
    topics = np.lexsort((-use.natural, -use.mean), axis=1)[:, :n]
    means = np.take_along_axis(use.mean, topics, axis=1)
    ranks, index = pd.RangeIndex(1, topics.shape[1] + 1), known_views(model, X).index
    tables = {
        "topic": pd.DataFrame(numbers.to_numpy()[topics], index, ranks, dtype="Int64" if is_number else object),
        "mean": pd.DataFrame(means, index, ranks),
        "label": pd.DataFrame(labels[topics], index, ranks, dtype=object),
    }
    if least is not None:
        tables = {name: table.where(means >= least) for name, table in tables.items()}
    return pd.concat(tables, axis=1, names=[None, "rank"])
