"""Default drivers of models, by what they predict and by their units.

`docs/how_it_works/defaults.md` has them as a table, and the measurements behind them.
"""

from __future__ import annotations

from functools import partial

from harmonium.hidden import HiddenLayer
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.optimizers import Adam
from harmonium.training.drivers.spectral import Spectral
from harmonium.training.drivers.stochastic import Stochastic

#: labelled rows below which one set of held-out rows is too small to choose by: a convention
MANY_ROWS = 3000
# Updates where rows are few: conventions.
_FEWEST_UPDATES, _UPDATES_OF_A_UNIT = 500, 15


def default_driver(layer: HiddenLayer, has_head: bool, n_rows: int | None = None) -> Driver:
    """Return the driver that suits a layer, with or without something to predict; no number of rows means many."""
    if not has_head and layer.coordinates is not None:
        return Spectral()
    if not has_head:
        if layer.groups.nonnegative:
            return Stochastic(max_iter=5, batch_size=0.03, learning_rate=0.02)
        if layer.selection.selects:
            return Stochastic(batch_size=0.05, learning_rate=0.01, optimizer=Adam())
        return Stochastic()
    averaged = partial(Stochastic, schedule="constant", average=True)
    if layer.selection.selects:
        return averaged(batch_size=0.05, learning_rate=0.03, max_update=1.5, weight_decay=0.5 / 3)
    if n_rows is not None and n_rows < MANY_ROWS:
        updates = max(_FEWEST_UPDATES, _UPDATES_OF_A_UNIT * layer.groups.predictors.n_units_)
        return averaged(batch_size=0.03, learning_rate=0.02, max_update=1.0, weight_decay="auto", updates=updates)
    return averaged(batch_size=0.01, learning_rate=0.01, max_update=0.5, weight_decay="auto")
