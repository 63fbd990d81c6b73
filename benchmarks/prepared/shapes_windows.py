"""SYSU-Shapes for weak supervision: windows of the photographs, a development part, splits, losses.

`weak_shapes` uses the other photographs; windows, features and C were chosen on the development part.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.datasets import load_shapes
from benchmarks.internals import speaking_candidates
from benchmarks.prepared import CACHE
from benchmarks.rivals.mi_svm import MISVM
from harmonium.features.windows import hog_bags
from harmonium.weak import Bags, DissimilarityClassifier, IterativeLatentSVM, LatentSVM, Loss, OverlapLoss, ZeroOneLoss

LONGER_SIDE = 256
DEVELOPMENT_SHARE, DEVELOPMENT_SEED = 0.3, 0
# 0.0001 and 100 were the best for no method and loss on the development part, and 100 the slowest
C_GRID = tuple(10.0**power for power in range(-3, 2))
KINDS: dict[str, Any] = {
    "latent SVM": LatentSVM,
    "iterative latent SVM": IterativeLatentSVM,
    "dissimilarity": DissimilarityClassifier,
}
LOSSES: dict[str, Loss] = {"0/1": ZeroOneLoss(), "overlap": OverlapLoss()}
Predict = Callable[[Bags], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Grid:
    """Windows and their features: arguments of `hog_windows`."""

    shares: tuple[float, ...]
    step: float
    parts: int
    cell: int
    strength: bool = True


GRID = Grid((0.6, 1.0), 1 / 3, 4, 8)


@dataclass(frozen=True)
class Photographs:
    """Windows of all photographs: features, boxes, and the overlap of each window with the nearest object."""

    features: np.ndarray
    boxes: np.ndarray
    overlap: np.ndarray
    offsets: np.ndarray
    extent: np.ndarray
    target: np.ndarray
    names: np.ndarray

    @property
    def best(self) -> np.ndarray:
        """The window of each photograph that overlaps most with an object."""
        return np.array([self.overlap[a:b].argmax() for a, b in itertools.pairwise(self.offsets)])

    def nearest_to(self, share: float) -> np.ndarray:
        """The window of each photograph nearest to its middle, of this share of its height and width."""
        first, last = 0.5 - share / 2, 0.5 + share / 2
        relative = self.boxes / np.tile(np.repeat(self.extent, np.diff(self.offsets), axis=0), 2)
        inner = nearest(relative, np.array([[first, first, last, last]]))
        return np.array([inner[a:b].argmax() for a, b in itertools.pairwise(self.offsets)])

    def bags(self, train: np.ndarray) -> Bags:
        """All photographs; every column of the features has mean 0 and variance 1 in the training windows."""
        of_training = np.isin(np.repeat(np.arange(len(self.target)), np.diff(self.offsets)), train)
        known = self.features[of_training]
        scaled = (self.features - known.mean(axis=0)) / (known.std(axis=0) + 1e-6)
        return Bags(np.column_stack([scaled, np.ones(len(scaled), np.float32)]), self.offsets, self.boxes)

    def measure(self, predict: Predict, bags: Bags, rows: np.ndarray) -> dict[str, float]:
        """Losses of the predictions for some photographs."""
        return self.measured(predict(bags[rows]), rows)

    def measured(self, predicted: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> dict[str, float]:
        """Losses of labels and windows in per cent, and the mean overlap of the windows with the objects."""
        labels, chosen = predicted
        wrong = labels != self.target[rows]
        first, last = self.offsets[rows], self.offsets[rows + 1]
        overlap = self.overlap[first + chosen]
        best = np.array([self.overlap[a:b].max() for a, b in zip(first, last, strict=True)])
        return {
            "0/1": 100 * float((wrong | (overlap < best)).mean()),
            "overlap": 100 * float(np.where(wrong, 1, 1 - overlap).mean()),
            "label": 100 * float(wrong.mean()),
            "IoU": float(overlap.mean()),
        }


@lru_cache(maxsize=3)
def photographs(grid: Grid) -> Photographs:
    """Windows of all photographs, computed once and kept on disk."""
    shares = "-".join(f"{share:g}" for share in grid.shares)
    path = CACHE / f"weak_shapes_{shares}_{grid.step:.2f}_{grid.parts}_{grid.cell}_{grid.strength:d}.npz"
    if not path.exists():
        data = load_shapes(size=LONGER_SIDE)
        images = data.views["image"]
        features, boxes = hog_bags(images, longer_side=LONGER_SIDE, **asdict(grid))
        overlap = [nearest(own, objects) for own, objects in zip(boxes, data.views["boxes"], strict=True)]
        CACHE.mkdir(exist_ok=True)
        np.savez(
            path,
            features=np.concatenate(features),
            boxes=np.concatenate(boxes),
            overlap=np.concatenate(overlap),
            offsets=np.concatenate([[0], np.cumsum([len(item) for item in boxes])]),
            extent=np.array([image.shape for image in images], dtype=np.float64),
            target=data.target,
            names=data.target_names,
        )
    with np.load(path) as kept:
        return Photographs(**kept)


def nearest(boxes: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """Intersection over union of each window with the object it overlaps most."""
    height = np.minimum(boxes[:, None, 2], objects[:, 2]) - np.maximum(boxes[:, None, 0], objects[:, 0])
    width = np.minimum(boxes[:, None, 3], objects[:, 3]) - np.maximum(boxes[:, None, 1], objects[:, 1])
    inner = np.maximum(height, 0) * np.maximum(width, 0)
    areas = [(each[:, 2] - each[:, 0]) * (each[:, 3] - each[:, 1]) for each in (boxes, objects)]
    return (inner / (areas[0][:, None] + areas[1] - inner)).max(axis=1)


def parts(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the development part and of the other photographs: always the same ones."""
    rng = np.random.default_rng(DEVELOPMENT_SEED)
    of_class = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    development = np.concatenate([rows[: round(DEVELOPMENT_SHARE * len(rows))] for rows in of_class])
    return np.sort(development), np.setdiff1d(np.arange(len(y)), development)


def split(rows: np.ndarray, y: np.ndarray, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """60 % of these rows for training, 40 % for the test."""
    train, test = train_test_split(rows, train_size=0.6, stratify=y[rows], random_state=fold)
    return train, test


def beginning(name: str, data: Photographs, bags: Bags, train: np.ndarray) -> np.ndarray:
    """Windows to begin with: "regression", "whole" or "middle"."""
    if name == "regression":
        own = bags[train]
        return speaking_candidates(own.features, data.target[train], own.offsets, len(data.names))
    return data.nearest_to(1.0 if name == "whole" else 0.7)[train]


def fit(name: str, loss_name: str, C: float, bags: Bags, y: np.ndarray, begin: np.ndarray) -> Any:
    """A fitted model with ``predict_latent``."""
    if name == "MI-SVM":
        return MISVM(C).fit(bags, y, begin)
    return KINDS[name](C=C, loss=LOSSES[loss_name], initial=begin, n_jobs=1, random_state=0).fit(bags, y)
