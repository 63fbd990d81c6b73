"""Selection of units that were born from what the data leave unexplained: all stay that go on to differ from others."""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.hidden.selection.selection import Use
from harmonium.hidden.selection.useful_units import UsefulUnits


class BornUnits(UsefulUnits):
    """Selection of the units of a `SpikeSlab` layer whose births were justified, so that nothing is charged for them.

    Units that became the same for all items are removed, and those that agree become one.
    """

    def begin(self, parameters: Parameters) -> None:
        """Leave the prior as it was at birth."""

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Charge nothing."""
        return 0.0

    def evidence(self, parameters: Parameters) -> np.ndarray:
        """Return the evidence of each unit, which counts as found whatever it is."""
        return np.maximum(super().evidence(parameters), 1.0)

    def found(self, parameters: Parameters, use: Use) -> np.ndarray:
        """Return which units differ from item to item."""
        return ~self._layer.groups.idle(use.deviation)
