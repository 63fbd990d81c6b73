"""Calibration: how far predicted probabilities of classes can be taken at face value.

scikit-learn has the Brier score of several classes, `sklearn.metrics.brier_score_loss`, but no calibration error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harmonium.core.validation import check_whole


def expected_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, n_bins: int = 10, classes: ArrayLike | None = None
) -> float:
    """Measure how far confidence in predictions is from their accuracy.

    Items are sorted by the probability of their most probable class into bins of equal width. The error is the
    difference between the mean probability in a bin and the fraction of right predictions there, averaged over items.

    Parameters
    ----------
    probabilities : array-like of shape (n_items, n_classes)
        One distribution over the classes per row.
    labels : array-like of shape (n_items,)
        The class of each item.
    n_bins : int, default=10
        Number of bins between 0 and 1.
    classes : array-like of shape (n_classes,) or None, default=None
        The class of each column; ``None`` means 0, 1, 2 and so on.

    Returns
    -------
    float
        Error between 0 and 1; 0 is best.

    Notes
    -----
    A value on the border of two bins belongs to the lower one, and of equally probable classes the first is the
    prediction. Ten bins are a convention. The error depends on their number, so compare values only for the same one.

    Examples
    --------
    >>> round(expected_calibration_error([[0.8, 0.2], [0.8, 0.2]], ["a", "b"], classes=["a", "b"]), 4)
    0.3
    """
    check_whole("expected_calibration_error", "n_bins", n_bins, remedy="10 is usual")
    values = as_distributions(probabilities, "probabilities")
    truth = _columns_of(labels, classes, values.shape)
    predicted = values.argmax(axis=1)
    confidence = values[np.arange(len(values)), predicted]
    bins = np.digitize(confidence, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)
    # The size of a bin cancels out: the difference is divided by it and weighted with it.
    gaps = np.bincount(bins, weights=confidence - (predicted == truth))
    return float(np.abs(gaps).sum() / len(values))


def as_distributions(values: Any, name: str) -> NDArray[np.float64]:
    """Return an array whose rows are distributions, or refuse what is not one.

    Examples
    --------
    >>> as_distributions([[0.5, 0.6]], "probabilities")
    Traceback (most recent call last):
    ...
    ValueError: probabilities must have rows that sum to 1, got a row that sums to 1.1; divide each row by its sum.
    """
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a 2-D array of numbers with one distribution per row, got shape {array.shape} "
            f"of type {array.dtype}; reshape or convert it."
        )
    distributions = array.astype(np.float64, copy=False)
    if not ((distributions >= 0) & (distributions <= 1 + 1e-6)).all():
        raise ValueError(f"{name} must lie between 0 and 1, got values outside or NaN; pass distributions.")
    sums = distributions.sum(axis=1)
    worst = sums[np.abs(sums - 1).argmax()]
    # Rounding errors of single precision add up over the columns: 1e-4 allows for about a thousand of them.
    if abs(worst - 1) > 1e-4:
        raise ValueError(
            f"{name} must have rows that sum to 1, got a row that sums to {worst:.6g}; divide each row by its sum."
        )
    return distributions


def _columns_of(labels: Any, classes: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    n_items, n_classes = shape
    truth = np.asarray(labels)
    if truth.shape != (n_items,):
        raise ValueError(
            f"labels must be 1-D with one class for each row of probabilities ({n_items}), got shape {truth.shape}; "
            "pass labels and probabilities of the same items."
        )
    names = list(range(n_classes)) if classes is None else np.asarray(classes).tolist()
    columns = {name: column for column, name in enumerate(names)}
    if len(names) != n_classes or len(columns) != n_classes:
        raise ValueError(
            f"classes must name each of the {n_classes} columns of probabilities once, got {names!r}; "
            "pass the classes in the order of the columns."
        )
    found = [columns.get(label, -1) for label in truth.tolist()]
    if -1 in found:
        raise ValueError(
            f"labels must be among the {n_classes} classes, got {truth.tolist()[found.index(-1)]!r}; "
            "leave such rows out or pass classes."
        )
    return np.array(found, dtype=np.int64)
