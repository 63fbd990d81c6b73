"""The fit of a model that predicts: what it says of units after topics were merged."""

from __future__ import annotations

import re
import warnings

import pandas as pd

from harmonium import HarmoniumClassifier, Stochastic
from harmonium.exceptions import HarmoniumWarning


def test_no_more_units_are_idle_than_there_are() -> None:
    classes = [f"c{row}" for row in range(60)]  # one row each: nothing can be learned
    frame = pd.DataFrame({"text": [f"word{row} room" for row in range(60)], "kind": classes})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = HarmoniumClassifier(driver=Stochastic(max_iter=2), random_state=0).fit(frame, "kind")
    told = [str(one.message) for one in caught if issubclass(one.category, HarmoniumWarning)]
    (idle, units), *_ = [found for text in told for found in re.findall(r"(\d+) of (\d+) hidden units", text)]
    assert int(idle) <= int(units) == model.fitted_.problem.energy.hidden.n_units_
