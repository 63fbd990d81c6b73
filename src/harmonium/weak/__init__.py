"""Weak supervision: labels are known in training, and which candidate of a sample they speak of is not.

A sample is a set of candidates (windows of an image, positions in a sequence). `LatentSVM`, `IterativeLatentSVM` and
`DissimilarityClassifier` learn to predict a label and a candidate; the loss may look at both.
"""

from harmonium.weak.bags import Bags
from harmonium.weak.enumerated import Definition
from harmonium.weak.estimators import DissimilarityClassifier, IterativeLatentSVM, LatentSVM
from harmonium.weak.losses import FunctionLoss, Loss, MatrixLoss, OverlapLoss, ZeroOneLoss
from harmonium.weak.problem import BagProblem, Problem

__all__ = [
    "BagProblem",
    "Bags",
    "Definition",
    "DissimilarityClassifier",
    "FunctionLoss",
    "IterativeLatentSVM",
    "LatentSVM",
    "Loss",
    "MatrixLoss",
    "OverlapLoss",
    "Problem",
    "ZeroOneLoss",
]
