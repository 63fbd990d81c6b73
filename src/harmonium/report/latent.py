"""The latent space as reports see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from harmonium.estimators import Harmonium
from harmonium.kernels.threads import compute
from harmonium.queries.latent import encode


def latent_means(model: Harmonium, X: Any) -> np.ndarray:
    """E[h | x] of each row, whatever ``output`` makes of it for `transform`.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Any subset of the views.

    Returns
    -------
    ndarray of float32, shape (rows, n_components_)

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
    views = model.as_views(X)
    with compute(model.n_jobs):
        return encode(model.fitted_, views)


@dataclass
class UnitUse:
    """How rows use the hidden units, (rows, units) each, in float64.

    Attributes
    ----------
    natural : ndarray
        Natural parameters: in the same order as the means, as those grow with them, but different where means are
        rounded to 1.
    mean : ndarray
        E[h], or E[z h] of units that a row may lack.
    presence : ndarray
        E[z], the probability that the row has the unit; the mean for layers whose units every row has.
    """

    natural: np.ndarray
    mean: np.ndarray
    presence: np.ndarray


def unit_use(model: Harmonium, X: Any) -> UnitUse:
    """Naturals, means and presences of the hidden units of each row."""
    check_model(model)
    views = model.as_views(X)
    with compute(model.n_jobs):
        natural = encode(model.fitted_, views, "natural").astype(np.float64)
    layer = model.energy_.layer(model.parameters_)
    mean = layer.mean(natural)
    return UnitUse(natural, mean, layer.presence(natural, mean))


def known_labels(y: Any, n_rows: int) -> np.ndarray:
    """Labels as objects, None where they are unknown."""
    labels = np.full(n_rows, None) if y is None else np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must have one label for each of the {n_rows} rows of X; got shape {labels.shape}; pass labels and "
            "views of the same items."
        )
    unknown = pd.isna(labels)
    if not is_scale(labels):
        unknown[~unknown] = labels[~unknown] == -1
        if labels.dtype.kind == "f":
            # whole numbers that are floats only because NaN is one
            labels = np.where(unknown, -1, labels).astype(np.int64)
    result = labels.astype(object)
    result[unknown] = None
    return result


def is_scale(labels: np.ndarray) -> bool:
    """Whether labels are numbers to be shown by a scale of colours: some of them are not whole."""
    known = np.array(labels[~pd.isna(labels)].tolist())
    return known.dtype.kind == "f" and bool((known != np.round(known)).any())


def check_model(model: Any) -> None:
    """Refuse what is not a fitted model of this library."""
    if not isinstance(model, Harmonium):
        raise TypeError(
            f"model must be a fitted Harmonium, HarmoniumClassifier or HarmoniumRegressor; got {type(model).__name__}; "
            "pass the last step of a pipeline, with data as that step gets them."
        )
    check_is_fitted(model)
