"""Texts with several labels each, many of them rare: messages of Enron and medical reports."""

from __future__ import annotations

import json
import os

import numpy as np
from scipy import sparse

from harmonium.datasets._base import Dataset, archive_path

PARTS = ("train", "test")


def load_enron(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load messages of Enron's employees with the labels that students gave them.

    They are read from ``enron/train_words.npz``, ``train_labels.npz``, ``test_words.npz``, ``test_labels.npz`` and
    ``names.json``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"words"`` is a float32 csr_array (1,702 x 1,001) of the presence of words, 0 or 1. The target is an int8
        array (1,702 x 53) with a 1 for each label; ``target_names`` holds the labels. The 1,123 training rows come
        first, then the 579 test rows.

    Notes
    -----
    One label occurs in no training message.

    Examples
    --------
    >>> messages = load_enron()  # doctest: +SKIP
    >>> messages.views["words"].shape, messages.target.shape  # doctest: +SKIP
    ((1702, 1001), (1702, 53))
    """
    return _tagged_texts("enron", "Messages of Enron's employees, with one to twelve of 53 labels each.", data_home)


def load_medical(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load reports of radiologists with the codes of the diseases in them.

    They are read from ``medical/train_words.npz``, ``train_labels.npz``, ``test_words.npz``, ``test_labels.npz`` and
    ``names.json``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"words"`` is a float32 csr_array (978 x 1,449) of the presence of words, 0 or 1. The target is an int8
        array (978 x 45) with a 1 for each code; ``target_names`` holds the codes. The 333 training rows come first,
        then the 645 test rows.

    Notes
    -----
    Seven codes occur in no training report.

    Examples
    --------
    >>> reports = load_medical()  # doctest: +SKIP
    >>> reports.views["words"].shape, reports.target.shape  # doctest: +SKIP
    ((978, 1449), (978, 45))
    """
    return _tagged_texts("medical", "Reports of radiologists, with one to three of 45 codes each.", data_home)


def _tagged_texts(folder: str, description: str, home: str | os.PathLike[str] | None) -> Dataset:
    names = json.loads(archive_path(folder, "names.json", home).read_text(encoding="utf-8"))
    views, labels = (
        [sparse.csr_array(sparse.load_npz(archive_path(folder, f"{part}_{kind}.npz", home))) for part in PARTS]
        for kind in ("words", "labels")
    )
    columns = (len(names["words"]), len(names["labels"]))
    fits = all(
        (words.shape[1], tags.shape[1]) == columns and words.shape[0] == tags.shape[0]
        for words, tags in zip(views, labels, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The files of {folder} must have a column for each name and as many rows of labels as of words, but have "
            "not; put the original files in place."
        )
    return Dataset(
        name=folder,
        views={"words": sparse.csr_array(sparse.vstack(views, format="csr"), dtype=np.float32)},
        target=sparse.vstack(labels).toarray().astype(np.int8),
        target_names=names["labels"],
        split=np.repeat(PARTS, [part.shape[0] for part in views]),
        description=description,
        feature_names={"words": names["words"]},
    )
