"""Reductions over segments of different lengths: segment ``i`` is the rows ``offsets[i]`` to ``offsets[i + 1]``."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit()
def segment_argmax(
    scores: np.ndarray, bonus: np.ndarray, offsets: np.ndarray, columns: np.ndarray, rows: np.ndarray
) -> None:
    """Find the column and row (within the segment) of the largest ``scores + bonus`` of each segment.

    On a tie it is the first row, and in it the first column. A ``bonus`` of a single row counts for all rows.
    """
    broadcast = bonus.shape[0] == 1
    for segment in range(len(offsets) - 1):
        best = -np.inf
        for row in range(offsets[segment], offsets[segment + 1]):
            extra = bonus[0] if broadcast else bonus[row]
            for column in range(scores.shape[1]):
                value = scores[row, column] + extra[column]
                if value > best:
                    best = value
                    columns[segment] = column
                    rows[segment] = row - offsets[segment]


@jit()
def segment_argmax_in_column(scores: np.ndarray, column: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> None:
    """Find the row (within the segment) of the largest score of each segment, in the column given for it."""
    for segment in range(len(offsets) - 1):
        best = -np.inf
        for row in range(offsets[segment], offsets[segment + 1]):
            value = scores[row, column[segment]]
            if value > best:
                best = value
                rows[segment] = row - offsets[segment]


@jit()
def segment_softmax(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the softmax of the scores within each segment, in double precision."""
    result = np.empty(len(scores))
    for segment in range(len(offsets) - 1):
        first, last = offsets[segment], offsets[segment + 1]
        largest = scores[first]
        for row in range(first, last):
            largest = max(largest, scores[row])
        total = 0.0
        for row in range(first, last):
            result[row] = np.exp(scores[row] - largest)
            total += result[row]
        for row in range(first, last):
            result[row] /= total
    return result


@jit()
def box_iou(boxes: np.ndarray) -> np.ndarray:
    """Return the intersection over union of all pairs of boxes (top, left, bottom, right), in single precision."""
    n_boxes = len(boxes)
    result = np.empty((n_boxes, n_boxes), dtype=np.float32)
    for i in range(n_boxes):
        result[i, i] = 1.0
        own = (boxes[i, 2] - boxes[i, 0]) * (boxes[i, 3] - boxes[i, 1])
        for j in range(i):
            height = min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0])
            width = min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1])
            share = 0.0
            if height > 0 and width > 0:
                other = (boxes[j, 2] - boxes[j, 0]) * (boxes[j, 3] - boxes[j, 1])
                share = height * width / (own + other - height * width)
            result[i, j] = share
            result[j, i] = share
    return result
