"""Patches and visual-word counts of the Caltech-4 images, for the object-recognition benchmark.

The folder of the data is named by the environment variable HARMONIUM_DATA; the patches are cached in
`benchmarks/cache/`. Run this file to fill the cache and check how well a plain LSI + linear SVM does:

    python benchmarks/caltech4_features.py
"""

from __future__ import annotations

import io
import os
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harmonium.features.images import VisualWords, interest_patches

CLASSES = ("airplanes", "Motorbikes", "Faces", "Leopards")
CACHE = Path(__file__).parent / "cache"
LONGER_SIDE = 200
POINTS_PER_DETECTOR = 60


@dataclass(frozen=True)
class CaltechPatches:
    """Patches of all images: those of image i are rows offsets[i] to offsets[i + 1]."""

    patches: NDArray[np.float32]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int64]
    names: NDArray[np.str_]


def read_images(folder: Path) -> list[tuple[str, NDArray[np.uint8]]]:
    """Read the pictures in the order of their names, each with its name."""
    import skimage.io

    pictures: list[tuple[str, NDArray[np.uint8]]] = []
    with tarfile.open(folder / "caltech4" / "caltech4.tar") as archive:
        for member in archive.getmembers():
            handle = archive.extractfile(member) if member.name.endswith(".jpg") else None
            if handle is not None:
                pictures.append((member.name, skimage.io.imread(io.BytesIO(handle.read()))))
    return sorted(pictures, key=lambda pair: pair[0])


def data_folder() -> Path:
    """Give the folder of the data, or say in one sentence how to name it."""
    named = os.environ.get("HARMONIUM_DATA")
    if not named or not (Path(named) / "caltech4" / "caltech4.tar").exists():
        raise FileNotFoundError(
            f"HARMONIUM_DATA must name a folder that holds caltech4/caltech4.tar, got {named!r}: set it to that folder."
        )
    return Path(named)


def crop_margin(image: NDArray[np.uint8], margin: float) -> NDArray[np.uint8]:
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
        pictures = read_images(data_folder())
        found = [
            interest_patches(
                crop_margin(image, margin), max_points_per_detector=points, longer_side=longer_side
            ).patches
            for _, image in pictures
        ]
        names = np.asarray([name for name, _ in pictures])
        CACHE.mkdir(exist_ok=True)
        # Written under another name first, so that a run that is stopped half-way leaves no broken cache behind.
        partial = cached.with_name(f"partial_{cached.name}")
        np.savez(
            partial,
            # Half precision keeps three digits, far finer than the difference between words, in half the room.
            patches=np.concatenate(found).astype(np.float16),
            offsets=np.concatenate([[0], np.cumsum([len(each) for each in found])]),
            labels=np.asarray([CLASSES.index(name.split("/")[0]) for name in names]),
            names=names,
        )
        partial.replace(cached)
    with np.load(cached) as stored:
        return CaltechPatches(
            stored["patches"].astype(np.float32), stored["offsets"], stored["labels"], stored["names"]
        )


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


def check_with_lsi(data: CaltechPatches, n_splits: int = 10, n_words: int = 125, n_dimensions: int = 20) -> None:
    """Print the accuracy of LSI and a linear SVM, averaged over the classes and over random splits."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.metrics import confusion_matrix
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    accuracies, confusion, seconds = [], np.zeros((4, 4)), []
    for seed in range(n_splits):
        train, test = split(data.labels, seed)
        start = time.perf_counter()
        counts = visual_word_counts(data.patches, data.offsets, train, n_words, seed)
        seconds.append(time.perf_counter() - start)
        lsi = TruncatedSVD(n_dimensions, random_state=seed)
        classifier = make_pipeline(lsi, StandardScaler(), SVC(kernel="linear", C=0.1))
        classifier.fit(np.sqrt(counts[train]), data.labels[train])
        table = confusion_matrix(data.labels[test], classifier.predict(np.sqrt(counts[test])), normalize="true")
        accuracies.append(np.trace(table) / len(CLASSES))
        confusion += table / n_splits
    print(f"LSI + linear SVM: mean {np.mean(accuracies):.3f}, standard deviation {np.std(accuracies):.3f}")
    print(f"visual_word_counts: {np.mean(seconds):.2f} s")
    print("true class in rows:", *CLASSES)
    print(confusion.round(2))


if __name__ == "__main__":
    began = time.perf_counter()
    loaded = load_patches()
    print(f"{len(loaded.labels)} images, {len(loaded.patches)} patches, {time.perf_counter() - began:.1f} s")
    check_with_lsi(loaded)
