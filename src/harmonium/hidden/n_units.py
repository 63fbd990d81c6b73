"""Number of units of a model whose user names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer

# Most units by the root of the number of rows, and of all, unless the user names a number. Topics of few
# items are made of chance: NPMI of 20 and 50 topics of 2,500 hotel reviews .18 and .13, of 2,570 wines .21 and .08, but
# of 11,000 messages .47 and .40, where more topics are found that read well.
_UNITS_BY_ROOT, _MOST_UNITS = 0.4, 50


def drops_units(layer: HiddenLayer) -> bool:
    """Return whether units that are not needed go while the layer is fitted, so that there may be many at first."""
    return layer.selection.selects or layer.coordinates is not None


def usual_size(layer: HiddenLayer, n_rows: int | None) -> int:
    """Return the largest number of components of a model whose user names none.

    Parameters
    ----------
    layer : HiddenLayer
        The layer.
    n_rows : int or None
        Number of training rows; None if there may be many.

    Returns
    -------
    int
        0.4 times the root of the number of rows, between 2 and 50; 50 if units that are not needed go.
    """
    if n_rows is None or drops_units(layer):
        return _MOST_UNITS
    return int(np.clip(round(_UNITS_BY_ROOT * n_rows**0.5), 2, _MOST_UNITS))
