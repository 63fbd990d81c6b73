"""Losses Δ(y1, h1, y2, h2) between a label with its candidate and another: what a prediction costs.

A loss is a small part; `Loss.bind` gives it samples, and the bound loss answers for all candidates at once: the
expected loss of every prediction under a distribution over the true candidate, and what that distribution's
derivatives need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harmonium.parts import Part
from harmonium.weak.bound_losses import BoundLoss, LayoutBound, TensorBound, ZeroOneBound


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a loss may know of samples: where their candidates lie in flat arrays, and their boxes if there are any."""

    offsets: np.ndarray
    boxes: np.ndarray | None = None


class Loss(Part):
    """Base of the losses."""

    role = "loss"

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """The loss of these samples, whose labels are numbers of ``classes``."""
        raise NotImplementedError


class ZeroOneLoss(Loss):
    """0 if both the label and the candidate are right, 1 otherwise.

    It asks that the right candidate be told from all others by the same margin. Where a sample has many that look alike
    (overlapping windows) no weights can do that, and weights of zero may be the exact solution whatever C; a coarser
    set of candidates or a loss such as `OverlapLoss` helps.

    Examples
    --------
    >>> import numpy as np
    >>> bound = ZeroOneLoss().bind(Candidates(np.array([0, 3])), np.array([1]), np.arange(2))
    >>> bound.expected(np.array([0.5, 0.5, 0.0]))
    array([[1. , 0.5],
           [1. , 0.5],
           [1. , 1. ]], dtype=float32)
    """

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """The loss of these samples."""
        return ZeroOneBound(candidates.offsets, labels, len(classes))


class OverlapLoss(Loss):
    """1 − intersection over union of the two boxes if the label is right, 1 otherwise.

    Overlaps are computed once for each distinct set of boxes, so images of the same size and grid share them.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 2], [0, 1, 2, 3]])
    >>> bound = OverlapLoss().bind(Candidates(np.array([0, 2]), boxes), np.array([0]), np.arange(2))
    >>> bound.expected(np.array([1.0, 0.0]))[:, 0].round(3)
    array([0.   , 0.667], dtype=float32)
    """

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """The loss of these samples, which must have boxes."""
        if candidates.boxes is None:
            raise ValueError(
                "OverlapLoss needs the boxes of the candidates; got samples without; pass boxes to Bags, or use "
                "ZeroOneLoss."
            )
        return LayoutBound(candidates.offsets, labels, len(classes), candidates.boxes)


class MatrixLoss(Loss):
    """A loss read from a table.

    Parameters
    ----------
    matrix : array of shape (classes, classes) or (classes, candidates, classes, candidates)
        ``matrix[y1, y2]`` for a loss that does not look at candidates, or ``matrix[y1, h1, y2, h2]``; classes in sorted
        order, and at least as many candidates as the largest sample has. Not negative, 0 where both are the same.

    Examples
    --------
    >>> MatrixLoss([[0, 1], [2, 0]]).matrix
    [[0, 1], [2, 0]]
    """

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix = matrix

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """The loss of these samples, if the table is large enough for them."""
        matrix, n_classes = np.asarray(self.matrix, dtype=np.float64), len(classes)
        largest = int(np.diff(candidates.offsets).max())
        if matrix.ndim == 2 and matrix.shape == (n_classes, n_classes):
            tensor = matrix[:, None, :, None]
        elif matrix.ndim == 4 and matrix.shape[::2] == (n_classes,) * 2 and min(matrix.shape[1::2]) >= largest:
            tensor = matrix[:, :largest, :, :largest]
        else:
            raise ValueError(
                f"MatrixLoss needs a table of shape ({n_classes}, {n_classes}) or ({n_classes}, m, {n_classes}, m) "
                f"with m >= {largest}; got shape {matrix.shape}; give a row and a column to each class."
            )
        _check_table(tensor)
        return TensorBound(candidates.offsets, labels, n_classes, tensor)


class FunctionLoss(Loss):
    """A loss computed by a function of two labels and two candidates.

    Parameters
    ----------
    function : callable
        ``function(y1, h1, y2, h2)``; labels are those of ``y``, candidates are arrays of their numbers within the
        sample, shaped so that they broadcast against each other. Not negative, 0 where both are the same.

    Examples
    --------
    >>> import numpy as np
    >>> loss = FunctionLoss(lambda y1, h1, y2, h2: np.minimum(abs(h1 - h2) / 2, 1) if y1 == y2 else 1.0)
    >>> bound = loss.bind(Candidates(np.array([0, 3])), np.array([0]), np.array(["no", "yes"]))
    >>> bound.expected(np.array([1.0, 0.0, 0.0]))[:, 0]
    array([0. , 0.5, 1. ])
    """

    def __init__(self, function: Callable[[Any, Any, Any, Any], Any]) -> None:
        self.function = function

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """The loss of these samples; the function is called once for each pair of classes."""
        largest = int(np.diff(candidates.offsets).max())
        numbers = np.arange(largest)
        tensor = np.empty((len(classes), largest, len(classes), largest))
        for i, first in enumerate(classes):
            for j, second in enumerate(classes):
                value = np.asarray(self.function(first, numbers[:, None], second, numbers[None, :]))
                if value.shape not in ((), (1, 1), (largest, 1), (1, largest), (largest, largest)):
                    raise ValueError(
                        f"A loss must broadcast its candidates, of shapes ({largest}, 1) and (1, {largest}); got shape "
                        f"{value.shape}; use NumPy functions of h1 and h2."
                    )
                tensor[i, :, j, :] = value
        _check_table(tensor)
        return TensorBound(candidates.offsets, labels, len(classes), tensor)


def _check_table(tensor: np.ndarray) -> None:
    """Refuse what is no loss: NaN, negative numbers, or a cost of being right."""
    if not np.isfinite(tensor).all() or tensor.min() < 0:
        raise ValueError(
            f"A loss must be finite and not negative; got {tensor[~(tensor >= 0)][0]}; correct the table or function."
            if not (tensor >= 0).all()
            else "A loss must be finite and not negative; got infinity; correct the table or function."
        )
    right = np.einsum("ihih->ih", tensor)
    if (right != 0).any():
        raise ValueError(
            f"A loss must be 0 where label and candidate agree; got {right[right != 0][0]:g}; correct the table or "
            "function."
        )
