"""A fitted estimator with fewer units that says the same."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

from sklearn.base import clone

from harmonium.core.validation import check_real
from harmonium.estimators.checking import check_model
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.input import known_views
from harmonium.kernels.runtime.threads import compute
from harmonium.queries.topics.merging import merged

Model = TypeVar("Model", bound=Harmonium)


def merge_duplicates(model: Model, X: Any, threshold: float = 0.9) -> Model:
    """Return a fitted model in which topics that say the same have become one.

    Topics that are the same for all items are removed, and the topics that are left keep their order. The model that is
    given stays as it is. The new one can be saved, asked and, with ``warm_start=True`` or ``partial_fit``, trained on
    like any other; some more epochs make up for what merging changes. Topics that seeds guide stay
    the first and are not added to each other. Edits, which go by numbers of units, do not carry over.

    Parameters
    ----------
    model : Harmonium
        A fitted model whose hidden units are `BernoulliUnits` or `BinomialUnits`.
    X : dict, Views, matrix, …
        Items, at least two; best those that the model was fitted on.
    threshold : float, default=0.9
        Least correlation of E[h] over the items from which topics count as the same.

    Returns
    -------
    Harmonium
        A fitted copy, with as many ``n_components`` as are left.

    See Also
    --------
    harmonium.report.near_duplicates : Pairs of such topics, to look at first.

    Notes
    -----
    If two units are always on together, the energy depends on the sums of their weights and of their biases alone, so
    the new unit has these sums, for views and for what is predicted. This is exact where means of both are 0 or 1. A
    mean in between becomes more decided: two units with the same natural parameter a and the means 1 / (1 + exp(-a))
    give one with 1 / (1 + exp(-2a)). What all units together add to a feature or score, on average over the items, is
    kept by moving its bias (for a view with ``length_normalize``, for an item of typical size).

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> from harmonium.inspection import merge_duplicates
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=4, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    >>> merge_duplicates(model, words, threshold=0.999).n_components_ <= 4
    True
    """
    check_model(model)
    check_real("merge_duplicates", "threshold", threshold, remedy="0.9 is usual")
    views = known_views(model, X)
    if len(views) < 2:
        raise ValueError(
            f"X must have at least two items to see which topics agree; got {len(views)}; pass those that the model "
            "was fitted on."
        )
    with compute(model.n_jobs):
        fitted = merged(model.fitted_, views, threshold)
    result = copy(model)
    result.fitted_ = fitted
    result.n_components = fitted.n_topics
    if fitted.energy.hidden.n_units is not None:
        result.hidden = clone(fitted.energy.hidden)
    return result
