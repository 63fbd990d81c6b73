"""Losses Δ(y1, h1, y2, h2): the cost of predicting label y2 and candidate h2 where y1 and h1 are right.

A loss is a small part. `Loss.bind` gives it samples, and the bound loss answers for all candidates at once: what each
prediction is expected to cost under a distribution over the right candidate, and derivatives by that distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harmonium.core.parts import Part
from harmonium.core.validation import Anything, Setting, shown
from harmonium.weak.bound_losses import BoundLoss, LayoutBound, TensorBound, ZeroOneBound


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a loss may know about samples.

    Parameters
    ----------
    offsets : ndarray of int64 of shape (n_samples + 1,)
        Where the candidates of each sample begin in flat arrays over all candidates.
    boxes : ndarray of float64 of shape (n_candidates, 4) or None, default=None
        Places of the candidates, if they have any.
    """

    offsets: np.ndarray
    boxes: np.ndarray | None = None


class Loss(Part):
    """Base of the losses.

    A loss of your own is easiest to state as a `FunctionLoss` or a `MatrixLoss`.

    Examples
    --------
    >>> from harmonium.weak import LatentSVM, Loss, OverlapLoss
    >>> isinstance(OverlapLoss(), Loss)
    True
    >>> LatentSVM(loss=OverlapLoss())
    LatentSVM(loss=OverlapLoss())
    """

    role = "loss"
    suffix = "Loss"

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """Return the loss of given samples.

        Parameters
        ----------
        candidates : Candidates
            Where the candidates of the samples lie, and their boxes.
        labels : ndarray of int of shape (n_samples,)
            The right labels, as positions in ``classes``.
        classes : ndarray of shape (n_classes,)
            The classes in sorted order.

        Returns
        -------
        BoundLoss
            The loss, ready to answer for all candidates at once.
        """
        raise NotImplementedError


class ZeroOneLoss(Loss):
    """Loss of 0 if both the label and the candidate are right, otherwise 1.

    All candidates but the right one are equally wrong, so it must stand out from all of them by the same margin. Where
    candidates look alike, as overlapping windows do, no weights achieve that, and the exact solution may be weights of
    zero, whatever C. Fewer candidates or a loss such as `OverlapLoss` then help.

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
        """Return the loss of given samples."""
        return ZeroOneBound(candidates.offsets, labels, len(classes))


class OverlapLoss(Loss):
    """Loss of 1 − intersection over union of two boxes, or 1 if the label is wrong.

    Overlaps are computed once for each distinct set of boxes, so images with the same grid of windows share them.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 2], [0, 1, 2, 3]])
    >>> bound = OverlapLoss().bind(Candidates(np.array([0, 2]), boxes), np.array([0]), np.arange(2))
    >>> bound.expected(np.array([1.0, 0.0]))[:, 0].round(3)
    array([0.   , 0.667], dtype=float32)
    """

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """Return the loss of given samples, whose candidates must have boxes."""
        if candidates.boxes is None:
            raise ValueError(
                "OverlapLoss needs the boxes of the candidates; got samples without boxes; pass boxes to Bags, or use "
                "ZeroOneLoss."
            )
        return LayoutBound(candidates.offsets, labels, len(classes), candidates.boxes)


class MatrixLoss(Loss):
    """Loss that is read from a table.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes) or (n_classes, m, n_classes, m)
        ``matrix[y1, y2]`` if the loss does not depend on candidates, otherwise ``matrix[y1, h1, y2, h2]``, with classes
        in sorted order and ``m`` at least the largest number of candidates of a sample. No entry is negative, and
        entries for a right prediction are 0.

    Examples
    --------
    >>> import numpy as np
    >>> loss = MatrixLoss([[0, 1], [2, 0]])  # taking the first class for the second costs 1, the reverse costs 2
    >>> bound = loss.bind(Candidates(np.array([0, 1, 2])), np.array([0, 1]), np.arange(2))
    >>> bound.expected(np.ones(2))
    array([[0., 1.],
           [2., 0.]])
    """

    # checked against the number of labels
    settings = {"matrix": Anything()}

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix = matrix

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """Return the loss of given samples, for which the table must be large enough."""
        try:
            matrix, n_classes = np.asarray(self.matrix, dtype=np.float64), len(classes)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"MatrixLoss needs a table of numbers; got {shown(self.matrix)}; give a row and a column to each class."
            ) from None
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


class Function(Setting):
    """Something that can be called."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what cannot be called."""
        if not callable(value):
            raise TypeError(f"{owner} needs a {name} that can be called; got {shown(value)}; pass a function.")


class FunctionLoss(Loss):
    """Loss that is computed by a function of two labels and two candidates.

    Parameters
    ----------
    function : callable
        ``function(y1, h1, y2, h2)``. Labels are those of ``y``; candidates are arrays of their numbers within the
        sample, whose shapes broadcast against each other. No value is negative, and values for a right prediction are
        0.

    Examples
    --------
    >>> import numpy as np
    >>> loss = FunctionLoss(lambda y1, h1, y2, h2: np.minimum(abs(h1 - h2) / 2, 1) if y1 == y2 else 1.0)
    >>> bound = loss.bind(Candidates(np.array([0, 3])), np.array([0]), np.array(["no", "yes"]))
    >>> bound.expected(np.array([1.0, 0.0, 0.0]))[:, 0]
    array([0. , 0.5, 1. ])
    """

    settings = {"function": Function()}

    def __init__(self, function: Callable[[Any, Any, Any, Any], Any]) -> None:
        self.function = function

    def bind(self, candidates: Candidates, labels: np.ndarray, classes: np.ndarray) -> BoundLoss:
        """Return the loss of given samples; each pair of classes takes one call."""
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
    """Refuse what is not a loss: NaN, infinity, negative numbers, or a cost of being right."""
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
