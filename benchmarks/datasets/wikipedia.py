"""Wikipedia image-text pairs: a picture, and the section of an article that surrounds it."""

from __future__ import annotations

import os

import numpy as np
from scipy.io import loadmat

from harmonium.datasets._base import Dataset, archive_path

# File name of the list of each part, and suffix of its variables in the feature file.
_PARTS = {"train": ("trainset_txt_img_cat.list", "tr"), "test": ("testset_txt_img_cat.list", "te")}


def load_wikipedia(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the image-text pairs of Wikipedia's featured articles.

    They are read from ``wikipedia/raw_features.mat`` and the lists beside it.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Two float32 views of 2,866 pairs, whose rows sum to one: ``"image"`` (128 columns) holds shares of visual words,
        and ``"text"`` (10 columns) shares of the topics of a topic model. The target is the category. The 2,173
        training rows come first, then the 693 test rows, in the order of the lists.

    Raises
    ------
    ValueError
        If a list does not have one line for each row of the features.

    Examples
    --------
    >>> pairs = load_wikipedia()  # doctest: +SKIP
    >>> {name: view.shape for name, view in pairs.views.items()}  # doctest: +SKIP
    {'image': (2866, 128), 'text': (2866, 10)}
    """
    path = archive_path("wikipedia", "raw_features.mat", data_home)
    names = archive_path("wikipedia", "categories.list", data_home).read_text().split()
    features = loadmat(path)
    images: list[np.ndarray] = []
    texts: list[np.ndarray] = []
    target: list[int] = []
    split: list[str] = []
    for part, (filename, suffix) in _PARTS.items():
        lines = archive_path("wikipedia", filename, data_home).read_text().splitlines()
        image, text = features[f"I_{suffix}"], features[f"T_{suffix}"]
        if not len(image) == len(text) == len(lines):
            raise ValueError(
                f"{filename} must have a line for each row of the features, but has {len(lines)} lines for "
                f"{len(image)} images and {len(text)} texts; put the original files in place."
            )
        images.append(image)
        texts.append(text)
        # A line names the text, the image and the category, which is counted from 1.
        target.extend(int(line.split()[2]) - 1 for line in lines)
        split.extend([part] * len(lines))
    return Dataset(
        name="wikipedia",
        views={
            "image": np.concatenate(images).astype(np.float32),
            "text": np.concatenate(texts).astype(np.float32),
        },
        target=np.array(target, dtype=np.int64),
        target_names=names,
        split=np.array(split),
        description="Wikipedia featured articles: visual words of a picture and topic shares of the text around it.",
    )
