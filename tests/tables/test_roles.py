"""Which role a column has, and what its reader makes of it."""

from __future__ import annotations

import datetime as dt
import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from harmonium import HarmoniumWarning, TableViews
from harmonium.core.parts import registered
from harmonium.exceptions import InvalidViewError
from harmonium.tables import ROLES, Category, Date, Drop, Number, Reader, Tags, Vector, Words
from tests.cases.tables import WORDS, column, wine_list

rng = np.random.default_rng(0)
ROWS = 200


def role_of(values: Any, name: str = "x") -> str:
    return next(role.word() for role in ROLES if role.suits(column(values, name)))


PROSE = [f"the {rng.choice(WORDS)} wine, {rng.choice(WORDS)} and {rng.choice(WORDS)} no {i}" for i in range(ROWS)]
CASES = [
    ("age", rng.integers(18, 90, ROWS), "number"),
    ("year", rng.integers(1990, 2024, ROWS), "number"),
    ("rating", rng.integers(1, 6, ROWS), "number"),
    ("price", rng.integers(5, 500, ROWS), "number"),
    ("temperature", rng.normal(size=ROWS), "number"),
    ("capital_gain", np.where(rng.random(ROWS) < 0.9, 0, rng.integers(1000, 50000, ROWS)), "number"),
    ("n_children", rng.poisson(1.2, ROWS), "count"),
    ("zip_code", rng.choice([10115, 20095, 80331], ROWS), "category"),
    ("store_id", rng.integers(0, 12, ROWS), "category"),
    ("customer_id", rng.permutation(10**6)[:ROWS], "drop"),
    ("anything", np.arange(1, ROWS + 1), "drop"),
    ("annual", np.arange(1950, 1950 + ROWS), "number"),
    ("hash", [f"{value:032x}" for value in range(17, 17 + ROWS)], "drop"),
    ("constant", np.ones(ROWS), "drop"),
    ("empty", [None] * ROWS, "drop"),
    ("smokes", rng.integers(0, 2, ROWS), "flag"),
    ("open", rng.choice([True, False], ROWS), "flag"),
    ("answer", rng.choice(["Yes", "No", ""], ROWS), "flag"),
    ("alcohol", [f"{value}%" for value in rng.integers(11, 16, ROWS)], "number"),
    ("cost", [f"${value:,}" for value in rng.integers(500, 50000, ROWS)], "number"),
    ("length", [f"{value} cm" for value in rng.integers(50, 200, ROWS)], "number"),
    ("height", [f"{value:.1f}".replace(".", ",") for value in rng.normal(2, 0.3, ROWS)], "number"),
    ("amount", [decimal.Decimal(int(value)) / 7 for value in rng.integers(1, 999, ROWS)], "number"),
    ("postal", [f"0{value}" for value in rng.choice([1234, 5678, 2345], ROWS)], "category"),
    ("place", rng.choice(["New York", "Rome", "?"], ROWS), "category"),
    ("city", [f"City {value}" for value in rng.integers(0, 60, 5 * ROWS)], "category"),
    ("text", PROSE, "words"),
    ("keywords", ["|".join(rng.choice(WORDS, 3)) for _ in range(ROWS)], "tags"),
    ("genres", [", ".join(rng.choice(WORDS, 2)) for _ in range(ROWS)], "tags"),
    ("labels", [list(rng.choice(WORDS, 2)) for _ in range(ROWS)], "tags"),
    ("embedding", [list(rng.normal(size=3)) for _ in range(ROWS)], "vector"),
    ("day", pd.date_range("2020-01-01", periods=ROWS), "date"),
    ("iso", pd.date_range("2020-01-01", periods=ROWS, freq="7h").astype(str), "date"),
    ("european", [f"{day}/{month}/2021" for month in range(1, 11) for day in range(1, 21)], "date"),
    ("python_date", [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)], "date"),
    ("customerIndex", rng.permutation(10**5)[:ROWS], "number"),
    ("class_size", rng.integers(10, 35, ROWS), "number"),
    ("letters", rng.choice(["F", "N"], ROWS), "category"),
    ("declared", pd.Categorical(rng.integers(0, 4, ROWS)), "category"),
    ("written_lists", [str(list(rng.choice(WORDS, 2))) for _ in range(ROWS)], "tags"),
    ("objects", ['{"a": 1, "b": "x"}', '{"a": 2, "b": "y"}'] * (ROWS // 2), "category"),
    ("towns", rng.choice(["Paris, France", "Rome, Italy", "Lyon, France"], ROWS), "category"),
    ("mixed_vector", [[0.5, 1.5]] * (ROWS - 1) + [[1, 2]], "vector"),
    (
        "euros",
        [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in rng.uniform(9, 9000, ROWS)],
        "number",
    ),
    ("loss", [f"-${value}" for value in rng.integers(1, 500, ROWS)], "number"),
    ("late", ["TBD"] * 5 + [f"${value}" for value in rng.integers(1, 500, 20 * ROWS)], "number"),
    ("slashes", [f"2021/{month:02d}/{day:02d}" for month in range(1, 11) for day in range(1, 21)], "date"),
    ("named", pd.date_range("1995-01-01", periods=ROWS, freq="61D").strftime("%d-%b-%y"), "date"),
    ("spelled", pd.date_range("2020-01-01", periods=ROWS).strftime("%B %d, %Y"), "date"),
    ("zoned", pd.date_range("2020-01-01 09:00", periods=ROWS, tz="US/Eastern"), "date"),
    ("duration", pd.to_timedelta(rng.integers(10, 5000, ROWS), unit="s"), "number"),
]


@pytest.mark.parametrize(("name", "values", "role"), CASES, ids=[case[0] for case in CASES])
def test_roles_are_inferred(name: str, values: Any, role: str) -> None:
    assert role_of(values, name) == role


def test_every_role_has_a_word_and_is_asked() -> None:
    assert set(registered("column").values()) == set(ROLES)
    assert all(isinstance(role(), Reader) for role in ROLES)


def test_ambiguous_dates_are_no_dates() -> None:
    assert column(["01/02/2021", "03/04/2021"] * 20).times is None


@pytest.mark.parametrize(("text", "number"), [("1,200", 1200), ("12.5", 12.5), ("-3", -3), ("1e3", 1000), ("7,5", 7.5)])
def test_numbers_in_texts(text: str, number: float) -> None:
    values = column([text] * 30).numbers
    assert values is not None
    np.testing.assert_allclose(values, number)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0,125", "0,5", "1,250", "1,25"], [0.125, 0.5, 1.25, 1.25]),
        (["950 €", "1.200 €", "12.500 €"], [950, 1200, 12500]),
        (["2.452,56", "487,16", "3"], [2452.56, 487.16, 3]),
        (["1,200", "1,200.50", "300"], [1200, 1200.5, 300]),
        (["1.125 kg", "0.250 kg"], [1.125, 0.25]),
        (["1 200", "15"], [1200, 15]),
        (["−3.5", "+2"], [-3.5, 2]),
        (["USD 300", "USD 1,500"], [300, 1500]),
        (["21°C", "-4°C"], [21, -4]),
    ],
)
def test_marks_are_decided_for_the_whole_column(texts: list[str], numbers: list[float]) -> None:
    found = column(texts).numbers
    assert found is not None
    np.testing.assert_allclose(found, numbers)


@pytest.mark.parametrize("form", ["%d-%b-%y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d.%b.%Y %H:%M"])
def test_dates_with_names_of_months_are_read_as_strptime_reads_them(form: str) -> None:
    texts = pd.date_range("1969-01-05", "2068-12-30", periods=300).strftime(form)
    read = column(texts)
    assert read.date_format == "named"
    assert read.times is not None
    assert read.times.tolist() == [dt.datetime.strptime(text, form) for text in texts]


def test_names_of_months_in_prose_are_no_dates() -> None:
    assert not any(column(values).date_format for values in (["May 5", "June 7"] * 50, ["in March 5, 2020 ended"] * 50))


def test_new_numbers_and_dates_are_read_as_the_first_ones_were() -> None:
    weights = Number().bind(column([f"{value} kg" for value in range(50, 90)]))
    new = column(["100 kg", "100 g", "100", "TBD", None])
    [block] = weights.read(new)
    np.testing.assert_array_equal(np.isnan(block.matrix[:, 0]), [False, True, False, True, True])
    assert block.matrix[0] == block.matrix[2] and weights.strange(new, [block]) == 2
    days = Date().bind(column([f"{month:02d}/{day:02d}/2020" for month in (1, 2, 3) for day in range(1, 28)]))
    one, two = column(["03/04/2020"]), column(["03/04/2020", "25/04/2020"])
    np.testing.assert_array_equal(days.read(one)[0].matrix, days.read(two)[0].matrix[:1])
    assert days.order_ == "month" and days.strange(two, days.read(two)) == 1


def test_times_keep_their_own_clock() -> None:
    nine = pd.date_range("2020-01-01 09:00", periods=200, tz="US/Eastern")
    assert "hour" not in Date().bind(column(nine)).parts_  # nine in winter and in summer
    texts = column([f"2020-01-{day:02d}T09:00:00+02:00" for day in range(1, 29)])
    assert texts.times is not None and set(texts.times.hour) == {9}


def test_logarithms_of_small_numbers() -> None:
    small = column(np.random.default_rng(0).lognormal(-10, 2, 200))
    [logs], [plain] = Number("log").bind(small).read(small), Number("linear").bind(small).read(small)
    assert abs(np.corrcoef(logs.matrix[:, 0], np.log(small.numbers))[0, 1]) > 0.98  # type: ignore[arg-type]
    assert not np.allclose(logs.matrix, plain.matrix)


def test_values_that_cannot_be_read_are_told() -> None:
    frame = pd.DataFrame({"awards": np.random.default_rng(0).poisson(0.7, 60), "text": PROSE[:60]})
    table = TableViews().fit(frame)
    with pytest.warns(HarmoniumWarning, match=r"count as missing: 'awards' \(2 rows\)"):
        table.transform(pd.DataFrame({"awards": [2.5, -1, 1], "text": PROSE[:3]}))


def test_one_odd_vector_is_missing() -> None:
    reader = Vector().bind(column([[0.5, 1.0], [2.0, 0.25]]))
    new = column([[1.0, 2.0], [1.0], ["a", "b"], None])
    [block] = reader.read(new)
    np.testing.assert_array_equal(np.isnan(block.matrix).all(axis=1), [False, True, True, True])
    assert reader.strange(new, [block]) == 2


def test_columns_that_are_the_same_as_text_are_refused() -> None:
    with pytest.raises(InvalidViewError, match="'1' occurs twice"):
        TableViews().fit(pd.DataFrame({1: np.arange(30) * 1.5, "1": -np.arange(30.0), "z": PROSE[:30]}))


def test_different_units_are_no_numbers() -> None:
    assert column(["3 kg", "500 g"] * 20).numbers is None


def test_prices_are_scaled_by_logarithms_and_outliers_bend() -> None:
    price = column(np.exp(np.random.default_rng(0).normal(3, 1, 500)), "price")
    reader = Number().bind(price)
    [block] = reader.read(price)
    assert reader.log_ and abs(np.median(block.matrix)) < 1e-12 and np.abs(block.matrix).max() < 3
    [far] = reader.read(column([1e30, -1.0, np.nan, np.inf]))
    assert far.matrix[0, 0] < 3.001 and np.isnan(far.matrix[1:]).all()


def test_symmetric_numbers_are_not() -> None:
    assert not Number().bind(column(np.random.default_rng(0).normal(50, 5, 500))).log_


def test_levels_keep_the_order_of_an_ordered_column() -> None:
    sizes = pd.Categorical(["small", "large", "medium"] * 5, categories=["small", "medium", "large"], ordered=True)
    assert Category().bind(column(sizes)).levels_ == ["small", "medium", "large"]
    assert Category().bind(column([10, 9, 2] * 4)).levels_ == ["2", "9", "10"]


def test_whole_numbers_that_became_floats_are_the_same_categories() -> None:
    reader = Category().bind(column([1, 2, 1, 2]))
    [block] = reader.read(column([1.0, np.nan, 2.0]))
    np.testing.assert_array_equal(block.matrix[:, 0], [0, np.nan, 1])


def test_words_are_counts_in_long_texts_only() -> None:
    short, long = ["red wine", "white wine"] * 5, ["wine " * 5 + "red " * 3] * 10
    assert not Words().bind(column(short)).counts_
    assert Words().bind(column(long)).counts_
    assert not Words(values="presence").bind(column(long)).counts_


def test_missing_texts_are_missing_and_not_empty() -> None:
    texts = column(["red wine", None, "?", "red plum", ""])
    [block] = Words(min_rows=1).bind(texts).read(texts)
    assert block.present is not None
    np.testing.assert_array_equal(block.present, [True, False, False, True, False])


def test_tags_take_lists_and_marks() -> None:
    marked, lists = column(["a|b", "b", None]), column([["a", "b"], ["b"], None])
    for values in (marked, lists):
        [block] = Tags(min_rows=1).bind(values).read(values)
        np.testing.assert_array_equal(block.matrix.toarray(), [[1, 1], [0, 1], [0, 0]])


def test_parts_of_dates_that_are_new_are_missing() -> None:
    reader = Date().bind(column(pd.to_datetime(["2021-01-04", "2021-02-05", "2021-03-08"])))
    blocks = {block.columns[0]: block for block in reader.read(column(pd.to_datetime(["2022-12-05", None])))}
    assert np.isnan(blocks["x_month"].matrix).all()
    assert blocks["x_weekday"].matrix[0, 0] == 0 and np.isnan(blocks["x_weekday"].matrix[1, 0])
    assert blocks["x_month"].features == ["x_month=1", "x_month=2", "x_month=3"]


@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("number", ["red", "white"] * 10),
        ("number", [["a"], ["b"]] * 10),
        ("count", [-1, 2] * 10),
        ("count", [0.5, 2] * 10),
        ("count", ["3 pieces", "5 pieces"] * 10),
        ("flag", ["red", "white"] * 10),
        ("date", ["red", "white"] * 10),
        ("vector", [[1.0], [1.0, 2.0]] * 10),
        ("vector", [["a", "b"], ["b", "c"]] * 10),
        ("category", [f"v{i}" for i in range(20)]),
        ("words", ["a", "b"] * 10),
        ("tags", [f"v{i}" for i in range(20)]),
        (Number(scale="log"), [-3.0, 4.0] * 10),
    ],
)
def test_roles_that_a_column_cannot_have_are_refused_by_name(role: Any, values: list[Any]) -> None:
    frame = pd.DataFrame({"colour": values, "size": np.arange(len(values)) ** 2.0})
    with pytest.raises(InvalidViewError, match="colour"):
        TableViews({"colour": role}).fit(frame)


@pytest.mark.parametrize(
    ("roles", "error", "match"),
    [
        ({"colour": "word"}, ValueError, "colour.*'words'"),
        ({"hue": "words"}, InvalidViewError, "hue"),
        ("words", TypeError, "mapping"),
        ({"colour": Words}, ValueError, "colour"),
        ({"colour": Words(max_features=0)}, ValueError, "max_features"),
        ({"colour": Tags(separator=3)}, TypeError, "separator"),  # type: ignore[arg-type]
    ],
)
def test_roles_that_there_are_not_are_refused(roles: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        TableViews(roles).fit(pd.DataFrame({"colour": ["red", "white"] * 10}))


def test_what_is_left_out_is_told() -> None:
    with pytest.warns(HarmoniumWarning, match=r"'wine_id' \(an identifier\), 'country' \(always the same\)"):
        table = TableViews().fit(wine_list())
    roles = dict(table.columns_["role"])
    assert roles == {
        "wine_id": "drop",
        "review": "words",
        "place": "category",
        "price": "number",
        "alcohol": "number",
        "year": "number",
        "awards": "count",
        "organic": "flag",
        "grapes": "tags",
        "tasted": "date",
        "country": "drop",
        "points": "number",
    }


def test_what_is_asked_for_is_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = TableViews({"wine_id": "drop", "country": Drop()}).fit(wine_list())
        assert TableViews({"place": "category"}, remainder="drop").fit_transform(wine_list()).names == ["categories"]
    assert table.columns_.loc["wine_id", "note"] == "an identifier"


def test_a_table_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidViewError, match="all are left out"):
        TableViews().fit(pd.DataFrame({"a": ["x"] * 5, "b": [None] * 5}))


def test_names_of_views_are_safe() -> None:
    frame = pd.DataFrame({"numbers": PROSE, "head": PROSE, "a.b": PROSE, "x": rng.normal(size=ROWS)})
    views = TableViews().fit_transform(frame)
    assert views.names == ["numbers_", "head_", "a_b", "numbers"]


def test_libraries_agree() -> None:
    pandas = wine_list().drop(columns=["wine_id", "country"])
    frames = [pandas, pl.from_pandas(pandas), pl.from_pandas(pandas).to_arrow()]
    read = [TableViews().fit_transform(frame) for frame in frames]
    for other in read[1:]:
        assert other.names == read[0].names
        for name in other.names:
            left, right = read[0].source(name), other.source(name)
            assert left.columns == right.columns and left.features == right.features
            np.testing.assert_array_equal(_dense(left.matrix), _dense(right.matrix))


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
