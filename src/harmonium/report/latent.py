"""The latent space as reports see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from harmonium.estimators import Harmonium
from harmonium.kernels.threads import compute


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
    views = model._known(X)
    with compute(model.n_jobs):
        return model._encode(views, "mean")


def check_model(model: Any) -> None:
    """Refuse what is not a fitted model of this library."""
    if not isinstance(model, Harmonium):
        raise TypeError(
            f"model must be a fitted Harmonium, HarmoniumClassifier or HarmoniumRegressor; got {type(model).__name__}; "
            "pass the last step of a pipeline, with data as that step gets them."
        )
    check_is_fitted(model, "families_")
