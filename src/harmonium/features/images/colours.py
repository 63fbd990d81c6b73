"""How much of an image has which colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harmonium.features.images.reading import colour_image
from harmonium.validation import check_whole

__all__ = ["colour_histogram", "colour_names"]


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
