"""Evaluation of models on held-out rows: the split, predictions, measures with intervals, and baselines."""

from harmonium.evaluation.held_out import HeldOut, evaluate
from harmonium.evaluation.split import split_rows

__all__ = ["HeldOut", "evaluate", "split_rows"]
