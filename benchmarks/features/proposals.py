"""Boxes that may hold an object: segments of an image, merged step by step, as in selective search.

After Uijlings, van de Sande, Gevers and Smeulders, "Selective search for object recognition" (2013), for grey images:
segments of Felzenszwalb and Huttenlocher are merged pair by pair, the most similar neighbours first, and the box of
every segment on the way is a proposal. Similar are neighbours of like grey levels and edges, small ones, and those that
fill their common box.
"""

from __future__ import annotations

import numpy as np

N_LEVELS, N_ORIENTATIONS = 16, 8


def proposals(
    image: np.ndarray, scales: tuple[float, ...] = (30, 100), shortest: int = 24, most: int = 400
) -> np.ndarray:
    """Return boxes (top, left, bottom, right) of segments, those of the last merges first, without doubles.

    Boxes with a side below ``shortest`` pixels are left out, and so are the last of more than ``most``.
    """
    found = [(rank, box) for scale in scales for rank, box in enumerate(reversed(merged(image, scale)))]
    boxes = np.array([box for _, box in sorted(found, key=lambda pair: pair[0])])
    large = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) >= shortest
    unique = list(dict.fromkeys(map(tuple, boxes[large].tolist())))
    return np.array(unique[:most], dtype=np.float64)


def merged(image: np.ndarray, scale: float) -> list[np.ndarray]:
    """Return the boxes of all segments of an image in the order in which they came about, the whole image last."""
    from skimage.segmentation import felzenszwalb

    labels = felzenszwalb(image, scale=scale, sigma=0.8, min_size=40)
    sizes, histograms, boxes = described(image, labels)
    neighbours = adjacent(labels)
    history = list(boxes)
    total = labels.size

    def similarity(a: int, b: int) -> float:
        joint = joined(boxes[a], boxes[b])
        area = (joint[2] - joint[0]) * (joint[3] - joint[1])
        small, fill = 1 - (sizes[a] + sizes[b]) / total, 1 - (area - sizes[a] - sizes[b]) / total
        return float(np.minimum(histograms[a], histograms[b]).sum()) + small + fill

    pairs = {(a, b): similarity(a, b) for a in range(len(sizes)) for b in neighbours[a] if a < b}
    while pairs:
        a, b = max(pairs, key=pairs.__getitem__)
        new, size = len(sizes), sizes[a] + sizes[b]
        histograms.append((sizes[a] * histograms[a] + sizes[b] * histograms[b]) / size)
        boxes.append(joined(boxes[a], boxes[b]))
        sizes.append(size)
        history.append(boxes[-1])
        around = (neighbours[a] | neighbours[b]) - {a, b}
        neighbours.append(around)
        for old in (a, b):
            for other in neighbours[old]:
                pairs.pop((min(old, other), max(old, other)), None)
                neighbours[other].discard(old)
        for other in around:
            neighbours[other].add(new)
            pairs[(other, new)] = similarity(other, new)
    return history


def joined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the smallest box that holds both."""
    return np.array([min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])])


def described(image: np.ndarray, labels: np.ndarray) -> tuple[list[int], list[np.ndarray], list[np.ndarray]]:
    """Return sizes of segments, their histograms of grey levels and of edges by direction, and their boxes."""
    n_segments = labels.max() + 1
    down, right = np.gradient(image.astype(np.float64))
    direction = np.mod(np.arctan2(down, right), np.pi) / np.pi
    codes = [
        (np.minimum(image * N_LEVELS, N_LEVELS - 1).astype(int), N_LEVELS, None),
        (np.minimum(direction * N_ORIENTATIONS, N_ORIENTATIONS - 1).astype(int), N_ORIENTATIONS, np.hypot(down, right)),
    ]
    columns = []
    for code, n_bins, weights in codes:
        cells = (labels * n_bins + code).ravel()
        counts = np.bincount(cells, None if weights is None else weights.ravel(), n_segments * n_bins)
        counts = counts.reshape(n_segments, n_bins)
        columns.append(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9))
    rows, across = np.indices(labels.shape)
    boxes = np.empty((n_segments, 4))
    for column, where, take, start in ((0, rows, np.minimum, np.inf), (2, rows, np.maximum, 0)):
        for shift, values in ((0, where), (1, across)):
            boxes[:, column + shift] = start
            take.at(boxes[:, column + shift], labels.ravel(), values.ravel())
    boxes[:, 2:] += 1
    return np.bincount(labels.ravel()).tolist(), list(np.hstack(columns)), list(boxes)


def adjacent(labels: np.ndarray) -> list[set[int]]:
    """Return the neighbours of each segment."""
    result: list[set[int]] = [set() for _ in range(labels.max() + 1)]
    for a, b in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        for first, second in np.unique(np.stack([a[a != b], b[a != b]], axis=1), axis=0).tolist():
            result[first].add(second)
            result[second].add(first)
    return result
