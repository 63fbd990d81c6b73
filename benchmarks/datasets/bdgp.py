"""Fruit-fly embryos: visual words of their images, and terms that describe them."""

from __future__ import annotations

import os

import numpy as np
from scipy.io import loadmat

from harmonium.datasets._base import Dataset, archive_path


def load_bdgp(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the embryos of the Berkeley Drosophila Genome Project.

    They are read from ``bdgp/BDGP.mat``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Two float32 views of 2,500 embryos. ``"image"`` (1,750 columns) holds weights of visual words: non-negative,
        mostly zero, each row of length one. ``"text"`` (79 columns) holds the presence (0 or 1) of terms of a
        controlled vocabulary. The target is the class, with 500 embryos each; the file numbers the classes but does not
        name them. There is no split.

    Raises
    ------
    ValueError
        If the views and the classes differ in their number of embryos, or the terms are not binary.

    Notes
    -----
    Many terms belong to a single class, so that the text nearly always tells the class and the image less often.

    Examples
    --------
    >>> embryos = load_bdgp()  # doctest: +SKIP
    >>> {name: view.shape for name, view in embryos.views.items()}  # doctest: +SKIP
    {'image': (2500, 1750), 'text': (2500, 79)}
    """
    content = loadmat(archive_path("bdgp", "BDGP.mat", data_home))
    truth = content["truth"].ravel()
    # The file holds one embryo per column.
    image, text = (np.ascontiguousarray(view.T, dtype=np.float32) for view in content["data"][0])
    if not len(image) == len(text) == len(truth):
        raise ValueError(
            f"BDGP.mat must list the same embryos in both views and in truth, but has {len(image)} images, "
            f"{len(text)} texts and {len(truth)} classes; put the original file in place."
        )
    if not np.isin(text, (0.0, 1.0)).all():
        raise ValueError(
            f"The terms of BDGP.mat must be 0 or 1, but range from {text.min():g} to {text.max():g}; put the original "
            "file in place."
        )
    numbers, target = np.unique(truth, return_inverse=True)
    return Dataset(
        name="bdgp",
        views={"image": image, "text": text},
        target=target.astype(np.int64),
        target_names=[str(number) for number in numbers],
        split=None,
        description="Berkeley Drosophila Genome Project: visual words and terms of 2,500 fruit-fly embryos.",
    )
