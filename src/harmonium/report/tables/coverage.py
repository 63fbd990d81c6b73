"""The table of which items have which views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.report.tables.latent import check_model

# rows that are looked at together; it decides about memory alone
_BLOCK_ROWS = 1000


def coverage_table(model: Harmonium, X: Any) -> pd.DataFrame:
    """Return how many items have which views.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.

    Returns
    -------
    DataFrame
        A row for each combination of views that occurs, the most frequent first: True for the views that these items
        have, in part at least, and ``"items"``, how many they are.

    Examples
    --------
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> views = {"rna": rng.normal(size=(20, 4)), "drugs": rng.normal(size=(20, 3))}
    >>> views["drugs"][:5] = np.nan
    >>> model = Harmonium(2, hidden="factor", random_state=0).fit(views)
    >>> coverage_table(model, views).to_numpy().tolist()
    [[True, True, 15], [True, False, 5]]
    """
    check_model(model)
    views = known_views(model, X)
    names = [name for name in model.fitted_.input_names if name in views.names]
    families = {name: model.families_[name] for name in names}
    parts = []
    for items in np.array_split(np.arange(len(views)), -(-len(views) // _BLOCK_ROWS)):
        batch = views.batch(items, families).views
        parts.append([batch[name].observed_rows for name in names])
    has = pd.DataFrame(np.concatenate(parts, axis=1).T, columns=names)
    counts = has.groupby(names, sort=False).size().sort_values(ascending=False, kind="stable")
    table = counts.index.to_frame(index=False)
    table.insert(len(names), "items", counts.to_numpy(), allow_duplicates=True)  # a view may have any name
    return table
