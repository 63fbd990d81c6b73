"""Selection of units: which units a layer has, by what the data ask for."""

from harmonium.hidden.selection.rule import SelectionRule
from harmonium.hidden.selection.selection import Pruned, Selection, SelectionContext, Use

__all__ = ["Pruned", "Selection", "SelectionContext", "SelectionRule", "Use"]
