"""Number of units of models whose user names none."""

from __future__ import annotations

import pytest

from harmonium import IBP
from harmonium.hidden import BernoulliUnits, ComposedUnits, FactorUnits, GaussianUnits, HiddenLayer, SpikeSlab
from harmonium.hidden.n_units import usual_size


@pytest.mark.parametrize(
    ("layer", "rows", "size"),
    [
        (BernoulliUnits(), 5, 2),
        (BernoulliUnits(), 2500, 20),
        (ComposedUnits(), 2500, 20),
        (BernoulliUnits(), 10**6, 50),
        (GaussianUnits(), None, 50),
        (SpikeSlab(), 100, 50),
        (IBP(), 100, 50),
        (FactorUnits(), 100, 50),
    ],
    ids=str,
)
def test_number_of_topics_by_rows(layer: HiddenLayer, rows: int | None, size: int) -> None:
    assert usual_size(layer, rows) == size
