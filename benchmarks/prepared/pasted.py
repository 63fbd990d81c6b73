"""Vehicles of SYSU-Shapes pasted on other photographs: where they lie is known, and says nothing of what they are.

Each canvas is a piece of a photograph of Caltech-4 that shows no vehicle (faces, leopards). Rectangles cut from other
such photographs are pasted on it, and then the box of one vehicle, all with soft borders, at random places and of
random sizes drawn in the same way; so neither the middle nor a border gives the object away. Development canvases share
neither vehicles nor backgrounds with the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.datasets import load_caltech4, load_shapes
from benchmarks.prepared import CACHE

SIDE = 192
DEVELOPMENT_SHARE = 0.3
BACKGROUNDS = ("Faces", "Leopards")
# longer side of an object as a share of the canvas's, drawn evenly; a shorter side below 32 pixels tells too little
SIZES = (0.3, 0.6)
SHORTEST = 32
DISTRACTORS = 3
SOFT = 5
# many leopards have a thin black frame
MARGIN = 0.05


@dataclass(frozen=True)
class Canvases:
    """Grey images of one size, the box of the object (top, left, bottom, right), its class, and who is who."""

    images: np.ndarray
    boxes: np.ndarray
    target: np.ndarray
    is_development: np.ndarray
    names: np.ndarray


@lru_cache(maxsize=1)
def canvases() -> Canvases:
    """Return all canvases, painted once and kept on disk."""
    path = CACHE / f"pasted_{SIDE}_{SIZES[0]}-{SIZES[1]}_{DISTRACTORS}.npz"
    if not path.exists():
        painted = paint(np.random.default_rng(0))
        CACHE.mkdir(exist_ok=True)
        np.savez(path, **vars(painted))
    with np.load(path) as kept:
        return Canvases(**kept)


def paint(rng: np.random.Generator) -> Canvases:
    """Paste every object on a background of its part."""
    from skimage.transform import resize

    shapes, caltech = load_shapes(), load_caltech4(size=round(1.25 * SIDE), side="shorter")
    plain = np.isin(np.array(caltech.target_names)[caltech.target], BACKGROUNDS)
    backgrounds = rng.permutation(np.flatnonzero(plain))
    n_first = round(DEVELOPMENT_SHARE * len(backgrounds))
    of_part = {True: backgrounds[:n_first], False: backgrounds[n_first:]}
    images, boxes, target, is_development = [], [], [], []
    for label in range(len(shapes.target_names)):
        rows = rng.permutation(np.flatnonzero(shapes.target == label))
        for position, row in enumerate(rows):
            development = position < round(DEVELOPMENT_SHARE * len(rows))
            others = [caltech.views["image"][i] for i in rng.choice(of_part[development], 1 + DISTRACTORS, False)]
            canvas = piece(others[0], SIDE, SIDE, rng)
            for other in others[1:]:
                height, width = drawn_size(*box_size(shapes.views["boxes"][rng.integers(len(shapes.target))][0]), rng)
                paste(canvas, piece(other, height, width, rng), rng)
            vehicle = cut(shapes.views["image"][row], shapes.views["boxes"][row][0])
            vehicle = resize(vehicle, drawn_size(*vehicle.shape, rng), anti_aliasing=True)
            boxes.append(paste(canvas, vehicle, rng))
            images.append(np.round(255 * canvas.clip(0, 1)).astype(np.uint8))
            target.append(label)
            is_development.append(development)
    return Canvases(
        np.array(images),
        np.array(boxes, dtype=np.float64),
        np.array(target),
        np.array(is_development),
        np.array(shapes.target_names),
    )


def box_size(box: np.ndarray) -> tuple[float, float]:
    """Return height and width of a box."""
    return float(box[2] - box[0]), float(box[3] - box[1])


def drawn_size(height: float, width: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return a height and a width of about these proportions and random size."""
    longer = SIDE * rng.uniform(*SIZES)
    scale = longer / max(height, width)
    return max(SHORTEST, round(scale * height)), max(SHORTEST, round(scale * width))


def cut(image: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the pixels in a box."""
    top, left, bottom, right = box.round().astype(int)
    return image[top:bottom, left:right]


def piece(image: np.ndarray, height: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return a copy of a random piece of an image, mirrored in half of the cases, without what may be a frame."""
    margins = [int(MARGIN * length) for length in image.shape]
    sides = zip(image.shape, margins, (height, width), strict=True)
    top, left = (margin + rng.integers(max(0, length - 2 * margin - side) + 1) for length, margin, side in sides)
    found = image[top : top + height, left : left + width]
    return np.array(found[:, ::-1] if rng.random() < 0.5 else found)


def paste(canvas: np.ndarray, patch: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Paste a patch at a random place of a canvas, with a soft border, and return its box."""
    height, width = patch.shape
    top, left = (int(rng.integers(SIDE - side + 1)) for side in (height, width))
    ramps = [np.minimum(1, (1 + np.minimum(np.arange(n), np.arange(n)[::-1])) / SOFT) for n in (height, width)]
    opacity = np.minimum(ramps[0][:, None], ramps[1][None])
    place = canvas[top : top + height, left : left + width]
    place += opacity * (patch - place)
    return np.array([top, left, top + height, left + width])
