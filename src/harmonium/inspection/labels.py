"""Labels that may be wrong: how sure it is that each is right, by models that have not seen it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.special
from narwhals import to_native
from sklearn.base import clone

from harmonium.core.raw_target import read_raw_target
from harmonium.core.validation import RandomState, check_whole
from harmonium.estimators.classifier import HarmoniumClassifier
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.read_input import split_target
from harmonium.estimators.mixins.density import generator
from harmonium.views.index import row_names

# Rows that the share of flips is learned from, at most: a convention, for time.
_MOST_ROWS = 20_000
# Probabilities at least, as logarithms are taken: a convention.
_TINY = 1e-12
# Shares of flips, on the scale of log-odds, and exponents of the probabilities from which the search begins.
_BEGINNINGS = ((-3.0, 0.0), (-3.0, 1.0), (-0.5, 0.0), (-0.5, 1.0))


def label_quality(model: HarmoniumClassifier, X: Any, y: Any, n_folds: int = 5, random_state: Any = 0) -> pd.DataFrame:
    """Return how probable it is that each label is right, by held-out rows.

    Each fold of the rows is predicted by a clone of the model that does not see its labels. What these predict tells
    how many labels are flipped, as the probability s of a flip to any other class that makes the labels most likely,
    and so how probable each single flip is.

    Parameters
    ----------
    model : HarmoniumClassifier
        A model, fitted or not; it stays as it is.
    X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
        Views of the items.
    y : array-like of shape (n_rows,), or name of a column of X
        Classes, of which some may be unknown.
    n_folds : int, default=5
        Number of folds, and of fits.
    random_state : int or RandomState, default=0
        Source of the random numbers that deal rows out to folds.

    Returns
    -------
    DataFrame
        A row for each item, in the order of X: ``label`` as given, the class that is ``expected``, and ``quality``, the
        probability that the label is right. Quality is NaN where a label is unknown, or no other row has it. On average
        it falls short of one by the share of flips.

    See Also
    --------
    harmonium.HarmoniumClassifier.fit : It takes the quality as ``sample_weight``, with 1 in place of NaN.

    Notes
    -----
    With held-out probabilities :math:`p_k`, a label is :math:`k` with probability
    :math:`(1 - s) q_k + s (1 - q_k) / (K - 1)`, where :math:`q_k \\propto p_k^\\tau`: models that learned from flipped
    labels are less sure than they could be. Maximum likelihood gives s and the exponent, with one more flip than there
    are. All flips are taken for equally likely; where two classes are mistaken for each other, judge by the order of
    the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier
    >>> from harmonium.inspection import label_quality
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 100)
    >>> X = rng.normal(size=(200, 3)) + 3 * (y == "dog")[:, None]
    >>> y[:10] = "dog"  # these are cats
    >>> model = HarmoniumClassifier(2, random_state=0)
    >>> found = label_quality(model, X, y, n_folds=2)
    >>> bool(found["quality"][:10].max() < 0.1), bool(found["quality"][10:].min() > 0.9)
    (True, True)
    >>> model = model.fit(X, y, sample_weight=found["quality"])
    """
    if not isinstance(model, HarmoniumClassifier):
        raise TypeError(
            f"label_quality needs a HarmoniumClassifier, fitted or not; got {type(model).__name__}; pass a model of "
            "classes."
        )
    check_whole("label_quality", "n_folds", n_folds, 2, remedy="5 is usual")
    RandomState().check("label_quality", "random_state", random_state)
    data, given = split_target(X, y)
    given = in_order_of(data, "y", given)
    labels = np.asarray(read_raw_target(given).values, dtype=object)
    if labels.ndim > 1:
        raise ValueError(
            f"label_quality judges one class for each row; got y of shape {labels.shape}; pass one column at a time."
        )
    codes, classes = pd.factorize(labels)
    if len(classes) < 2:
        raise ValueError(f"label_quality needs labels of two classes at least; got {len(classes)}; pass all of them.")
    known = np.flatnonzero(codes >= 0)
    folds = np.full(len(labels), -1)
    # each class is dealt out evenly
    shuffled = known[generator(random_state).permutation(len(known))]
    folds[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(known)) % n_folds
    proba = np.zeros((len(labels), len(classes)))
    for fold in range(n_folds):
        held = folds == fold
        if not held.any():
            continue
        fitted = clone(model).fit(data, [None if one else label for one, label in zip(held, labels, strict=True)])
        if isinstance(fitted.classes_, list) or fitted.fitted_.meaning.kind != "class":
            raise ValueError("label_quality judges classes; got y of labels that go together; pass one class per row.")
        proba[np.ix_(held, pd.Index(classes).get_indexer(fitted.classes_))] = fitted.predict_proba(data)[held]
    # of whole numbers, -1 is no class where training takes it for an unknown label
    learned = np.flatnonzero(proba.any(axis=0))
    known = known[np.isin(codes[known], learned)]
    proba, classes, codes = proba[:, learned], classes[learned], np.searchsorted(learned, codes)
    judged = known[proba[known, codes[known]] > 0]
    expected, quality = labels.copy(), np.full(len(labels), np.nan)
    expected[known] = np.asarray(classes, dtype=object)[proba[known].argmax(axis=1)]
    quality[judged] = probability_right(proba[judged], codes[judged])
    columns = {"label": labels, "expected": expected, "quality": quality}
    return pd.DataFrame(columns, index=row_names(to_native(data, pass_through=True)))


def probability_right(proba: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how probable it is that each label is right, given held-out probabilities of the classes."""
    n_classes, logs = proba.shape[1], np.log(np.maximum(proba, _TINY))
    some = np.unique(np.linspace(0, len(codes) - 1, min(len(codes), _MOST_ROWS)).astype(np.int64))

    def parts(parameters: np.ndarray, logs: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of each label, as one that is right and as one that is flipped."""
        flips = float(scipy.special.expit(parameters[0])) * (1 - 1 / n_classes)
        expected = scipy.special.softmax(np.exp(parameters[1]) * logs, axis=1)[np.arange(len(codes)), codes]
        return (1 - flips) * expected, flips / (n_classes - 1) * (1 - expected)

    def loss(parameters: np.ndarray) -> float:
        right, flipped = parts(parameters, logs[some], codes[some])
        # as if one more label were flipped, so that a share of zero, which no label can contradict, is never learned
        one_more = scipy.special.log_expit(parameters[0]) / len(some)
        return -float(np.log(np.maximum(right + flipped, _TINY)).mean() + one_more)

    searches = [scipy.optimize.minimize(loss, beginning, method="Nelder-Mead") for beginning in _BEGINNINGS]
    right, flipped = parts(min(searches, key=lambda search: search.fun).x, logs, codes)
    return np.asarray(right / np.maximum(right + flipped, _TINY))
