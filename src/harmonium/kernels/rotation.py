"""Rotations of factors to simple structure: few large loadings of each factor, and all others near zero."""

from __future__ import annotations

import numpy as np

# sweeps of varimax over all pairs of factors, the angle in radians below which a pair counts as settled, and the power
# of promax, which is that of its authors: conventions
_SWEEPS, _SMALL_ANGLE, _POWER = 100, 1e-4, 4


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
