"""Independent sources behind noisy factors: the rotation that makes factors as far from normal as it can."""

from __future__ import annotations

import numpy as np

# rounds of the fixed-point iteration, and the change of a direction's cosine below which it has converged: conventions
_ROUNDS, _SMALL_CHANGE = 200, 1e-4
# rounds that many sources have at least, and multiplications after which they end: conventions, which save time
_FEWEST_ROUNDS, _MOST_PRODUCTS = 10, 3e10


def independent_rotation(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the orthogonal matrix B for which ``scores @ B.T`` are independent sources.

    Scores are factors of variance 1 plus normal noise, whose third and fourth cumulants are zero, so that it does no
    harm: the sum over sources of κ₃² / 12 + κ₄² / 48, an approximation of negentropy, is made large by a symmetric
    fixed-point iteration (Hyvärinen 1999). Values of 0 and 1 have at least one of both cumulants, however frequent.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> has = (rng.random((2000, 2)) < [0.2, 0.5]) * 1.0
    >>> turned = (has - has.mean(axis=0)) / has.std(axis=0) @ np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> found = turned @ independent_rotation(turned, rng).T
    >>> np.abs(np.corrcoef(found, has, rowvar=False)[:2, 2:]).max(axis=0).round(1).tolist()
    [1.0, 1.0]
    """
    n_rows, n_sources = scores.shape
    rotation = _orthogonal(rng.standard_normal((n_sources, n_sources)))
    covariance = scores.T @ scores / n_rows
    affordable = _MOST_PRODUCTS / (3 * n_rows * n_sources**2)
    for _ in range(int(np.clip(affordable, _FEWEST_ROUNDS, _ROUNDS))):
        sources = scores @ rotation.T
        squares = np.square(sources)
        variance = squares.mean(axis=0)
        third = (squares * sources).mean(axis=0)
        fourth = np.square(squares).mean(axis=0) - 3 * np.square(variance)
        by_third = squares.T @ scores / n_rows
        by_fourth = (squares * sources).T @ scores / n_rows - 3 * variance[:, None] * (rotation @ covariance)
        before = rotation
        rotation = _orthogonal(third[:, None] * by_third / 2 + fourth[:, None] * by_fourth / 6)
        if np.abs(np.abs((rotation * before).sum(axis=1)) - 1).max() < _SMALL_CHANGE:
            break
    return rotation


def _orthogonal(matrix: np.ndarray) -> np.ndarray:
    """Return the orthogonal matrix nearest to a matrix."""
    left, _, right = np.linalg.svd(matrix.astype(np.float64))
    return np.asarray(left @ right)
