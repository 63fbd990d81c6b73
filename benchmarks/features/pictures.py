"""Photographs as five views of numbers: edges, texture, pixels, grey levels and filters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SIDE, SMALL, PARTS = 64, 12, 16  # pixels of a side, of the small copy, and of a part
GREY_LEVELS, PATTERNS = 24, 256
FREQUENCIES, ANGLES = (0.1, 0.25), (0, 45, 90, 135)


def picture_views(pictures: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """Return five views of grey photographs, a row for each; needs scikit-image."""
    from skimage.feature import hog, local_binary_pattern
    from skimage.filters import gabor
    from skimage.transform import resize

    views: dict[str, list[np.ndarray]] = {name: [] for name in ("edges", "texture", "pixels", "grey", "filters")}
    for picture in pictures:
        square = resize(picture, (SIDE, SIDE), anti_aliasing=True)
        patterns = local_binary_pattern((square * 255).astype(np.uint8), 8, 1, "default").astype(int)
        waves = [gabor(square, one, theta=np.deg2rad(angle))[0] for one in FREQUENCIES for angle in ANGLES]
        parts = np.abs(waves).reshape(len(waves), SIDE // PARTS, PARTS, SIDE // PARTS, PARTS)
        views["edges"].append(hog(square, pixels_per_cell=(PARTS, PARTS), cells_per_block=(1, 1)))
        views["texture"].append(np.bincount(patterns.ravel(), minlength=PATTERNS) / patterns.size)
        views["pixels"].append(resize(picture, (SMALL, SMALL), anti_aliasing=True).ravel())
        views["grey"].append(np.histogram(square, GREY_LEVELS, (0, 1))[0] / square.size)
        views["filters"].append(parts.mean(axis=(2, 4)).ravel())
    return {name: np.array(rows, dtype=np.float32) for name, rows in views.items()}
