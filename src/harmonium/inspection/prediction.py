"""Parts of the scores of a prediction, and the features that are expected of an item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators.checking import check_model
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.input import known_views
from harmonium.estimators.ranking import ranked
from harmonium.kernels.runtime.threads import compute
from harmonium.queries import prediction
from harmonium.queries.topics.features import view_name


def score_parts(model: Harmonium, X: Any) -> dict[str, np.ndarray]:
    """Return what the scores of each row are the sum of.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
        Any subset of the views that the model was fitted on.

    Returns
    -------
    dict of str to ndarray of shape (n_rows, n_outputs)
        "topics", "bias" and, if the head has a linear part, the name of each view; "curves" if it has some. Those of
        numbers add up to what `predict` returns (or its logarithm, where the model learned that), in the units of y,
        before it stops at the ends of a scale such as stars.
        `harmonium.report.decision_table` makes shares of them.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier, Hinge
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = HarmoniumClassifier(4, head=Hinge(linear_part=False), random_state=0).fit(X, X[:, 0] > 0)
    >>> sorted(score_parts(model, X))
    ['bias', 'topics']
    """
    check_model(model)
    if model.fitted_.head is None:
        raise TypeError(
            f"score_parts needs a model that predicts something; got {type(model).__name__}, which does not; pass a "
            "fitted HarmoniumClassifier or HarmoniumRegressor."
        )
    views = known_views(model, X)
    with compute(model.n_jobs):
        return prediction.score_parts(model.fitted_, views)


def annotate_view(model: Harmonium, name: str, X: Any, top: int = 5) -> pd.DataFrame:
    """Return the features of a view that are expected most given the other views.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    name : str
        The view to annotate with, such as tags or words.
    X : dict, list or Views
        Other views of the items.
    top : int, default=5
        Number of features for each row.

    Returns
    -------
    DataFrame
        Columns row, rank, label, probability. The last is the expected value for views that are not binary.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> tags = np.tile(np.eye(2), (50, 1))
    >>> model = Harmonium(2, random_state=0).fit({"tags": tags, "colour": 3 * tags})
    >>> annotate_view(model, "tags", {"colour": 3 * tags[:2]}, top=1)["label"].tolist()
    ['tags_0', 'tags_1']
    """
    check_model(model)
    check_whole("annotate_view", "top", top, remedy="5 is usual")
    expected = model.predict_view(name, X)
    view = view_name(model.fitted_, name)
    # expected data may be fewer than features: of shares and their rests, the shares come first
    names = model.fitted_.feature_names[view][: expected.shape[1]]
    return ranked(expected, np.asarray(names), top)
