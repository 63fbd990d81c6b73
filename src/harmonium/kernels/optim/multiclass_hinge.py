"""Multiclass hinge loss of Crammer and Singer, with costs of mistakes, and its sub-gradient by the scores."""

from __future__ import annotations

import numpy as np

from harmonium.kernels.runtime.jit import jit


@jit()
def add_multiclass_hinge(
    scores: np.ndarray,
    targets: np.ndarray,
    column: int,
    first: int,
    cost: np.ndarray,
    losses: np.ndarray,
    by_score: np.ndarray,
) -> None:
    """Add the hinge loss of each row, its largest violation of a margin, and the sub-gradient by the scores.

    It is max_k (score_k + cost[truth, k]) - score_truth.

    Parameters
    ----------
    scores : ndarray of shape (rows, outputs)
        Scores of all classes of all columns.
    targets : ndarray of int of shape (rows, columns)
        Numbers of the true classes, negative where they are unknown.
    column : int
        The column of targets to take.
    first : int
        The output of its first class.
    cost : ndarray of float64 of shape (classes, classes)
        What it costs to take a row of the first class for one of the second; zero on the diagonal.
    losses : ndarray of float64 of shape (rows,)
        Losses, which are added to.
    by_score : ndarray of shape (rows, outputs)
        Sub-gradient, to which 1 is added at the class that violates the margin most, and -1 at the true one.
    """
    for row in range(len(scores)):
        truth = targets[row, column]
        if truth >= 0:
            worst, largest = 0, scores[row, first] + cost[truth, 0]
            for k in range(1, cost.shape[1]):
                raised = scores[row, first + k] + cost[truth, k]
                if raised > largest:
                    worst, largest = k, raised
            losses[row] += largest - scores[row, first + truth]
            by_score[row, first + worst] += 1
            by_score[row, first + truth] -= 1
