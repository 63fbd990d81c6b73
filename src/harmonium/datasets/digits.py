"""The digits that come with scikit-learn, as two views."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from harmonium.datasets._base import Dataset

# Bins of the histogram of orientations, 45 degrees each: a convention.
_ORIENTATIONS = 8


def shape_features(images: np.ndarray) -> np.ndarray:
    """Describe the shape of small images by real numbers.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Non-negative grey levels; height and width are even and at least 2.

    Returns
    -------
    ndarray of float32 of shape (n_images, height + width + 37)
        The share of ink in each row and each column, the centre of mass (2 numbers), the second moments (3), and a
        histogram of gradient orientations for each quarter of the image (4 x 8, which sum to one for each image).

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((1, 4, 4))
    >>> image[0, 1] = 1.0
    >>> shape_features(image)[0, :9].tolist()
    [0.0, 1.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 1.0]
    """
    images = np.asarray(images, dtype=np.float64)
    n_images, height, width = images.shape
    # An empty image has no ink to share out; dividing by one leaves zeros where the shares would be undefined.
    ink = images.sum(axis=(1, 2))
    share = images / np.where(ink > 0, ink, 1.0)[:, None, None]
    row_profile, column_profile = share.sum(axis=2), share.sum(axis=1)
    rows, columns = np.arange(height), np.arange(width)
    centre = np.stack([row_profile @ rows, column_profile @ columns], axis=1)
    row_offset = rows[None, :] - centre[:, :1]
    column_offset = columns[None, :] - centre[:, 1:]
    moments = np.stack(
        [
            (row_profile * row_offset**2).sum(axis=1),
            (column_profile * column_offset**2).sum(axis=1),
            np.einsum("nij,ni,nj->n", share, row_offset, column_offset),
        ],
        axis=1,
    )

    row_gradient, column_gradient = np.gradient(images, axis=(1, 2))
    strength = np.hypot(row_gradient, column_gradient)
    angle = np.mod(np.arctan2(row_gradient, column_gradient), 2 * np.pi)
    orientation = np.floor(angle / (2 * np.pi) * _ORIENTATIONS).astype(np.int64) % _ORIENTATIONS
    quarter = 2 * (rows[:, None] >= height // 2) + (columns[None, :] >= width // 2)
    cells = 4 * _ORIENTATIONS
    cell = np.arange(n_images)[:, None, None] * cells + quarter * _ORIENTATIONS + orientation
    binned = np.bincount(cell.ravel(), strength.ravel(), minlength=n_images * cells).reshape(n_images, cells)
    total = binned.sum(axis=1, keepdims=True)
    histogram = binned / np.where(total > 0, total, 1.0)
    return np.hstack([row_profile, column_profile, centre, moments, histogram]).astype(np.float32)


def load_digits_views() -> Dataset:
    """Load scikit-learn's digits as a view of counts and a view of real numbers.

    Returns
    -------
    Dataset
        Two float32 views of 1,797 digits: ``"pixels"`` (64 columns) holds whole numbers from 0 to 16, and ``"shape"``
        (53 columns) real numbers that describe the shape: shares of ink, moments and gradient orientations. The target
        is the digit. There is no split.

    Examples
    --------
    >>> digits = load_digits_views()
    >>> {name: view.shape for name, view in digits.views.items()}
    {'pixels': (1797, 64), 'shape': (1797, 53)}
    """
    bunch = load_digits()
    return Dataset(
        name="digits",
        views={"pixels": bunch.data.astype(np.float32), "shape": shape_features(bunch.images)},
        target=bunch.target.astype(np.int64),
        target_names=[str(digit) for digit in range(10)],
        split=None,
        description="Handwritten digits of 8 x 8 pixels: the pixel counts, and features of their shape.",
    )
