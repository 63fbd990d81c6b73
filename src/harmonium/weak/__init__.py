"""Weak supervision: the label of a sample is known in training, but not which of its candidates the label is about.

A sample is a set of candidates, such as windows of an image or positions in a sequence. `LatentSVM`,
`IterativeLatentSVM` and `DissimilarityClassifier` learn to predict a label and a candidate; the loss may depend on
both. `MultipleInstanceClassifier` predicts labels of bags alone, with probabilities.
"""

from harmonium.weak.bags import Bags
from harmonium.weak.candidate_transformer import CandidateTransformer
from harmonium.weak.enumerated import Definition
from harmonium.weak.estimators import DissimilarityClassifier, IterativeLatentSVM, LatentSVM
from harmonium.weak.losses import FunctionLoss, Loss, MatrixLoss, OverlapLoss, ZeroOneLoss
from harmonium.weak.multiple_instance import MultipleInstanceClassifier
from harmonium.weak.problem import BagProblem, CandidateProblem

__all__ = [
    "BagProblem",
    "Bags",
    "CandidateProblem",
    "CandidateTransformer",
    "Definition",
    "DissimilarityClassifier",
    "FunctionLoss",
    "IterativeLatentSVM",
    "LatentSVM",
    "Loss",
    "MatrixLoss",
    "MultipleInstanceClassifier",
    "OverlapLoss",
    "ZeroOneLoss",
]
