"""Co-occurrence of features: those of a topic that stand in the same items come first.

The items that have most of a topic also share words by chance. Two words that belong together are found in the same
items wherever these are, so the relevance of a word is multiplied by the mean NPMI (Bouma 2009) of the word and the
other leading words of its topic, which have a say by their relevance.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from harmonium.kernels.sparse.matrix import binarize, to_scipy
from harmonium.metrics.coherence import npmi
from harmonium.objectives.problem import Problem
from harmonium.views.data import Data

# Features of a topic that are compared, and the size from which a vocabulary has more than enough of them. With 30, two
# thirds of the training texts of hotels, wines and 20 Newsgroups have topics that are more coherent on the other third
# than with 15 or 20. Items that features are compared over, at most: a convention, for time.
_COMPARED, _LARGE, _ITEMS = 30, 100, 20_000
# Smallest factor, as a share of the largest of the topic: a convention.
_SMALLEST = 0.1


def exclusive(relevance: np.ndarray) -> np.ndarray:
    """Return relevance (features, topics) times the root of the topic's share in all relevance of a feature.

    So features which only one topic has come before those that many have.
    """
    size = np.maximum(np.linalg.norm(relevance, axis=1, keepdims=True), 1e-12)
    result: np.ndarray = relevance * np.sqrt(np.abs(relevance) / size)
    return result


def coherent(relevance: np.ndarray, name: str, problem: Problem, data: Data) -> np.ndarray:
    """Return the relevance of the features of a view to each unit, larger for those that occur together.

    Only topics are changed, and of them only those some of whose leading features do.

    Parameters
    ----------
    relevance : ndarray of shape (features, units)
        Relevance of features that count something.
    name : str
        Name of their view.
    problem : Problem
        Structure of the model.
    data : Data
        The training data.

    Returns
    -------
    ndarray of shape (features, units)
        The relevance.
    """
    topics = np.flatnonzero(problem.energy.hidden.groups.are_topics)
    if len(relevance) < _LARGE or not len(topics):
        return relevance
    by_topic = np.maximum(exclusive(relevance[:, topics]), 0)
    leading = np.argsort(-by_topic, axis=0, kind="stable")[:_COMPARED]
    features = np.unique(leading)
    together, often = _counts(features, name, problem, data)
    result = relevance.copy()
    for topic, column in zip(topics, leading.T, strict=True):
        column = column[relevance[column, topic] > 0]
        places = np.searchsorted(features, column)
        factor = _mean_npmi(together[np.ix_(places, places)], often[places], relevance[column, topic])
        if not factor.any():
            continue
        # those that do not go with the topic keep their order, and all that are not compared stay behind
        factor = np.maximum(factor, _SMALLEST * factor.max())
        result[:, topic] *= factor.min()
        result[column, topic] = relevance[column, topic] * factor
    return result


def _counts(features: np.ndarray, name: str, problem: Problem, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return shares of the items that have two features, and each of them."""
    family = problem.energy.families[name]
    rows = np.unique(np.linspace(0, len(data) - 1, min(len(data), _ITEMS)).astype(np.int64))
    together, n_items = np.zeros((len(features), len(features))), 0
    for block in data.blocks({name: family}, rows):
        view = block.views[name]
        present = scipy.sparse.csr_array(to_scipy(binarize(view.statistic))[:, features], dtype=np.float64)
        present = present[np.flatnonzero(view.observed_rows)]
        together += (present.T @ present).toarray()
        n_items += present.shape[0]
    together /= max(n_items, 1)
    return together, np.diagonal(together)


def _mean_npmi(together: np.ndarray, often: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted mean of the NPMI of each feature with the others, or 0 if that is negative."""
    if len(often) < 2:
        return np.zeros(len(often))
    information = npmi(together, np.outer(often, often))
    np.fill_diagonal(information, 0.0)
    return np.maximum(information @ weight / (weight.sum() - weight), 0.0)
