"""Windows of an image on a grid, each described by its histograms of oriented gradients (HOG).

The histograms are computed once for an image, on a fine grid of cells; a window is cut into the same number of parts
whatever its size, and each part is the mean of its cells. So windows of all sizes can be compared, and hundreds of them
cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harmonium.core.extras import require
from harmonium.features.images.reading import grey_image

__all__ = ["hog_bags", "hog_windows"]

DEFAULT_SHARES = (0.4, 0.6, 0.8, 1.0)
_ORIENTATIONS = 9


def hog_windows(
    image: ArrayLike,
    *,
    shares: Sequence[float] = DEFAULT_SHARES,
    longer_side: int = 200,
    cell: int = 8,
    parts: int = 4,
    step: float = 0.25,
    strength: bool = False,
    max_windows: int = 350,
    boxes: ArrayLike | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Describe the windows of an image by histograms of oriented gradients.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3 or 4)
        Grey or colour image, as `harmonium.features.images.colour_image` takes it.
    shares : sequence of float, default=(0.4, 0.6, 0.8, 1.0)
        Heights and widths of windows as shares of those of the image; all pairs are used.
    longer_side : int, default=200
        Length in pixels that the longer side of the image is brought to.
    cell : int, default=8
        Side of a cell in pixels; windows lie on the grid of cells.
    parts : int, default=4
        A window is described by ``parts`` × ``parts`` histograms.
    step : float, default=0.25
        Windows move by about this share of their size, so that they reach from edge to edge.
    strength : bool, default=False
        Add how strong the edges of each part are, which the histograms do not tell: log(1 + g), where g is the mean
        length of the gradient there as a multiple of the mean over the image.
    max_windows : int, default=350
        Largest number of windows; if there are more, evenly spaced ones are kept.
    boxes : array-like of shape (n_windows, 4) or None, default=None
        Windows of your own, such as proposals of objects, in place of those on a grid: top, left, bottom, right in
        pixels of the image as given. They are brought to the grid of cells, with at least ``parts`` cells each way;
        ``shares``, ``step`` and ``max_windows`` then do not count.

    Returns
    -------
    features : ndarray of shape (n_windows, 9 * parts ** 2), or 10 * parts ** 2 columns with ``strength``
        Histograms as float32, scaled so that their squares add up to 1 in each window, then strengths.
    boxes : ndarray of shape (n_windows, 4)
        Top, left, bottom, right in pixels of the image as given, the last two exclusive.

    See Also
    --------
    hog_bags : The same for several images.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((60, 90))
    >>> image[20:40, 30:60] = 1
    >>> features, boxes = hog_windows(image)
    >>> features.shape[1], boxes[-1].tolist()
    (144, [0.0, 0.0, 60.0, 90.0])
    """
    if not shares or min(shares) <= 0 or max(shares) > 1:
        raise ValueError(f"shares must lie above 0 and at most 1; got {shares!r}; (0.5, 1.0) is a beginning.")
    for name, value in (("cell", cell), ("parts", parts), ("max_windows", max_windows)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}; correct it.")
    if not 0 < step <= 1:
        raise ValueError(f"step must lie above 0 and at most 1; got {step!r}; 0.25 is usual.")
    height, width = np.asarray(image).shape[:2]
    grey = grey_image(image, longer_side)
    if min(grey.shape) < cell * (parts + 1):
        raise ValueError(
            f"An image must have at least {parts + 1} cells of {cell} pixels each way; got {grey.shape} pixels after "
            "scaling; raise longer_side or lower cell or parts."
        )
    hog = require("skimage.feature", "hog_windows").hog
    blocks = hog(grey, _ORIENTATIONS, (cell, cell), (2, 2), block_norm="L2-Hys", feature_vector=False)
    # a block holds four cells with one norm; their mean is one histogram for each place of the grid
    cells = blocks.mean(axis=(2, 3))
    scale = np.array([height / cells.shape[0], width / cells.shape[1]] * 2)
    if boxes is None:
        places = _grid(cells.shape[0], cells.shape[1], shares, parts, step)
        places = places[np.linspace(0, len(places) - 1, min(max_windows, len(places))).round().astype(np.int64)]
    else:
        places = _on_grid(_checked(boxes, height, width) / scale, cells.shape[:2], parts)
    features = _pooled(cells, places, parts)
    features /= np.linalg.norm(features, axis=1, keepdims=True) + 1e-6
    if strength:
        features = np.hstack([features, np.log1p(_pooled(_strengths(grey, cell), places, parts))])
    return features.astype(np.float32), places * scale


def hog_bags(images: Iterable[ArrayLike], **settings: Any) -> tuple[list[NDArray[np.float32]], list[NDArray]]:
    """Describe the windows of several images, as `Bags.from_list` takes them.

    Parameters
    ----------
    images : iterable of array-like
        The images.
    **settings
        Settings of `hog_windows`, the same for all images.

    Returns
    -------
    features : list of ndarray
        The features of the windows of each image.
    boxes : list of ndarray
        Their boxes.

    See Also
    --------
    harmonium.weak.Bags : Samples that are sets of candidates.

    Examples
    --------
    >>> import numpy as np
    >>> features, boxes = hog_bags([np.eye(60), np.eye(80)])
    >>> len(features), len(boxes)
    (2, 2)
    """
    pairs = [hog_windows(image, **settings) for image in images]
    return [features for features, _ in pairs], [boxes for _, boxes in pairs]


def _grid(height: int, width: int, shares: Sequence[float], parts: int, step: float) -> NDArray[np.int64]:
    """All windows (top, left, bottom, right) in cells, small ones first."""

    def spans(length: int) -> list[tuple[int, int]]:
        found = []
        for share in sorted(shares):
            size = min(length, max(parts, round(share * length)))
            steps = max(1, round((length - size) / (step * size))) + (size < length)
            found += [(int(begin), int(begin) + size) for begin in np.linspace(0, length - size, steps).round()]
        return list(dict.fromkeys(found))

    rows, columns = np.array(spans(height)), np.array(spans(width))
    grid = np.empty((len(rows), len(columns), 4), dtype=np.int64)
    grid[..., 0::2], grid[..., 1::2] = rows[:, None], columns[None]
    return grid.reshape(-1, 4)


def _checked(boxes: ArrayLike, height: int, width: int) -> NDArray[np.float64]:
    """Return boxes as numbers; refuse what does not lie in the image."""
    result = np.asarray(boxes, dtype=np.float64)
    if result.ndim != 2 or result.shape[1] != 4 or len(result) == 0:
        raise ValueError(
            f"boxes must have a row of top, left, bottom, right for each window; got shape {result.shape}; correct it."
        )
    inside = (result[:, :2] >= 0).all() and (result[:, 2:] <= [height, width]).all()
    if not inside or not (result[:, 2:] > result[:, :2]).all():
        raise ValueError(
            f"boxes must lie in the image of {height} x {width} pixels, with bottom > top and right > left; got one "
            "that does not; cut it off at the border."
        )
    return result


def _on_grid(boxes: NDArray[np.float64], shape: tuple[int, ...], parts: int) -> NDArray[np.int64]:
    """Bring boxes, in units of cells, to whole cells within the grid, and to at least ``parts`` of them each way."""
    result = boxes.round().astype(np.int64)
    for first, last, length in ((0, 2, shape[0]), (1, 3, shape[1])):
        lacking = np.maximum(0, parts - (result[:, last] - result[:, first]))
        result[:, first] = np.clip(result[:, first] - lacking // 2, 0, length - parts)
        result[:, last] = np.clip(np.maximum(result[:, last], result[:, first] + parts), parts, length)
    return result


def _strengths(grey: NDArray[np.float32], cell: int) -> NDArray[np.float64]:
    """Mean length of the gradient in blocks of two by two cells, as a multiple of the image's."""
    length = np.hypot(*np.gradient(grey.astype(np.float64)))
    n_rows, n_columns = (side // cell for side in grey.shape)
    whole = length[: n_rows * cell, : n_columns * cell].reshape(n_rows, cell, n_columns, cell).mean(axis=(1, 3))
    pairs = (whole[1:] + whole[:-1]) / 2
    blocks = (pairs[:, 1:] + pairs[:, :-1]) / 2
    return (blocks / max(length.mean(), 1e-6))[..., None]


def _pooled(cells: NDArray, places: NDArray[np.int64], parts: int) -> NDArray[np.float64]:
    """Mean of the cells of each part of each window, from sums over all cells above and to the left."""
    sums = np.pad(cells.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0), (0, 0)))
    steps = np.linspace(0, 1, parts + 1)
    rows = (places[:, :1] + (places[:, 2:3] - places[:, :1]) * steps).round().astype(np.int64)
    columns = (places[:, 1:2] + (places[:, 3:] - places[:, 1:2]) * steps).round().astype(np.int64)
    corners = sums[rows[:, :, None], columns[:, None, :]]
    totals = corners[:, 1:, 1:] - corners[:, :-1, 1:] - corners[:, 1:, :-1] + corners[:, :-1, :-1]
    areas = np.diff(rows, axis=1)[:, :, None] * np.diff(columns, axis=1)[:, None, :]
    return (totals / areas[..., None]).reshape(len(places), -1)
