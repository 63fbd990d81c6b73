"""Patches and visual-word counts of the Caltech-4 images, for the object-recognition benchmark.

The patches are cached in `benchmarks/cache/`; making them takes a few minutes the first time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import load_caltech4
from benchmarks.prepared import CACHE
from harmonium.features.images import VisualWords, interest_patches

LONGER_SIDE = 200
POINTS_PER_DETECTOR = 60


@dataclass(frozen=True)
class CaltechPatches:
    """Patches of all images: those of image i are rows offsets[i] to offsets[i + 1]."""

    patches: NDArray[np.float32]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int64]


def crop_margin(image: NDArray[np.float32], margin: float) -> NDArray[np.float32]:
    """Cut off this share of the height and width at each edge."""
    rows, columns = (int(length * margin) for length in image.shape[:2])
    return image[rows : image.shape[0] - rows, columns : image.shape[1] - columns]


def load_patches(
    longer_side: int = LONGER_SIDE, points: int = POINTS_PER_DETECTOR, margin: float = 0.0
) -> CaltechPatches:
    """Give the patches of all images, from the cache when they are there.

    Many leopards have a thin black frame and many motorbikes a white one, which give the class away to some degree.
    The published protocol keeps them; a `margin` of 0.05 cuts most of them off.
    """
    cropped = f"_margin{margin:g}" if margin else ""
    cached = CACHE / f"caltech4_patches_{longer_side}px_{points}points{cropped}.npz"
    if not cached.exists():
        images = load_caltech4()
        found = [
            interest_patches(
                crop_margin(image, margin), max_points_per_detector=points, longer_side=longer_side
            ).patches
            for image in images.views["image"]
        ]
        CACHE.mkdir(exist_ok=True)
        # Written under another name first, so that a run that is stopped half-way leaves no broken cache behind.
        partial = cached.with_name(f"partial_{cached.name}")
        np.savez(
            partial,
            # Half precision keeps three digits, far finer than the difference between words, in half the room.
            patches=np.concatenate(found).astype(np.float16),
            offsets=np.concatenate([[0], np.cumsum([len(each) for each in found])]),
            labels=np.asarray(images.target),
        )
        partial.replace(cached)
    with np.load(cached) as stored:
        return CaltechPatches(stored["patches"].astype(np.float32), stored["offsets"], stored["labels"])


def visual_word_counts(
    patches: NDArray[np.float32], offsets: NDArray[np.int64], train_rows: NDArray[np.int64], n_words: int, seed: int
) -> NDArray[np.float32]:
    """Count the visual words of every image, with a vocabulary learnt on the training images only."""
    training = [patches[offsets[row] : offsets[row + 1]] for row in train_rows]
    words = VisualWords(n_words, random_state=seed).fit(training)
    image_of_patch = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    cells = image_of_patch * n_words + words.assign(patches)
    counts = np.bincount(cells, minlength=(len(offsets) - 1) * n_words)
    return counts.reshape(-1, n_words).astype(np.float32)


def split(
    labels: NDArray[np.int64], seed: int, n_train: int = 15, max_test: int = 50
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw training and test rows, as many of each class: 15 and at most 50 in the published protocol."""
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        train.append(rows[:n_train])
        test.append(rows[n_train : n_train + max_test])
    return np.concatenate(train), np.concatenate(test)
