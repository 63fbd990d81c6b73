"""The tf-idf weights of the published retrieval experiments.

scikit-learn's `TfidfTransformer` weights by other formulas: it adds 1 to the logarithm and divides by the row's norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["tf_idf"]


def tf_idf(counts: Any, idf: np.ndarray | None = None) -> tuple[sparse.csr_matrix, np.ndarray]:
    r"""Weight counts by the share of the word in its document and the rarity of the word.

    .. math:: \frac{n(d, w)}{\sum_{w'} n(d, w')} \log_2 \frac{\text{documents}}{\text{documents with } w}

    Parameters
    ----------
    counts : sparse or dense array, (documents, words)
        Word counts.
    idf : ndarray, (words,), optional
        The logarithms, as returned for the training documents; by default learnt from `counts`.

    Returns
    -------
    weights : csr_matrix of float32, (documents, words)
        The weights; a document without words has a row of zeros.
    idf : ndarray of float64, (words,)
        The logarithms used, zero for a word in no document.

    Examples
    --------
    >>> weights, idf = tf_idf([[1, 3], [0, 2]])
    >>> idf.tolist(), weights.toarray().tolist()
    ([1.0, 0.0], [[0.25, 0.0], [0.0, 0.0]])
    >>> tf_idf([[1, 1]], idf)[0].toarray().tolist()
    [[0.5, 0.0]]
    """
    matrix = sparse.csr_matrix(counts, dtype=np.float64)
    n_documents, n_words = matrix.shape
    if idf is None:
        frequency = np.bincount(matrix.indices[matrix.data > 0], minlength=n_words)
        idf = np.where(frequency > 0, np.log2(n_documents / np.maximum(frequency, 1)), 0.0)
    idf = np.asarray(idf, dtype=np.float64)
    if idf.shape != (n_words,):
        raise ValueError(
            f"idf must have one entry for each of the {n_words} words, but has shape {idf.shape}; learn it on counts "
            "with the same vocabulary."
        )
    lengths = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.divide(1.0, lengths, out=np.zeros(n_documents), where=lengths > 0)
    weights = sparse.diags_array(inverse) @ matrix @ sparse.diags_array(idf)
    return sparse.csr_matrix(weights, dtype=np.float32), idf
