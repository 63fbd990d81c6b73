"""Patches of images, cut at points of interest and normalised in brightness and contrast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from harmonium.features.images.points import DEFAULT_SCALES, InterestPoints, interest_points
from harmonium.features.images.reading import grey_image

PATCH_SIDE = 13
# A patch spans three standard deviations of the point's window on each side of the point.
_PATCH_RADIUS = 3.0
# Patches whose grey levels spread less than this are flat; dividing by the spread would only magnify rounding noise.
_FLAT = 1e-4


class PatchSet(NamedTuple):
    """Hold the patches of one image with the place of each.

    Parameters
    ----------
    patches : ndarray of shape (n_patches, patch_side ** 2)
        Normalised patches as rows.
    positions : ndarray of shape (n_patches, 2)
        Row and column of the centre of each patch, in pixels.
    scales : ndarray of shape (n_patches,)
        Scale of each point, in pixels.
    detectors : ndarray of shape (n_patches,)
        Name of the detector that found each point.

    Examples
    --------
    >>> import numpy as np
    >>> PatchSet(np.zeros((1, 169)), np.zeros((1, 2)), np.ones(1), np.array(["harris"])).patches.shape
    (1, 169)
    """

    patches: NDArray[np.float32]
    positions: NDArray[np.float32]
    scales: NDArray[np.float32]
    detectors: NDArray[np.str_]


def cut_patches(
    image: NDArray[np.float32], points: InterestPoints, patch_side: int = PATCH_SIDE
) -> NDArray[np.float32]:
    """Cut a normalised patch at each point, with a size that follows its scale.

    Parameters
    ----------
    image : ndarray of shape (n_rows, n_columns)
        Grey levels in [0, 1].
    points : InterestPoints
        Points found in the image. Patches that reach over an edge see the image mirrored there.
    patch_side : int, default=13
        Side of the resized patches in pixels.

    Returns
    -------
    ndarray of shape (n_points, patch_side ** 2)
        Patches as rows of zero mean and unit variance; flat patches are all zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.features.images import interest_points
    >>> image = np.zeros((48, 48), dtype=np.float32)
    >>> image[20:28, 20:28] = 1.0
    >>> patches = cut_patches(image, interest_points(image, "hessian", max_points=3))
    >>> patches.shape[1], bool(np.allclose(patches.std(axis=1), 1.0, atol=1e-3))
    (169, True)
    """
    patches = np.empty((len(points), patch_side * patch_side), dtype=np.float32)
    offsets = np.linspace(-1.0, 1.0, patch_side)
    row_offsets, column_offsets = (grid.ravel() for grid in np.meshgrid(offsets, offsets, indexing="ij"))
    for scale in np.unique(points.scales):
        chosen = np.flatnonzero(points.scales == scale)
        radius = _PATCH_RADIUS * float(scale)
        step = 2.0 * radius / (patch_side - 1)
        # Coarse sampling must be preceded by smoothing, or fine texture shows up as false coarse structure.
        blur = 0.5 * np.sqrt(max(step**2 - 1.0, 0.0))
        smooth = ndimage.gaussian_filter(image, blur, mode="reflect") if blur > 0 else image
        rows = points.positions[chosen, 0, None] + radius * row_offsets
        columns = points.positions[chosen, 1, None] + radius * column_offsets
        patches[chosen] = ndimage.map_coordinates(smooth, [rows, columns], order=1, mode="reflect")
    patches -= patches.mean(axis=1, keepdims=True)
    spread = patches.std(axis=1, keepdims=True)
    return np.where(spread > _FLAT, patches / np.maximum(spread, _FLAT), np.float32(0.0))


def interest_patches(
    image: ArrayLike,
    detectors: Sequence[str] = ("harris", "hessian", "entropy"),
    max_points_per_detector: int = 60,
    *,
    longer_side: int | None = None,
    scales: tuple[float, ...] = DEFAULT_SCALES,
    patch_side: int = PATCH_SIDE,
) -> PatchSet:
    """Find the points of interest of an image and cut a normalised patch at each.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image, as `colour_image` takes it.
    detectors : sequence of {"harris", "hessian", "entropy"}, default=("harris", "hessian", "entropy")
        Detectors to use; their patches follow one another in this order.
    max_points_per_detector : int, default=60
        The largest number of points each detector gives; the strongest are kept.
    longer_side : int, optional
        Resize the image to this length of its longer side first; positions refer to the resized image.
    scales : tuple of float, default=(2.0, 2.8, 4.0, 5.6, 8.0)
        Increasing scales in pixels at which points are looked for.
    patch_side : int, default=13
        Side of the resized patches in pixels.

    Returns
    -------
    PatchSet
        Patches, positions, scales and names of the detectors.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((64, 64))
    >>> image[20:40, 24:44] = 1.0
    >>> found = interest_patches(image, ("harris",), max_points_per_detector=4)
    >>> found.patches.shape, found.positions.shape
    ((4, 169), (4, 2))
    """
    if isinstance(detectors, str) or len(detectors) == 0:
        raise ValueError(f"detectors must be a sequence of names, got {detectors!r}: pass for example ('harris',).")
    if patch_side < 2:
        raise ValueError(f"patch_side must be at least 2, got {patch_side}: give a larger side.")
    grey = grey_image(image, longer_side)
    found = [interest_points(grey, name, max_points=max_points_per_detector, scales=scales) for name in detectors]
    points = InterestPoints(
        np.concatenate([each.positions for each in found]),
        np.concatenate([each.scales for each in found]),
        np.concatenate([each.responses for each in found]),
    )
    names = np.repeat(np.asarray(detectors, dtype=np.str_), [len(each) for each in found])
    return PatchSet(cut_patches(grey, points, patch_side), points.positions, points.scales, names)
