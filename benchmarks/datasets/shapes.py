"""SYSU-Shapes: photographs of five kinds of vehicles, with a box around each vehicle."""

from __future__ import annotations

import io
import os

import numpy as np
from scipy.io import loadmat

from benchmarks.datasets.caltech4 import _scaled_size
from harmonium.core.extras import require
from harmonium.datasets._base import Dataset, archive_members, archive_path


def load_shapes(
    size: int | None = None, per_class: int | None = None, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load the photographs of SYSU-Shapes with the boxes of their objects.

    They are read from ``shapes/sysu-shapes.tar``; the extra ``harmonium[images]`` must be installed.

    Parameters
    ----------
    size : int or None, default=None
        Number of pixels that the longer side of each image is scaled to; boxes are scaled with it. ``None`` keeps the
        sizes.
    per_class : int or None, default=None
        Number of images of each class, the first ones in the order of the file names; ``None`` means all.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"image"`` is a list of two-dimensional float32 arrays of grey levels from 0 to 1. View ``"boxes"`` is a
        list of arrays of shape (n_objects, 4): top, left, bottom and right of each object in pixels, the last two
        exclusive. The target is the class. Rows are ordered by class and file name; there is no split.

    Examples
    --------
    >>> photographs = load_shapes(size=100, per_class=1)  # doctest: +SKIP
    >>> photographs.target_names, photographs.views["boxes"][0].shape  # doctest: +SKIP
    (['airplane', 'bicycle', 'boat', 'car', 'motorbike'], (1, 4))
    """
    for name, value in (("size", size), ("per_class", per_class)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, but got {value}; give a positive number or None.")
    path = archive_path("shapes", "sysu-shapes.tar", data_home)
    pillow = require("PIL.Image", "Reading images")
    files = {name: content for name, content in archive_members(path) if name.endswith((".jpg", ".mat"))}
    names: dict[str, list[str]] = {}
    for name in sorted(files):
        if name.endswith(".jpg"):
            names.setdefault(name.split("/")[0], []).append(name)
    images: list[np.ndarray] = []
    boxes: list[np.ndarray] = []
    target: list[int] = []
    for number, chosen in enumerate(names.values()):
        for name in chosen[:per_class]:
            with pillow.open(io.BytesIO(files[name])) as picture:
                grey = picture.convert("L")
            height, width = grey.height, grey.width
            if size is not None:
                grey = grey.resize(_scaled_size(width, height, size, "longer"), pillow.Resampling.BICUBIC)
            annotation = files[name.replace("/images/", "/annotations/").removesuffix(".jpg") + ".mat"]
            scale = np.array([grey.height / height, grey.width / width] * 2)
            images.append(np.asarray(grey, dtype=np.float32) / np.float32(255.0))
            boxes.append(_read_boxes(annotation, height, width) * scale)
            target.append(number)
    return Dataset(
        name="shapes",
        views={"image": images, "boxes": boxes},
        target=np.array(target, dtype=np.int64),
        target_names=list(names),
        split=None,
        description="SYSU-Shapes: grey-level photographs of vehicles of five kinds, with the box of every one.",
    )


def _read_boxes(annotation: bytes, height: int, width: int) -> np.ndarray:
    """Return the boxes of all objects; the file has their first and last row and column, counted from 1."""
    content = loadmat(io.BytesIO(annotation), squeeze_me=True, struct_as_record=False)
    corners = np.array([np.ravel(item.box_coord) for item in np.atleast_1d(content["object"])], dtype=np.float64)
    top, bottom, left, right = corners.T
    result = np.stack([top - 1, left - 1, bottom, right], axis=1)
    # a few boxes extend beyond the edge of their image by a pixel or two
    return np.clip(result, 0, [height, width, height, width])
