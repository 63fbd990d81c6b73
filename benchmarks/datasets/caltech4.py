"""Caltech-4 images: aeroplanes, faces, leopards and motorbikes."""

from __future__ import annotations

import io
import os

import numpy as np

from harmonium.core.extras import require
from harmonium.datasets._base import Dataset, archive_members, archive_path


def _scaled_size(width: int, height: int, size: int, side: str) -> tuple[int, int]:
    """Return width and height after scaling, with the proportions kept.

    Examples
    --------
    >>> _scaled_size(300, 200, 150, "longer"), _scaled_size(300, 200, 100, "shorter")
    ((150, 100), (150, 100))
    """
    reference = max(width, height) if side == "longer" else min(width, height)
    scale = size / reference
    return max(1, round(width * scale)), max(1, round(height * scale))


def load_caltech4(
    size: int | None = None,
    side: str = "longer",
    per_class: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load the photographs of Caltech-4.

    They are read from ``caltech4/caltech4.tar``; the extra ``harmonium[images]`` must be installed.

    Parameters
    ----------
    size : int or None, default=None
        Number of pixels that one side of each image is scaled to. ``None`` keeps the sizes; all images then take about
        half a gigabyte.
    side : {"longer", "shorter"}, default="longer"
        The side that ``size`` is about.
    per_class : int or None, default=None
        Number of images of each class, the first ones in the order of the file names; ``None`` means all.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"image"`` is a list of two-dimensional float32 arrays of grey levels from 0 to 1. The target is the
        class. Rows are ordered by class and file name; there is no split.

    Examples
    --------
    >>> photographs = load_caltech4(size=60, per_class=2)  # doctest: +SKIP
    >>> photographs.target_names, photographs.target.tolist()  # doctest: +SKIP
    (['airplanes', 'Faces', 'Leopards', 'Motorbikes'], [0, 0, 1, 1, 2, 2, 3, 3])
    """
    if side not in ("longer", "shorter"):
        raise ValueError(f"side must be 'longer' or 'shorter', but got {side!r}; choose one of them.")
    for name, value in (("size", size), ("per_class", per_class)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, but got {value}; give a positive number or None.")
    path = archive_path("caltech4", "caltech4.tar", data_home)
    pillow = require("PIL.Image", "Reading images")

    files: dict[str, dict[str, bytes]] = {}
    for name, content in archive_members(path):
        if name.endswith(".jpg"):
            files.setdefault(name.split("/")[-2], {})[name] = content
    # Folder names mix upper and lower case, on which the order of the classes should not depend.
    classes = sorted(files, key=str.lower)
    images: list[np.ndarray] = []
    target: list[int] = []
    for number, folder in enumerate(classes):
        for name in sorted(files[folder])[:per_class]:
            with pillow.open(io.BytesIO(files[folder][name])) as picture:
                grey = picture.convert("L")
            if size is not None:
                # The filter is antialiased: it averages over all pixels that become one when an image shrinks.
                grey = grey.resize(_scaled_size(grey.width, grey.height, size, side), pillow.Resampling.BICUBIC)
            images.append(np.asarray(grey, dtype=np.float32) / np.float32(255.0))
            target.append(number)
    return Dataset(
        name="caltech4",
        views={"image": images},
        target=np.array(target, dtype=np.int64),
        target_names=classes,
        split=None,
        description="Caltech-4: grey-level photographs of aeroplanes, faces, leopards and motorbikes.",
    )
