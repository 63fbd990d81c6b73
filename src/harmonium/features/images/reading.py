"""Images of any usual type as arrays of colours or grey levels between 0 and 1."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harmonium.core.extras import require

# Pictures of more pixels are refused, as a small file may claim to be a huge picture: a convention.
_MOST_PIXELS = 50_000_000


def scikit_image() -> Any:
    """Import scikit-image, or say how to install it.

    It is imported when it is first needed, as most users of the library have no images.

    Returns
    -------
    module
        The package ``skimage``.

    Examples
    --------
    >>> scikit_image().__name__
    'skimage'
    """
    return require("skimage", "An image feature")


def colour_image(image: ArrayLike) -> NDArray[np.float32]:
    """Return the red, green and blue of an image, between 0 and 1.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image of type bool, uint8, uint16 or float. Integers are read on the range of their type, floats
        must lie in [0, 1]. A fourth channel (opacity) is left out.

    Returns
    -------
    ndarray of shape (n_rows, n_columns, 3)
        The colours as float32; those of a grey image are its grey level three times.

    Examples
    --------
    >>> import numpy as np
    >>> colour_image(np.array([[0, 255]], dtype=np.uint8)).tolist()
    [[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]
    """
    levels = _levels(image)
    return levels[..., :3] if levels.ndim == 3 else np.repeat(levels[..., None], 3, axis=2)


def decoded_image(content: bytes) -> NDArray[np.uint8]:
    """Return the red, green and blue of a picture file, on white.

    Parameters
    ----------
    content : bytes
        Content of a PNG, JPEG, GIF, … file.

    Returns
    -------
    ndarray of uint8 of shape (n_rows, n_columns, 3)
        The picture.

    Raises
    ------
    ValueError
        If it is no picture, or one of more than 50 million pixels.

    Examples
    --------
    >>> decoded_image(b"no picture")
    Traceback (most recent call last):
    ...
    ValueError: A picture must be the content of an image file; it is not...
    """
    pillow = require("PIL.Image", "Reading pictures")
    try:
        with pillow.open(BytesIO(content)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise ValueError(f"{picture.width} x {picture.height} pixels are too many")
            drawn = picture.convert("RGBA")
    except Exception as error:  # decoders raise whatever they like
        reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
        raise ValueError(
            f"A picture must be the content of an image file; it is not ({reason}); replace it."
        ) from error
    white = pillow.new("RGBA", drawn.size, "white")
    return np.asarray(pillow.alpha_composite(white, drawn).convert("RGB"))


def grey_image(image: ArrayLike, longer_side: int | None = None) -> NDArray[np.float32]:
    """Return the grey levels of an image, between 0 and 1.

    Parameters
    ----------
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, 3 or 4)
        Grey or colour image, as `colour_image` takes it.
    longer_side : int, optional
        Length in pixels to which the longer side is brought, the proportions being kept. By default the size stays as
        it is.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The grey levels as float32.

    Examples
    --------
    >>> import numpy as np
    >>> colour = np.full((20, 40, 3), 255, dtype=np.uint8)
    >>> grey = grey_image(colour, longer_side=20)
    >>> grey.shape, float(grey.max().round(3))
    ((10, 20), 1.0)
    """
    skimage = scikit_image()
    grey = _levels(image)
    if grey.ndim == 3:
        grey = skimage.color.rgb2gray(grey[..., :3])
    if longer_side is not None:
        if longer_side < 1:
            raise ValueError(f"longer_side must be at least 1, got {longer_side}: give a length in pixels.")
        factor = longer_side / max(grey.shape)
        shape = tuple(max(1, round(length * factor)) for length in grey.shape)
        grey = skimage.transform.resize(grey, shape, order=1, anti_aliasing=factor < 1)
    return np.clip(grey, 0.0, 1.0).astype(np.float32)


def _levels(image: ArrayLike) -> NDArray[np.float32]:
    """Check an image and bring its values to [0, 1]."""
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
    return np.asarray(scikit_image().util.img_as_float32(given))
