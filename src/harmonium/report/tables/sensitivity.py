"""Cross-validated scores over the values of a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import validation_curve

from harmonium.views.reading import read_collection


def sensitivity_table(
    estimator: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Sequence[Any],
    cv: Any = 3,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Return the cross-validated score of an estimator over values of a parameter.

    Parameters
    ----------
    estimator : estimator
        An estimator or pipeline with a score; it stays as it is.
    X : dict, Views, matrix, …
        Items.
    y : array-like or None
        What is to be predicted.
    parameter : str
        Name of the parameter, such as ``"n_components"`` or ``"head__C"``.
    values : sequence
        Values to try.
    cv : int or splitter, default=3
        Number of folds, or how to split.
    n_jobs : int, optional
        Number of fits at the same time.

    Returns
    -------
    DataFrame
        Columns value, train_mean, train_std, test_mean and test_std, with means and standard deviations over folds.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier, Hinge, Stochastic
    >>> words, y = np.tile(np.eye(3), (6, 1)), np.tile([0, 1, 1], 6)
    >>> driver = Stochastic(max_iter=2)
    >>> model = HarmoniumClassifier(2, head=Hinge(C=1.0), driver=driver, validation_fraction=0)
    >>> sensitivity_table(model, {"words": words}, y, "head__C", [0.1, 1.0])["value"].tolist()
    [0.1, 1.0]
    """
    tried = list(values)
    if not tried:
        raise ValueError("values must hold at least one value to try; got none; pass for example [0.1, 1.0, 10.0].")
    try:
        clone(estimator).set_params(**{parameter: tried[0]})
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"parameter must be a parameter of the estimator; got {parameter!r}; see get_params(), and pass the part "
            "it belongs to, if any, to the estimator (head=Hinge() for 'head__C')."
        ) from None
    views = read_collection(X)
    rows = X if views is None else views
    train, test = validation_curve(estimator, rows, y, param_name=parameter, param_range=tried, cv=cv, n_jobs=n_jobs)
    return pd.DataFrame(
        {
            "value": tried,
            "train_mean": train.mean(axis=1),
            "train_std": train.std(axis=1),
            "test_mean": test.mean(axis=1),
            "test_std": test.std(axis=1),
        }
    )
