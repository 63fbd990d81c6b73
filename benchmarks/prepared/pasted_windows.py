"""Candidates of the canvases of `pasted`, by sliding windows or by proposals, with their features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from benchmarks.features.proposals import proposals
from benchmarks.prepared import CACHE
from benchmarks.prepared.pasted import SHORTEST, SIDE, Canvases, canvases
from benchmarks.prepared.shapes_windows import Photographs, nearest
from harmonium.features.windows import hog_windows

# HOG cells of 6 pixels: an object of 32 pixels still has 5 of them each way
CELL, PARTS = 6, 4
# boxes of `Detected`: how far sides move, overlaps of near and far ones, and how many are drawn to choose from
JITTER, NEAR_SHIFT, NEAR, FAR, TRIES = 0.1, 0.5, (0.4, 0.7), 0.2, 500


class Scheme(Protocol):
    """A way to find candidates."""

    @property
    def name(self) -> str:
        """Return a name for files."""

    def boxes_of(self, painted: Canvases) -> Iterator[np.ndarray]:
        """Return the boxes of the candidates of each canvas."""


@dataclass(frozen=True)
class Proposed:
    """Boxes of merged segments, other ones for each canvas."""

    scales: tuple[float, ...] = (20, 60)

    @property
    def name(self) -> str:
        """Return a name for files."""
        return f"proposed_{'-'.join(f'{scale:g}' for scale in self.scales)}"

    def boxes_of(self, painted: Canvases) -> Iterator[np.ndarray]:
        """Return the proposals for each canvas."""
        return (proposals(image / 255.0, self.scales) for image in painted.images)


@dataclass(frozen=True)
class Detected:
    """Boxes as a detector would give them: one on the object, some near it, the others elsewhere, in this order.

    All have the sizes of objects. The first is the object's with every side moved by up to a tenth of its length; near
    ones overlap it by 0.4 to 0.7, the others by at most 0.2.
    """

    n_near: int = 10
    n_far: int = 39

    @property
    def name(self) -> str:
        """Return a name for files."""
        return f"detected_{self.n_near}_{self.n_far}"

    def boxes_of(self, painted: Canvases) -> Iterator[np.ndarray]:
        """Return the boxes of each canvas, always the same ones."""
        rng = np.random.default_rng(0)
        sizes = painted.boxes[:, 2:] - painted.boxes[:, :2]
        return (self._boxes(truth, sizes, rng) for truth in painted.boxes)

    def _boxes(self, truth: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        extent = np.tile(truth[2:] - truth[:2], 2)
        first = np.clip(truth + rng.uniform(-JITTER, JITTER, 4) * extent, 0, SIDE)
        height, width = sizes[rng.integers(len(sizes), size=TRIES)].T
        top, left = rng.uniform(0, SIDE - height), rng.uniform(0, SIDE - width)
        anywhere = np.stack([top, left, top + height, left + width], axis=1)
        shifts = rng.uniform(-NEAR_SHIFT, NEAR_SHIFT, (TRIES, 4)) * extent
        around = np.clip(first + shifts, 0, SIDE)
        around = around[(around[:, 2:] - around[:, :2] >= SHORTEST / 2).all(axis=1)]
        overlap = nearest(around, first[None])
        near = around[(overlap > NEAR[0]) & (overlap < NEAR[1])][: self.n_near]
        far = anywhere[nearest(anywhere, first[None]) <= FAR][: self.n_far]
        return np.concatenate([first[None], near, far])


@lru_cache(maxsize=3)
def windows(scheme: Scheme) -> Photographs:
    """Return the candidates of all canvases, computed once and kept on disk."""
    path = CACHE / f"pasted_{SIDE}_{scheme.name}_{CELL}_{PARTS}.npz"
    if not path.exists():
        painted = canvases()
        boxes = list(scheme.boxes_of(painted))
        features = [described(image, own) for image, own in zip(painted.images, boxes, strict=True)]
        np.savez(
            path,
            features=np.concatenate(features),
            boxes=np.concatenate(boxes),
            overlap=np.concatenate([nearest(own, box[None]) for own, box in zip(boxes, painted.boxes, strict=True)]),
            offsets=np.concatenate([[0], np.cumsum([len(own) for own in boxes])]),
            extent=np.full((len(boxes), 2), float(SIDE)),
            target=painted.target,
            names=painted.names,
        )
    with np.load(path) as kept:
        return Photographs(**kept)


def described(image: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Return histograms of oriented gradients and strengths of edges in boxes of a canvas."""
    return hog_windows(image / 255.0, boxes=boxes, longer_side=SIDE, cell=CELL, parts=PARTS, strength=True)[0]


def few(number: int, n_near: int = 0) -> Photographs:
    """Return this many boxes of each canvas, of which some are near the object, in random order."""
    pool, rng = Detected(), np.random.default_rng(1)
    data = windows(pool)
    n_far = number - 1 - n_near
    rows = np.concatenate([np.arange(1 + n_near), 1 + pool.n_near + np.arange(n_far)])
    return only(data, [first + rng.permutation(rows) for first in data.offsets[:-1]])


def only(data: Photographs, kept: list[np.ndarray]) -> Photographs:
    """Keep these rows of each canvas."""
    rows = np.concatenate(kept)
    return replace(
        data,
        features=data.features[rows],
        boxes=data.boxes[rows],
        overlap=data.overlap[rows],
        offsets=np.concatenate([[0], np.cumsum([len(own) for own in kept])]),
    )
