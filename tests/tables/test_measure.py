"""Measures in texts: units that are converted, added up or kept apart, sides and ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harmonium import HarmoniumWarning, TableViews, load
from harmonium.exceptions import InvalidViewError
from harmonium.tables import ROLES, Measure
from harmonium.tables.strings.measures import MeasureFormat
from tests.cases.tables import column, quick_regressor

# texts, and what the first of them says, by hand
CASES = [
    (["90 min", "2 Seasons", "1 Season", "1 h 5 min"], {"min": 90.0}),
    (["2 Seasons", "90 min", "1 Season"], {"season": 2.0}),
    (["2 h 5 min", "45 min", "3 h"], {"min": 125.0}),
    (["2h 5m", "45m", "3h"], {"min": 125.0}),
    (["45m", "2h 5m", "3h"], {"min": 45.0}),
    (["24 oz", "1.5 lb", "2 kg"], {"kg": 0.680388555}),
    (["1,5 kg", "1.200 g"], {"kg": 1.5}),
    (["10 x 12 in", "3x4 in"], {"m 1": 0.254, "m 2": 0.3048}),
    (["5' 11\"", "6'2\""], {"m": 1.8034}),
    (["1st Owner", "2nd Owner", "3rd owner"], {"owner": 1.0}),
    (["2-10 employees", "51-200 employees", "10,000+ employees"], {"employee low": 2.0, "employee high": 10.0}),
    (["3 bed 2 bath", "4 beds, 3 baths"], {"bed": 3.0, "bath": 2.0}),
    (["1.5M", "201k", "3M"], {"": 1.5e6}),
    (["1.5M", "201k", "3M", "2M", "4k", "Varies"], {"": 1.5e6}),
    (["Varies", "1.5M", "201k", "3M", "2M", "4k"], {}),
    (["3+ years", "6 months"], {"month": 36.0}),
]


@pytest.mark.parametrize(("texts", "numbers"), CASES, ids=[case[0][0] for case in CASES])
def test_measures_are_read(texts: list[str], numbers: dict[str, float]) -> None:
    form = MeasureFormat.of(np.array(texts * 10, dtype=object))
    assert form is not None
    found = form.read(texts[0])
    assert found is not None
    assert found.numbers == pytest.approx(numbers)


@pytest.mark.parametrize(
    "texts",
    [
        [f"{n} {street} Street" for n, street in enumerate("abcdefghijklmnopqrst")],
        ["25-Sep-21", "24-Oct-21", "1-Nov-20"],
        ["4.0.3 and up", "2.3 and up"],
        ["10:30", "11:45"],
        ["001", "002", "010"],
        ["13+", "18+", "All"],
        ["a red wine", "3 glasses of it, please"],
        ["12", "7.5", "8"],
    ],
)
def test_other_texts_are_no_measures(texts: list[str]) -> None:
    assert MeasureFormat.of(np.array(texts * 10, dtype=object)) is None


def test_telephone_numbers_are_no_ranges() -> None:
    numbers = [f"{area}-{number}" for area in (555, 444) for number in range(1000, 1100)]
    assert MeasureFormat.of(np.array(numbers, dtype=object)) is None


def frame(n_rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    minutes, seasons, is_film = rng.integers(60, 200, n_rows), rng.integers(1, 9, n_rows), rng.random(n_rows) < 0.6
    pairs = zip(minutes, seasons, is_film, strict=True)
    return pd.DataFrame(
        {
            "duration": [f"{minute} min" if film else f"{season} Seasons" for minute, season, film in pairs],
            "size": [f"{a} x {b} in" if a < 20 else None for a, b in rng.integers(1, 30, (n_rows, 2))],
            "weight": [f"{value / 10} lb" if value % 9 == 0 else None for value in rng.integers(1, 200, n_rows)],
            "price": rng.normal(size=n_rows),
        }
    )


def test_units_that_differ_are_columns_and_a_kind() -> None:
    table = TableViews().fit(frame())
    assert table.columns_["role"].tolist() == ["measure", "measure", "number", "number"]
    views = table.transform(frame())
    names = views.source("numbers").columns
    assert names == ["duration (min)", "duration (season)", "size (m 1)", "size (m 2)", "weight", "price"]
    minutes, seasons = views.source("numbers").matrix[:, :2].T
    assert (np.isnan(minutes) != np.isnan(seasons)).all()
    kinds = views.source("categories").matrix[:, 0]
    np.testing.assert_array_equal(kinds, np.isnan(minutes))  # seasons come after minutes


def test_another_unit_of_the_system_is_read_and_another_kind_is_missing() -> None:
    table = TableViews().fit(frame())
    new = frame(3).assign(duration=["2 h", "120 min", "3 reels"])
    with pytest.warns(HarmoniumWarning, match=r"'duration' \(1 rows\)"):
        numbers = table.transform(new).source("numbers").matrix
    assert numbers[0, 0] == numbers[1, 0]
    assert np.isnan(numbers[2, :2]).all()


def test_measures_are_kept_in_files(tmp_path: Path) -> None:
    model = quick_regressor().fit(frame(), "price")
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(frame()), model.predict(frame()))


def test_a_column_without_measures_is_refused() -> None:
    with pytest.raises(InvalidViewError, match="as measures needs numbers with units"):
        Measure().bind(column(["red", "green"] * 10))
    assert not any(role is Measure and role.suits(column(["red", "green"] * 10)) for role in ROLES)
