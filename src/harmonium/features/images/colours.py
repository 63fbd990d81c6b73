"""Colour histograms: how much of an image has which colour."""

from __future__ import annotations

from colorsys import hsv_to_rgb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harmonium.core.validation import check_whole
from harmonium.features.images.reading import colour_image, scikit_image


def colour_histogram(image: ArrayLike, n_levels: int = 4) -> NDArray[np.float32]:
    """Return the share of the pixels of an image that has each colour.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image, as `colour_image` takes it.
    n_levels : int, default=4
        Red, green and blue are told apart at this many equally wide levels each.

    Returns
    -------
    ndarray of shape (n_levels ** 3,)
        Shares as float32 that add up to 1, in the order of `colour_names`.

    Examples
    --------
    >>> import numpy as np
    >>> flag = np.zeros((2, 3, 3))
    >>> flag[:, 0, 0] = flag[:, 1] = 1.0  # a red, a white and a black stripe
    >>> shares = colour_histogram(flag, n_levels=2)
    >>> {name: round(float(share), 2) for name, share in zip(colour_names(2), shares) if share}
    {'#404040': 0.33, '#bf4040': 0.33, '#bfbfbf': 0.33}
    """
    check_whole("colour_histogram", "n_levels", n_levels, remedy="4 is usual")
    levels = np.minimum((colour_image(image).reshape(-1, 3) * n_levels).astype(np.intp), n_levels - 1)
    cells = np.ravel_multi_index(tuple(levels.T), (n_levels,) * 3)
    return (np.bincount(cells, minlength=n_levels**3) / len(cells)).astype(np.float32)


def colour_names(n_levels: int = 4) -> list[str]:
    """Name the colours of `colour_histogram` by the middle of each, as on web pages.

    Parameters
    ----------
    n_levels : int, default=4
        Number of levels of red, green and blue each.

    Returns
    -------
    list of str
        ``n_levels ** 3`` names; blue changes fastest, red slowest.

    Examples
    --------
    >>> colour_names(2)[:3]
    ['#404040', '#4040bf', '#40bf40']
    """
    check_whole("colour_names", "n_levels", n_levels, remedy="4 is usual")
    middles = [round(255 * (level + 0.5) / n_levels) for level in range(n_levels)]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red in middles for green in middles for blue in middles]


# Hues, saturations and values that are told apart: a convention; hue is what people see first.
_HUES, _SATURATIONS, _VALUES = 8, 3, 3


def hsv_histogram(image: ArrayLike) -> NDArray[np.float32]:
    """Return the share of pixels that has each hue, saturation and value.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image, as `colour_image` takes it.

    Returns
    -------
    ndarray of shape (72,)
        Shares of 8 hues, 3 saturations and 3 values as float32 that add up to 1, in the order of `hsv_names`.

    Examples
    --------
    >>> import numpy as np
    >>> flag = np.zeros((2, 2, 3))
    >>> flag[:, 0, 0] = 1.0  # a red and a black stripe
    >>> shares = hsv_histogram(flag)
    >>> {name: float(share) for name, share in zip(hsv_names(), shares) if share}
    {'#2a2323': 0.5, '#d42323': 0.5}
    """
    pixels = scikit_image().color.rgb2hsv(colour_image(image)).reshape(-1, 3)
    pixels[:, 0] = (pixels[:, 0] + 0.5 / _HUES) % 1.0  # red is in the middle of the first hue
    sizes = (_HUES, _SATURATIONS, _VALUES)
    # what is as bright as can be belongs to the brightest level
    levels = np.minimum((pixels * sizes).astype(np.intp), np.array(sizes) - 1)
    cells = np.ravel_multi_index(tuple(levels.T), sizes)
    return (np.bincount(cells, minlength=_HUES * _SATURATIONS * _VALUES) / len(cells)).astype(np.float32)


def hsv_names() -> list[str]:
    """Name the colours of `hsv_histogram` by the middle of each, as on web pages.

    Returns
    -------
    list of str
        72 names; value changes fastest, hue slowest.

    Examples
    --------
    >>> len(hsv_names()), hsv_names()[0]
    (72, '#2a2323')
    """
    names = []
    for hue in range(_HUES):
        for saturation in range(_SATURATIONS):
            for value in range(_VALUES):
                middle = hue / _HUES, (saturation + 0.5) / _SATURATIONS, (value + 0.5) / _VALUES
                red, green, blue = (round(255 * level) for level in hsv_to_rgb(*middle))
                names.append(f"#{red:02x}{green:02x}{blue:02x}")
    return names
