"""Outputs of heads: from scores to predictions, probabilities and intervals, calibrated on held-out rows."""

from harmonium.heads.outputs.levels import LevelOutputs
from harmonium.heads.outputs.outputs import UNCALIBRATED, ClassOutputs, LabelOutputs, NumberOutputs, Outputs

__all__ = ["UNCALIBRATED", "ClassOutputs", "LabelOutputs", "LevelOutputs", "NumberOutputs", "Outputs"]
