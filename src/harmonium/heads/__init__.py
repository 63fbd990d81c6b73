"""Heads: predictions that are trained together with the latent space. One file each."""

from harmonium.heads.base import Head
from harmonium.heads.epsilon_insensitive import EpsilonInsensitive
from harmonium.heads.hinge import Hinge
from harmonium.heads.label_view import LabelView
from harmonium.heads.linear import LinearHead
from harmonium.heads.multi_label import MultiLabelHinge
from harmonium.heads.ordinal import Ordinal

__all__ = ["EpsilonInsensitive", "Head", "Hinge", "LabelView", "LinearHead", "MultiLabelHinge", "Ordinal"]
