"""What ``harmonium fit`` prints of columns and scores."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from rich.console import Console

from harmonium.cli.progress import Steps
from harmonium.cli.run_fit import _shown_before, score_table
from harmonium.exceptions import HarmoniumWarning
from harmonium.tables import TableViews


def test_columns_that_are_not_used_are_told_once_with_the_reason_and_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = pd.DataFrame({"id": [f"s{row}" for row in range(40)], "price": [row % 7 for row in range(40)]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", HarmoniumWarning)  # which speak of Python
        used, _ = _shown_before(frame, TableViews(), Steps(silent=False))
    assert list(used) == ["price"]
    assert "Not used: id (an identifier). Give a column a role" in capsys.readouterr().err
    with pytest.warns(HarmoniumWarning, match="'id'"):  # where no table is shown
        _shown_before(frame, TableViews(), Steps(silent=True))


def test_scores_have_no_minus_before_zero() -> None:
    trivial = {"name": "trivial", "value": -1e-5, "lower": -0.017, "upper": -1e-9}
    measure = {"measure": "R²", "higher_is_better": True, "models": [trivial]}
    console = Console(width=100)
    with console.capture() as printed:
        console.print(score_table({"n_rows": 9, "measures": [measure]}))
    assert "0.000  (-0.017 to 0.000)" in printed.get() and "-0.000" not in printed.get()
