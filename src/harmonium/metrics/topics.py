"""Use of the topics of a latent space by classes: how much it differs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from harmonium.core.validation import Number
from harmonium.metrics.calibration import as_distributions


def topic_distribution(latent: ArrayLike) -> NDArray[np.float64]:
    """Return a distribution over the topics for each item.

    Latent coordinates may have any sign. The smallest coordinate of an item is subtracted from all of its coordinates,
    which are then divided by their sum. So the weakest topic of an item has probability 0, and neither a shift nor a
    positive scale of all coordinates of an item changes its distribution. An item whose coordinates are all equal gets
    the uniform distribution.

    Parameters
    ----------
    latent : array-like of shape (n_items, n_topics)
        Expected values of the hidden units, as `transform` returns them.

    Returns
    -------
    ndarray of float64 of shape (n_items, n_topics)
        Rows that sum to 1.

    Notes
    -----
    The paper [1]_ subtracts "the smallest value" (note 8). Here this is the smallest value of the item, so that the
    distribution of an item does not depend on the other items.

    References
    ----------
    .. [1] N. Chen, J. Zhu, F. Sun and E. P. Xing, "Large-margin predictive latent subspace learning for multiview data
       analysis", IEEE Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012.

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
    # Dividing by the largest value first keeps the sum from overflowing.
    shifted /= np.where(constant, 1.0, largest)
    shifted[constant[:, 0]] = 1.0
    distribution: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return distribution


def class_topic_distribution(latent: ArrayLike, labels: ArrayLike) -> pd.DataFrame:
    """Return the mean topic distribution of the items of each class.

    Parameters
    ----------
    latent : array-like of shape (n_items, n_topics)
        Expected values of the hidden units, as `transform` returns them. A data frame names the topics.
    labels : array-like of shape (n_items,)
        The class of each item. Items whose class is -1, NaN or None count as unlabelled and are left out, so no class
        may be called -1.

    Returns
    -------
    DataFrame
        One row per class, in sorted order, and one column per topic; rows sum to 1.

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
    # Missing values are set aside first, because some of them cannot be compared.
    labelled[labelled] = array[labelled] != -1
    if not labelled.any():
        raise ValueError("labels must give at least one item a class, got only -1, NaN or None; pass labelled items.")
    names = latent.columns if isinstance(latent, pd.DataFrame) else pd.RangeIndex(distribution.shape[1])
    frame = pd.DataFrame(distribution[labelled], columns=names.rename("topic"))
    return frame.groupby(pd.Index(array[labelled], name="class")).mean()


def average_divergence(distributions: ArrayLike, floor: float = 1e-12) -> float:
    """Measure how far the distributions of classes are apart.

    Parameters
    ----------
    distributions : array-like of shape (n_classes, n_topics)
        One distribution per class, as `class_topic_distribution` returns them.
    floor : float, default=1e-12
        Smallest probability; smaller ones are raised to it.

    Returns
    -------
    float
        Divergence in nats, averaged over all pairs of classes; 0 if all distributions are equal.

    Notes
    -----
    The divergence of a pair is the mean of the Kullback-Leibler divergences in both directions ([1]_, note 9). It is
    infinite where only one of the two probabilities is 0, so probabilities below ``floor`` are raised to it and rows
    are normalised again; where there are none, the result is exact. A topic that one class never uses and another uses
    with probability p then counts with about p ln(p / floor) / 2, so compare values only for the same ``floor``. Its
    default is a convention.

    References
    ----------
    .. [1] N. Chen, J. Zhu, F. Sun and E. P. Xing, "Large-margin predictive latent subspace learning for multiview data
       analysis", IEEE Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012.

    Examples
    --------
    >>> round(average_divergence([[0.5, 0.5], [0.25, 0.75]]), 4)
    0.1373
    """
    Number(below=1.0, remedy="1e-12 is usual").check("average_divergence", "floor", floor)
    values = as_distributions(distributions, "distributions")
    if len(values) < 2:
        raise ValueError("distributions must have at least two rows, got one; pass one row for each class.")
    values = np.maximum(values, floor)
    values /= values.sum(axis=1, keepdims=True)
    logarithms = np.log(values)
    # Half the sum of (p - q)(ln p - ln q) over all pairs is a covariance, so pairs need not be formed.
    products: Any = (values - values.mean(axis=0)) * (logarithms - logarithms.mean(axis=0))
    return max(0.0, float(products.sum() / (len(values) - 1)))
