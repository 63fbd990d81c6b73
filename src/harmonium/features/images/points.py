"""Points of interest of grey-level images: multi-scale Harris, multi-scale Hessian and entropy-based detectors.

Every detector computes a stack of responses, one layer a scale, and keeps the strongest local maxima. A scale is the
standard deviation in pixels of the Gaussian window in which a point was found. Derivatives and maxima are those of
scikit-image; the entropy of a window and its change with the window's size are computed here, as scikit-image has no
salient regions, and its `blob_doh` and `corner_harris` take no list of scales and give no responses to rank points by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from harmonium.features.images.reading import scikit_image

# With patches of six scales a side the finest scale gives patches of about 13 x 13 pixels: no detail is invented.
DEFAULT_SCALES: tuple[float, ...] = (2.0, 2.8, 4.0, 5.6, 8.0)

_HARRIS_SENSITIVITY = 0.05
# Smoothing before the derivatives, as a share of the window in which they are averaged (a common choice).
_HARRIS_DERIVATIVE_SHARE = 0.7
# The weights of a Sobel filter add up to 8 times those of a derivative.
_SOBEL = 8.0
_ENTROPY_LEVELS = 16
# Responses are products of squared derivatives of intensities in [0, 1]: below this they are rounding noise.
_WEAKEST_RESPONSE = 1e-7

FloatImage = NDArray[np.float32]


@dataclass(frozen=True)
class InterestPoints:
    """Hold the points of interest of one image, strongest first.

    Parameters
    ----------
    positions : ndarray of shape (n_points, 2)
        Row and column of each point, in pixels.
    scales : ndarray of shape (n_points,)
        Standard deviation in pixels of the window in which each point was found.
    responses : ndarray of shape (n_points,)
        Strength of each point; comparable within one detector only.

    Examples
    --------
    >>> import numpy as np
    >>> len(InterestPoints(np.zeros((3, 2)), np.ones(3), np.ones(3)))
    3
    """

    positions: NDArray[np.float32]
    scales: NDArray[np.float32]
    responses: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.scales)


def _harris_responses(image: FloatImage, scales: tuple[float, ...]) -> FloatImage:
    """Return the scale-normalised Harris measure of each pixel at each scale, large at corners."""
    skimage = scikit_image()
    layers = []
    for scale in scales:
        derivative_scale = _HARRIS_DERIVATIVE_SHARE * scale
        smooth = skimage.filters.gaussian(image, derivative_scale, mode="nearest")
        down2, cross, across2 = skimage.feature.structure_tensor(smooth, sigma=scale, mode="nearest", order="rc")
        measure = down2 * across2 - cross**2 - _HARRIS_SENSITIVITY * (down2 + across2) ** 2
        layers.append((derivative_scale / _SOBEL) ** 4 * measure)
    return np.array(layers, dtype=np.float32)


def _hessian_responses(image: FloatImage, scales: tuple[float, ...]) -> FloatImage:
    """Return the scale-normalised determinant of the Hessian, large at the centres of bright and dark blobs."""
    skimage = scikit_image()
    layers = []
    for scale in scales:
        down2, cross, across2 = skimage.feature.hessian_matrix(
            image, scale, mode="nearest", order="rc", use_gaussian_derivatives=True
        )
        layers.append(scale**4 * (down2 * across2 - cross**2))
    return np.array(layers, dtype=np.float32)


def _entropy_responses(image: FloatImage, scales: tuple[float, ...]) -> FloatImage:
    """Return the saliency, in the spirit of Kadir and Brady (2001), of each pixel at each scale.

    The saliency is the entropy of the histogram of the grey levels in a window around the pixel, times the change of
    that histogram as the window grows, in nats per unit of log scale: a region is salient where it is both
    unpredictable and of a size of its own.
    """
    # The change is a difference between neighbouring windows on both sides, so one window more is needed at each end.
    growth = scales[-1] / scales[-2] if len(scales) > 1 else np.sqrt(2.0)
    windows = (scales[0] / growth, *scales, scales[-1] * growth)
    levels = np.minimum((image * _ENTROPY_LEVELS).astype(np.intp), _ENTROPY_LEVELS - 1)
    # Levels that do not occur add nothing to the entropy nor to its change.
    occurring = np.unique(levels)
    indicators = (levels[None] == occurring[:, None, None]).astype(np.float32)
    entropies, changes = [], []
    earlier: FloatImage | None = None
    for window in windows:
        histogram = _window_means(indicators, window)
        entropies.append(-(histogram * np.log(np.maximum(histogram, 1e-12))).sum(axis=0))
        if earlier is not None:
            changes.append(np.abs(histogram - earlier).sum(axis=0))
        earlier = histogram
    steps = np.diff(np.log(windows))
    responses = np.empty((len(scales), *image.shape), dtype=np.float32)
    for layer in range(len(scales)):
        change = 0.5 * (changes[layer] / steps[layer] + changes[layer + 1] / steps[layer + 1])
        responses[layer] = entropies[layer + 1] * change
    return responses


def _window_means(stack: FloatImage, scale: float) -> FloatImage:
    """Average every layer in a window of the given standard deviation, by two box filters.

    Box filters cost the same at every scale; two of them are near enough to a Gaussian for smooth responses.
    """
    # Two boxes of side b have together the variance (b^2 - 1) / 6.
    side = 2 * max(1, round((np.sqrt(6.0 * scale**2 + 1.0) - 1.0) / 2.0)) + 1
    once = ndimage.uniform_filter(stack, size=(1, side, side), mode="nearest")
    return np.maximum(ndimage.uniform_filter(once, size=(1, side, side), mode="nearest"), 0.0)


# Each detector's responses, and whether a point must also be a maximum over scale. The Harris measure seldom has one,
# so that its corners are taken at each scale by itself, as "multi-scale Harris" commonly means.
DETECTORS: dict[str, tuple[Callable[[FloatImage, tuple[float, ...]], FloatImage], bool]] = {
    "harris": (_harris_responses, False),
    "hessian": (_hessian_responses, True),
    "entropy": (_entropy_responses, True),
}


def interest_points(
    image: FloatImage,
    detector: str = "hessian",
    *,
    max_points: int = 60,
    scales: tuple[float, ...] = DEFAULT_SCALES,
    border: float = 1.0,
) -> InterestPoints:
    """Find the strongest points of interest of a grey-level image.

    Parameters
    ----------
    image : ndarray of shape (n_rows, n_columns)
        Grey levels in [0, 1], as `grey_image` returns them.
    detector : {"harris", "hessian", "entropy"}, default="hessian"
        The detector: corners, blobs, or salient regions.
    max_points : int, default=60
        The largest number of points.
    scales : tuple of float, default=(2.0, 2.8, 4.0, 5.6, 8.0)
        Increasing standard deviations of the windows, in pixels.
    border : float, default=1.0
        Points nearer to an edge of the image than this many scales are left out.

    Returns
    -------
    InterestPoints
        Positions, scales and responses, strongest first.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns = np.mgrid[:64, :64]
    >>> blob = np.exp(-((rows - 20) ** 2 + (columns - 40) ** 2) / (2 * 4.0**2)).astype(np.float32)
    >>> points = interest_points(blob, "hessian", max_points=1)
    >>> points.positions.tolist(), points.scales.tolist()
    ([[20.0, 40.0]], [4.0])
    """
    if detector not in DETECTORS:
        raise ValueError(f"detector must be one of {sorted(DETECTORS)}, got {detector!r}: choose one of these.")
    if max_points < 1:
        raise ValueError(f"max_points must be at least 1, got {max_points}: give a positive number of points.")
    if len(scales) == 0 or scales[0] <= 0 or any(a >= b for a, b in pairwise(scales)):
        raise ValueError(f"scales must be positive and increasing, got {tuple(scales)}: sort them and drop repeats.")
    respond, over_scales = DETECTORS[detector]
    responses = respond(np.asarray(image, dtype=np.float32), tuple(scales))
    # Peaks come strongest first, equal ones in the order of the pixels: the same on every machine.
    layers, rows, columns = (
        scikit_image()
        .feature.peak_local_max(
            responses,
            footprint=np.ones((3 if over_scales else 1, 3, 3)),
            threshold_abs=_WEAKEST_RESPONSE,
            exclude_border=False,
        )
        .T
    )
    sizes = np.asarray(scales, dtype=np.float32)[layers]
    margin = np.minimum.reduce([rows, columns, image.shape[0] - 1 - rows, image.shape[1] - 1 - columns])
    kept = np.flatnonzero(margin >= border * sizes)[:max_points]
    positions = np.column_stack([rows[kept], columns[kept]]).astype(np.float32)
    return InterestPoints(positions, sizes[kept], responses[layers[kept], rows[kept], columns[kept]])
