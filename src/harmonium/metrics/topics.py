"""How differently the classes use the topics of a latent space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from harmonium.metrics.calibration import as_distributions
from harmonium.validation import check_real

__all__ = ["average_divergence", "class_topic_distribution", "topic_distribution"]


def topic_distribution(latent: ArrayLike) -> NDArray[np.float64]:
    """Turn latent coordinates of any sign into one distribution over the topics for each item.

    The smallest coordinate of an item is subtracted from all its coordinates, which are then divided by their sum. So
    the weakest topic of an item has probability 0, the distribution of one item does not depend on which other items
    are given, and adding a number to all coordinates of an item, or scaling them, changes nothing. An item whose
    coordinates are all equal prefers no topic and becomes uniform.

    Parameters
    ----------
    latent : array-like of shape (n_items, n_topics)
        Expected values of the hidden units.

    Returns
    -------
    ndarray of float64 of shape (n_items, n_topics)
        Rows that sum to 1.

    References
    ----------
    Chen, Zhu, Sun and Xing, "Large-margin predictive latent subspace learning for multiview data analysis", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012, note 8. "The smallest value" is read as the
    smallest of the item.

    Examples
    --------
    >>> topic_distribution([[-1.0, 0.0, 2.0], [3.0, 3.0, 3.0]])
    array([[0.        , 0.25      , 0.75      ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    array = np.asarray(latent)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise ValueError(
            f"latent must be a 2-D array of numbers, items by topics, got shape {array.shape} of type {array.dtype}; "
            "pass what transform returns."
        )
    if not np.isfinite(array).all():
        raise ValueError("latent must be finite, got NaN or infinite values; leave those items out.")
    shifted = array.astype(np.float64)
    shifted -= shifted.min(axis=1, keepdims=True)
    largest = shifted.max(axis=1, keepdims=True)
    constant = largest == 0
    # Division by the largest first keeps the sum from overflowing.
    shifted /= np.where(constant, 1.0, largest)
    shifted[constant[:, 0]] = 1.0
    distribution: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return distribution


def class_topic_distribution(latent: ArrayLike, labels: ArrayLike) -> pd.DataFrame:
    """Return the mean topic distribution of the items of each class.

    Parameters
    ----------
    latent : array-like of shape (n_items, n_topics)
        Expected values of the hidden units.
    labels : array-like of shape (n_items,)
        The class of each item. Items whose class is -1, NaN or None are unlabelled and left out, so a class must not be
        called -1.

    Returns
    -------
    DataFrame
        Classes, in sorted order, by topics; rows sum to 1.

    Examples
    --------
    >>> class_topic_distribution([[0.0, 2.0], [1.0, 1.0], [5.0, 1.0], [0.0, 9.0]], ["cat", "cat", "dog", None])
    topic     0     1
    class
    cat    0.25  0.75
    dog    1.00  0.00
    """
    distribution = topic_distribution(latent)
    array = np.asarray(labels)
    if array.shape != (len(distribution),):
        raise ValueError(
            f"labels must be 1-D with one class for each row of latent ({len(distribution)}), got shape {array.shape}; "
            "pass labels and coordinates of the same items."
        )
    labelled = ~pd.isna(array)
    # Missing values are set aside first, because some of them refuse comparison.
    labelled[labelled] = array[labelled] != -1
    if not labelled.any():
        raise ValueError("labels must give at least one item a class, got only -1, NaN or None; pass labelled items.")
    names = latent.columns if isinstance(latent, pd.DataFrame) else pd.RangeIndex(distribution.shape[1])
    frame = pd.DataFrame(distribution[labelled], columns=names.rename("topic"))
    return frame.groupby(pd.Index(array[labelled], name="class")).mean()


def average_divergence(distributions: ArrayLike, floor: float = 1e-12) -> float:
    """Return how far the distributions of the classes are apart, averaged over all pairs of classes.

    The divergence of a pair is the mean of the Kullback-Leibler divergences in both directions, in nats. It would be
    infinite where only one of the two has a probability of 0, so smaller probabilities are raised to ``floor`` and the
    row is divided by its sum again; where no probability is below ``floor``, the divergence is exact. A topic that one
    class never uses and the other uses with probability p then counts with about p ln(p / floor) / 2, so compare values
    only at one ``floor``.

    Parameters
    ----------
    distributions : array-like of shape (n_classes, n_topics)
        One distribution per class, as `class_topic_distribution` gives them.
    floor : float, default=1e-12
        Smallest probability.

    Returns
    -------
    float
        Mean divergence, from 0 for equal distributions up.

    References
    ----------
    Chen, Zhu, Sun and Xing, "Large-margin predictive latent subspace learning for multiview data analysis", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012, note 9.

    Examples
    --------
    >>> round(average_divergence([[0.5, 0.5], [0.25, 0.75]]), 4)
    0.1373
    """
    check_real("average_divergence", "floor", floor, remedy="1e-12 is usual")
    if floor >= 1:
        raise ValueError(f"floor must be below 1, got {floor!r}; 1e-12 is usual.")
    values = as_distributions(distributions, "distributions")
    if len(values) < 2:
        raise ValueError("distributions must have at least two rows, got one; pass one row for each class.")
    values = np.maximum(values, floor)
    values /= values.sum(axis=1, keepdims=True)
    logarithms = np.log(values)
    # Half the sum of (p - q)(ln p - ln q) over all pairs is a covariance, so no pair need be formed.
    products: Any = (values - values.mean(axis=0)) * (logarithms - logarithms.mean(axis=0))
    return max(0.0, float(products.sum() / (len(values) - 1)))
