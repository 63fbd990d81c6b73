"""Heads: what a model is told to predict. One file each."""

from harmonium.heads.base import Head, LinearHead
from harmonium.heads.epsilon_insensitive import EpsilonInsensitive
from harmonium.heads.hinge import Hinge
from harmonium.heads.label_view import LABEL, LabelView
from harmonium.heads.multi_label import MultiLabelHinge

__all__ = ["LABEL", "EpsilonInsensitive", "Head", "Hinge", "LabelView", "LinearHead", "MultiLabelHinge"]
