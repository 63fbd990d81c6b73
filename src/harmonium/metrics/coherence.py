"""Coherence of topics, their diversity, and their stability from run to run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

# what Röder et al. (2015) add to joint probabilities, so that words which never meet have a logarithm
_EPSILON = 1e-12


def topic_coherence(
    topics: Any,
    X: Any,
    feature_names: Sequence[str] | None = None,
    measure: Literal["npmi", "cv"] = "npmi",
) -> NDArray[np.float64]:
    """Return how much the top words of each topic occur in the same documents.

    Documents that the model was not fitted on make the stricter judges.

    Parameters
    ----------
    topics : DataFrame, or sequence of sequences of str or int
        The top words of each topic, by name or as column numbers of X; a row of a frame is a topic, as ``topics()``
        of a model returns them. Empty cells (NaN or None) are left out.
    X : sparse matrix, array-like or DataFrame of shape (n_documents, n_words)
        Counts, weights or presences of words; only whether they are above 0 matters.
    feature_names : sequence of str, optional
        Names of the columns of X; needed if topics hold names. Default: the columns of X, if it is a data frame.
    measure : {"npmi", "cv"}, default="npmi"
        "npmi" is the mean over pairs of words of their normalised pointwise mutual information, from -1 (they never
        meet) over 0 (they meet as often as by chance) to 1 (they only occur together). "cv" compares which words each
        word meets with which words the topic meets, which agrees best with the judgement of people [2]_, and lies
        between -1 and 1, in practice between 0.2 and 0.8.

    Returns
    -------
    ndarray of float64 of shape (n_topics,)
        Coherence of each topic; the larger, the better.

    See Also
    --------
    topic_diversity : Whether topics differ; a model can be coherent by saying the same thing many times.

    Notes
    -----
    With p_i the share of the documents that have word i, and p_ij the share that have both, NPMI is log(p_ij / p_i p_j)
    / -log p_ij [1]_: -1 if p_ij = 0, and 1 if p_ij = 1, as for all pairs that only occur together. C_V takes, for each
    word of a topic, the vector of its NPMI with all words of the topic (itself among them), and returns the mean cosine
    of these vectors with their sum; 1e-12 is added to p_ij, as in [2]_. There, windows of 110 words slide over the
    texts; here documents are the windows, as X has no order. A word that no document has meets no other one, and has
    an NPMI of 0 with all words in C_V.

    References
    ----------
    .. [1] G. Bouma, "Normalized (pointwise) mutual information in collocation extraction", GSCL, 2009.
    .. [2] M. Röder, A. Both and A. Hinneburg, "Exploring the space of topic coherence measures", WSDM, 2015.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [2, 1, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]]
    >>> words = ["space", "orbit", "car", "the"]
    >>> topic_coherence([["space", "orbit"], ["space", "car"], ["car", "the"]], X, words).tolist()
    [1.0, -1.0, 0.0]
    """
    scores: dict[str, Callable[[np.ndarray, int], float]] = {"npmi": _mean_npmi, "cv": _cv}
    if measure not in scores:
        raise ValueError(f"measure must be 'npmi' or 'cv'; got {measure!r}; 'npmi' is the simplest.")
    score = scores[measure]
    found = _read_topics(topics)
    short = next((number for number, words in enumerate(found) if len(words) < 2), None)
    if short is not None:
        raise ValueError(
            f"Every topic must have at least two words, as pairs are compared; topic {short} has {len(found[short])}; "
            "ask for more words."
        )
    columns, names = _read_documents(X, feature_names)
    numbers = [_column_numbers(words, columns.shape[1], names) for words in found]
    return np.array([score(_meetings(columns[:, words]), columns.shape[0]) for words in numbers])


def topic_diversity(topics: Any) -> float:
    """Return the share of different words among the top words of all topics.

    Parameters
    ----------
    topics : DataFrame, or sequence of sequences of str or int
        The top words of each topic; a row of a frame is a topic, as ``topics()`` of a model returns them. Dieng et al.
        take 25 words of each.

    Returns
    -------
    float
        1 if no word is in two topics, and near 0 if all topics have the same words.

    References
    ----------
    A. B. Dieng, F. J. R. Ruiz and D. M. Blei, "Topic modeling in embedding spaces", TACL 8, 2020.

    Examples
    --------
    >>> topic_diversity([["space", "orbit"], ["space", "moon"]])
    0.75
    """
    words = [word for topic in _read_topics(topics) for word in topic]
    return len(set(words)) / len(words)


def topic_stability(fits: Sequence[Any]) -> NDArray[np.float64]:
    """Return how much of each topic of the first fit comes again in the others.

    Topics of each other fit are matched one to one with those of the first, such that they share as many top words as
    possible or, where it is given how much items have of the topics, correlate as much as possible.

    Parameters
    ----------
    fits : sequence of fitted models, of topics, or of arrays of float of shape (n_items, n_topics)
        At least two fits of the same data, such as with several ``random_state``. Models are asked for their
        ``topics()``; for another number of words, or a view of several, pass these frames, or lists of lists of words.
        Arrays hold how much the same items have of each topic, and suit views without words.

    Returns
    -------
    ndarray of float64 of shape (n_topics,)
        For each topic of the first fit, the share of its words that the topics matched with it have too, averaged over
        the other fits: 1 if every fit finds it, 0 if none finds any of it. Where a topic has more words than the one it
        is matched with or fewer, it is the share of the larger number. For arrays, it is the absolute correlation over
        the items. A topic without a partner, as the other fit has fewer topics, counts as 0.

    See Also
    --------
    harmonium.inspection.bootstrap_stability : Stability of the topics of a model over resampled rows.

    Examples
    --------
    >>> first = [["space", "orbit"], ["car", "engine"]]
    >>> topic_stability([first, [["engine", "car"], ["orbit", "moon"]]]).tolist()
    [0.5, 1.0]
    >>> first, second = np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([[0.3, 0.5], [0.5, 0.5]])
    >>> topic_stability([first, second]).round(6).tolist()
    [1.0, 0.0]
    """
    if isinstance(fits, pd.DataFrame) or len(fits) < 2:
        raise ValueError(
            "fits must be a sequence of at least two models, or of the topics of two; got only one; fit again with "
            "another random_state."
        )
    alike = [_correlation(fits[0], fit) for fit in fits[1:]] if _are_activities(fits) else _overlaps(fits)
    found = np.zeros((len(alike), len(alike[0])))
    for row, one in zip(found, alike, strict=True):
        rows, partners = linear_sum_assignment(one, maximize=True)
        row[rows] = one[rows, partners]
    mean: NDArray[np.float64] = found.mean(axis=0)
    return mean


def _are_activities(fits: Sequence[Any]) -> bool:
    """Tell whether fits are how much items have of the topics; refuse those of different items."""
    arrays = [isinstance(fit, np.ndarray) and fit.ndim == 2 and fit.dtype.kind == "f" for fit in fits]
    if all(arrays) and len({len(fit) for fit in fits}) > 1:
        lengths = ", ".join(str(len(fit)) for fit in fits)
        raise ValueError(f"fits must be arrays of the same items; got {lengths} rows; transform the same items by all.")
    return all(arrays)


def _correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the absolute correlation over the items of each topic with each other one; 0 for those without spread."""
    parts = [np.asarray(fit, dtype=np.float64) - fit.mean(axis=0, dtype=np.float64) for fit in (first, second)]
    one, other = (part / np.maximum(np.linalg.norm(part, axis=0), 1e-12) for part in parts)
    return np.abs(one.T @ other)


def _overlaps(fits: Sequence[Any]) -> list[np.ndarray]:
    """Return which share of their words the topics of the first fit have in common with those of each other fit."""
    first, *others = (_read_topics(fit.topics() if hasattr(fit, "topics") else fit) for fit in fits)
    return [_overlap(first, other) for other in others]


def _read_topics(topics: Any) -> list[list[Hashable]]:
    """Return the words of each topic; refuse topics without words, and words that come twice."""
    rows = topics.to_numpy() if isinstance(topics, pd.DataFrame) else topics
    if (
        isinstance(rows, str)
        or not len(rows)
        or any(isinstance(row, str) or not hasattr(row, "__len__") for row in rows)
    ):
        raise ValueError(
            "topics must be a list with a list of words for each topic, or what topics() of a model returns; got "
            f"{type(topics).__name__} of other things; split texts into words."
        )
    found = [[word for word in row if not pd.isna(word)] for row in rows]
    for number, words in enumerate(found):
        if not words or len(set(words)) < len(words):
            what = "a word twice" if words else "no word"
            raise ValueError(f"Every topic must have words, each of them once; topic {number} has {what}; correct it.")
    return found


def _read_documents(X: Any, feature_names: Sequence[str] | None) -> tuple[scipy.sparse.csc_array, dict[Any, int]]:
    """Return documents by columns, and the numbers of these by name, if they have names."""
    if feature_names is None and isinstance(X, pd.DataFrame):
        feature_names = X.columns.tolist()
    matrix = X if scipy.sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be a matrix of numbers, documents by words; got shape {matrix.shape} of type {matrix.dtype}; pass "
            "what CountVectorizer returns."
        )
    columns = scipy.sparse.csc_array(matrix)
    if not (columns.data >= 0).all():
        raise ValueError("X must hold counts or presences of words, 0 or more; got negative values or NaN; correct it.")
    if feature_names is None:
        return columns, {}
    names: dict[Any, int] = {name: number for number, name in enumerate(feature_names)}
    if not len(names) == len(feature_names) == columns.shape[1]:
        raise ValueError(
            f"feature_names must have a different name for each of the {columns.shape[1]} columns of X; got "
            f"{len(feature_names)} names, {len(names)} of them different; pass the names in the order of the columns."
        )
    return columns, names


def _column_numbers(words: list[Any], n_columns: int, names: dict[Any, int]) -> list[int]:
    """Return the columns of the words of a topic."""
    numbered = all(isinstance(word, int | np.integer) for word in words)
    if not numbered and not names:
        raise ValueError(f"feature_names are needed, as topics hold words such as {words[0]!r}; got None; pass them.")
    unknown = [word for word in words if not (0 <= word < n_columns if numbered else word in names)]
    if unknown:
        what = f"column numbers of X, from 0 to {n_columns - 1}" if numbered else "names of columns of X"
        raise ValueError(f"topics must hold {what}; got {unknown[0]!r}; use the words that the model was fitted on.")
    return words if numbered else [names[word] for word in words]


def _meetings(columns: scipy.sparse.csc_array) -> np.ndarray:
    """Return in how many documents each pair of words occurs; on the diagonal, each word."""
    columns.sum_duplicates()
    present = (columns > 0).astype(np.int64)
    meetings: np.ndarray = (present.T @ present).toarray()
    return meetings


def _mean_npmi(meetings: np.ndarray, n_documents: int) -> float:
    joint = meetings / n_documents
    first, second = np.triu_indices(len(joint), k=1)
    return float(npmi(joint[first, second], np.diag(joint)[first] * np.diag(joint)[second]).mean())


def _cv(meetings: np.ndarray, n_documents: int) -> float:
    joint = meetings / n_documents
    share = np.diag(joint)
    vectors = np.where(np.outer(share, share) > 0, npmi(joint, np.outer(share, share), _EPSILON), 0.0)
    total = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    return float(np.divide(vectors @ total, lengths, out=np.zeros(len(vectors)), where=lengths > 0).mean())


def npmi(joint: np.ndarray, independent: np.ndarray, epsilon: float = 0.0) -> np.ndarray:
    """Return the normalised pointwise mutual information; -1 where there is nothing in common, 1 where joint is 1."""
    result = np.where(joint == 1, 1.0, -1.0)
    inside = (joint + epsilon > 0) & (joint < 1) & (independent > 0)
    shifted = joint[inside] + epsilon
    result[inside] = np.log(shifted / independent[inside]) / -np.log(shifted)
    return result


def _overlap(first: list[list[Hashable]], second: list[list[Hashable]]) -> np.ndarray:
    """Return which share of their words topics have in common, for each pair."""
    numbers: dict[Hashable, int] = {}
    for words in (*first, *second):
        for word in words:
            numbers.setdefault(word, len(numbers))
    one, other = (_membership(topics, numbers) for topics in (first, second))
    larger = np.maximum(one.sum(axis=1)[:, None], other.sum(axis=1)[None, :])
    overlap: np.ndarray = (one @ other.T).toarray() / larger
    return overlap


def _membership(topics: list[list[Hashable]], numbers: dict[Hashable, int]) -> scipy.sparse.csr_array:
    """Return topics by words, 1 where a topic has a word."""
    lengths = [len(words) for words in topics]
    places = [numbers[word] for words in topics for word in words]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    return scipy.sparse.csr_array((np.ones(len(places)), places, bounds), shape=(len(topics), len(numbers)))
