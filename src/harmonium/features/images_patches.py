"""Patches of images: grey levels, cutting at points of interest, and intensity normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from .images_points import DEFAULT_SCALES, InterestPoints, interest_points

__all__ = ["PATCH_SIDE", "PatchSet", "cut_patches", "grey_image", "interest_patches"]

PATCH_SIDE = 13
# A patch spans three standard deviations of the point's window on each side of the point.
_PATCH_RADIUS = 3.0
# Patches whose grey levels spread less than this are flat; dividing by the spread would only magnify rounding noise.
_FLAT = 1e-4


class PatchSet(NamedTuple):
    """Patches of one image with the place of each.

    Attributes
    ----------
    patches : ndarray of shape (n_patches, 169)
        Normalised patches as rows.
    positions : ndarray of shape (n_patches, 2)
        Row and column of the centre of each patch, in pixels.
    scales : ndarray of shape (n_patches,)
        Scale of each point, in pixels.
    detectors : ndarray of shape (n_patches,)
        Name of the detector that found each point.
    """

    patches: NDArray[np.float32]
    positions: NDArray[np.float32]
    scales: NDArray[np.float32]
    detectors: NDArray[np.str_]


def _skimage() -> ModuleType:
    """Import scikit-image when it is first needed, as most users of the library have no images."""
    try:
        import skimage
    except ImportError as error:
        raise ImportError(
            "Image features need scikit-image, which is not installed: install it with `pip install harmonium[images]`."
        ) from error
    return skimage


def grey_image(image: ArrayLike, longer_side: int | None = None) -> NDArray[np.float32]:
    """Turn an image into grey levels in [0, 1], if wanted with its longer side at a given length.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image; uint8 and uint16 are read on the range of their type, floats must lie in [0, 1].
    longer_side : int, optional
        Length in pixels of the longer side of the result; the proportions stay. The size stays as it is by default.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Grey levels as float32.

    Examples
    --------
    >>> import numpy as np
    >>> colour = np.full((20, 40, 3), 255, dtype=np.uint8)
    >>> grey = grey_image(colour, longer_side=20)
    >>> grey.shape, float(grey.max().round(3))
    ((10, 20), 1.0)
    """
    skimage = _skimage()
    given = np.asarray(image)
    is_colour = given.ndim == 3 and given.shape[-1] in (3, 4)
    if given.size == 0 or not (given.ndim == 2 or is_colour):
        raise ValueError(
            f"An image must be a non-empty array of rows x columns, or rows x columns x 3 or 4 colours, "
            f"got shape {given.shape}: pass one image at a time."
        )
    # Wider integers are refused: read on their full range, levels of 0 to 255 would all turn into black.
    if given.dtype.kind != "f" and given.dtype not in (np.bool_, np.uint8, np.uint16):
        raise ValueError(
            f"An image must be of type bool, uint8, uint16 or float, got {given.dtype}: convert it with astype first."
        )
    if given.dtype.kind == "f" and not (given.min() >= 0.0 and given.max() <= 1.0):
        raise ValueError(
            f"An image of floats must lie in [0, 1], got values from {given.min():.3g} to {given.max():.3g}: "
            f"divide by the largest possible value first."
        )
    grey = skimage.util.img_as_float32(given)
    if is_colour:
        grey = skimage.color.rgb2gray(grey[..., :3])
    if longer_side is not None:
        if longer_side < 1:
            raise ValueError(f"longer_side must be at least 1, got {longer_side}: give a length in pixels.")
        factor = longer_side / max(grey.shape)
        shape = tuple(max(1, round(length * factor)) for length in grey.shape)
        grey = skimage.transform.resize(grey, shape, order=1, anti_aliasing=factor < 1)
    return np.clip(grey, 0.0, 1.0).astype(np.float32)


def cut_patches(
    image: NDArray[np.float32], points: InterestPoints, patch_side: int = PATCH_SIDE
) -> NDArray[np.float32]:
    """Cut a patch at each point, with a size that follows its scale, and normalise its intensity.

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
    >>> from harmonium.features.images_points import interest_points
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
        Grey or colour image.
    detectors : sequence of {"harris", "hessian", "entropy"}
        Detectors to use; their patches follow one another in this order.
    max_points_per_detector : int, default=60
        The largest number of points each detector gives; the strongest are kept.
    longer_side : int, optional
        Resize the image to this length of its longer side first; positions refer to the resized image.
    scales : tuple of float
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
