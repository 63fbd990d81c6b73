"""Annotations as a table: what is most probable for each row."""

from __future__ import annotations

import numpy as np
import pandas as pd


def ranked(probabilities: np.ndarray, names: np.ndarray, top: int, never: np.ndarray | None = None) -> pd.DataFrame:
    """Return the largest probabilities of each row as a long table, the most probable first.

    Columns whose numbers are in ``never`` are left out.

    Examples
    --------
    >>> ranked(np.array([[0.2, 0.7, 0.1]]), np.array(["sky", "sea", "sun"]), top=2)
       row  rank label  probability
    0    0     1   sea          0.7
    1    0     2   sky          0.2
    """
    if len(names) != probabilities.shape[1]:
        raise ValueError(
            f"names must have one entry for each of the {probabilities.shape[1]} labels; got {len(names)}; pass them "
            "in the order of the columns."
        )
    kept = np.setdiff1d(np.arange(len(names)), [] if never is None else never)
    probabilities, names = probabilities[:, kept], names[kept]
    top = min(top, probabilities.shape[1])
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :top]
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(len(order)), top),
            "rank": np.tile(np.arange(1, top + 1), len(order)),
            "label": names[order].ravel(),
            "probability": np.take_along_axis(probabilities, order, axis=1).ravel(),
        }
    )
