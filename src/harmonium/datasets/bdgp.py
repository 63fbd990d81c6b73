"""Fruit-fly embryos: visual words of their images, and terms that describe them."""

from __future__ import annotations

import os

import numpy as np
from scipy.io import loadmat

from harmonium.datasets._base import Dataset, archive_path


def load_bdgp(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the Berkeley Drosophila Genome Project embryos from ``bdgp/BDGP.mat``.

    Parameters
    ----------
    data_home : path, optional
        Folder of the data sets, by default that named by ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Two float32 views: ``"image"`` (2,500 x 1,750) holds weights of visual words, not negative, mostly zero and
        of length one in each row; ``"text"`` (2,500 x 79) the presence (0 or 1) of terms of a controlled vocabulary.
        The target is the number of the class, 500 rows each; the file numbers the classes but does not name them.
        There is no split.

    Raises
    ------
    ValueError
        If the views and the classes do not list the same number of embryos, or the terms are not binary.

    Notes
    -----
    Many terms belong to one class alone, so that the text tells the class almost surely, and the image less so.
    """
    content = loadmat(archive_path("bdgp", "BDGP.mat", data_home))
    truth = content["truth"].ravel()
    # The file stores one embryo a column.
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
