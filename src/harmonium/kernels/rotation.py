"""Rotations of factors: to simple structure (varimax, promax), and to independent sources (ICA)."""

from __future__ import annotations

import numpy as np

# sweeps of varimax over all pairs of factors, the angle in radians below which a pair has converged, and the power of
# promax, which is that of its authors: conventions
_SWEEPS, _SMALL_ANGLE, _POWER = 100, 1e-4, 4
# iterations of ICA, and the change of a direction's cosine below which it has converged: conventions
_MAX_ITERATIONS, _TOLERANCE = 200, 1e-4
# iterations that many sources have at least, and multiplications after which they end: conventions, which save time
_MIN_ITERATIONS, _MAX_PRODUCTS = 10, 3e10


def varimax(loadings: np.ndarray) -> np.ndarray:
    """Return the orthogonal matrix R for which the squares of ``loadings @ R`` vary most within columns (Kaiser 1958).

    Examples
    --------
    >>> simple = np.kron(np.eye(2), np.ones((3, 1)))
    >>> turned = simple @ np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> np.abs(turned @ varimax(turned)).round(4)[[0, 5]].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    turned = np.array(loadings.T, dtype=np.float64, order="C")
    rotation = np.eye(len(turned))
    for _ in range(_SWEEPS):
        largest = 0.0
        for first in range(len(turned)):
            for second in range(first + 1, len(turned)):
                angle = _best_angle(turned[first], turned[second])
                largest = max(largest, abs(angle))
                plane = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
                pair = [first, second]
                turned[pair], rotation[pair] = plane @ turned[pair], plane @ rotation[pair]
        if largest < _SMALL_ANGLE:
            break
    return rotation.T


def _best_angle(x: np.ndarray, y: np.ndarray) -> float:
    """Return the angle by which two factors turn in their plane to make the variance of squares largest."""
    u, v = x * x - y * y, 2 * x * y
    sum_u, sum_v = u.sum(), v.sum()
    sine = 2 * (u @ v - sum_u * sum_v / len(x))
    cosine = u @ u - v @ v - (sum_u**2 - sum_v**2) / len(x)
    return float(np.arctan2(sine, cosine) / 4)


def promax(loadings: np.ndarray) -> np.ndarray:
    """Return the matrix U for which ``loadings @ U`` is simple and factors may correlate (Hendrickson & White 1964).

    Factors f of the given loadings become U⁻¹ f, whose variances are 1 if those of f are 1 and f are uncorrelated.

    Examples
    --------
    >>> simple = np.kron(np.eye(2), np.ones((3, 1)))
    >>> (promax(simple).T @ promax(simple)).round(4).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rotation = varimax(loadings)
    turned = loadings @ rotation
    target = np.sign(turned) * np.abs(turned) ** _POWER
    oblique = rotation @ np.linalg.lstsq(turned, target, rcond=None)[0]
    # the covariance of U⁻¹ f is the inverse of UᵀU
    return np.asarray(oblique * np.sqrt(np.diag(np.linalg.inv(oblique.T @ oblique))))


def ica_rotation(scores: np.ndarray, rng: np.random.Generator, max_iter: int = _MAX_ITERATIONS) -> np.ndarray:
    """Return the orthogonal matrix B for which ``scores @ B.T`` are independent sources.

    Scores are factors of variance 1 plus normal noise, whose third and fourth cumulants are zero, so that it does no
    harm: the sum over sources of κ₃² / 12 + κ₄² / 48, an approximation of negentropy, is made large by a symmetric
    fixed-point iteration (Hyvärinen 1999). Values of 0 and 1 have at least one of both cumulants, however frequent.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> has = (rng.random((2000, 2)) < [0.2, 0.5]) * 1.0
    >>> turned = (has - has.mean(axis=0)) / has.std(axis=0) @ np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> found = turned @ ica_rotation(turned, rng).T
    >>> np.abs(np.corrcoef(found, has, rowvar=False)[:2, 2:]).max(axis=0).round(1).tolist()
    [1.0, 1.0]
    """
    n_rows, n_sources = scores.shape
    rotation = _orthogonal(rng.standard_normal((n_sources, n_sources)))
    covariance = scores.T @ scores / n_rows
    affordable = _MAX_PRODUCTS / (3 * n_rows * n_sources**2)
    for _ in range(int(np.clip(affordable, _MIN_ITERATIONS, max_iter))):
        sources = scores @ rotation.T
        squares = np.square(sources)
        variance = squares.mean(axis=0)
        third = (squares * sources).mean(axis=0)
        fourth = np.square(squares).mean(axis=0) - 3 * np.square(variance)
        by_third = squares.T @ scores / n_rows
        by_fourth = (squares * sources).T @ scores / n_rows - 3 * variance[:, None] * (rotation @ covariance)
        before = rotation
        rotation = _orthogonal(third[:, None] * by_third / 2 + fourth[:, None] * by_fourth / 6)
        if np.abs(np.abs((rotation * before).sum(axis=1)) - 1).max() < _TOLERANCE:
            break
    return rotation


def _orthogonal(matrix: np.ndarray) -> np.ndarray:
    """Return the orthogonal matrix nearest to a matrix."""
    left, _, right = np.linalg.svd(matrix.astype(np.float64))
    return np.asarray(left @ right)
