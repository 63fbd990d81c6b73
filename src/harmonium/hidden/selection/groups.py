"""Rule and selection of a layer of several groups of units, each of which does what it does alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, record
from harmonium.hidden.selection.rule import SelectionRule
from harmonium.hidden.selection.selection import Selection, SelectionContext


class RuleOfGroups(SelectionRule):
    """Rule of the groups of a layer, each for itself."""

    @property
    def activity(self) -> float | None:
        """Target of the first group that has one."""
        targets = (layer.selection.activity for _, layer in self.layer.groups.parts)
        return next((target for target in targets if target is not None), None)

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the counts of each group, 0 for one that has none."""
        mean, parts = self.presence(natural, mean), self.layer.groups.parts
        found = [layer.selection.counts(natural[..., units], mean[..., units]) for units, layer in parts]
        if not any(isinstance(part, np.ndarray) for part in found):
            return 0.0
        return np.concatenate(
            [np.broadcast_to(part, layer.n_units_) for part, (_, layer) in zip(found, parts, strict=True)]
        )

    def start(self, context: SelectionContext) -> Selection:
        """Return what each group does."""
        inner = [(units, layer.selection.start(context)) for units, layer in self.layer.groups.parts]
        return _SelectionOfGroups(inner) if any(type(one) is not Selection for _, one in inner) else Selection()


class _SelectionOfGroups(Selection):
    """What the groups of a layer do about their units, each for itself."""

    def __init__(self, parts: list[tuple[slice, Selection]]) -> None:
        self.parts = parts

    def begin(self, parameters: Parameters) -> None:
        """Set the priors to their initial state."""
        for units, selection in self.parts:
            selection.begin(_part_of(parameters, units))

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Update each group from its counts."""
        counts = np.broadcast_to(counts, len(parameters[HIDDEN_BIAS]))
        for units, selection in self.parts:
            selection.update(_part_of(parameters, units), counts[units], n_rows, n_before)


def _part_of(parameters: Mapping[str, np.ndarray], units: slice) -> Parameters:
    """Return the parameters of some units: arrays that share their memory with those of all."""
    found: Parameters = {}
    for name, value in parameters.items():
        axis = record(name).unit_axis
        found[name] = value if axis is None else value[units] if axis == 0 else value[:, units]
    return found
