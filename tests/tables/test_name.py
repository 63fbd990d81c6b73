"""Names and codes: character n-grams beside words and levels, which the linear part alone sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from harmonium import HarmoniumRegressor, Stochastic, TableViews, load
from harmonium.estimators.input import known_views
from harmonium.tables import Category, Name, Reader
from harmonium.tables.strings.ngrams import learned_ngrams
from harmonium.views.sharding.joining import join_batches, join_views
from harmonium.views.sharding.stored import store_views
from tests.cases.tables import column

STEMS = ["apache", "pulsar", "avenger", "shine", "passion", "discover", "splendor", "unicorn"]
PRICES = dict(zip(STEMS, np.linspace(-2, 2, len(STEMS)), strict=True))


def bikes(n_rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Bikes whose price depends on a part of their name, which is new in many rows as a whole."""
    rng = np.random.default_rng(seed)
    stems = rng.choice(STEMS, n_rows)
    names = [f"{stem.title()} {rng.choice(['rtr', 'dts', 'es'])}{rng.integers(100, 160)}" for stem in stems]
    prices = [PRICES[stem] for stem in stems] + rng.normal(0, 0.1, n_rows)
    return pd.DataFrame({"bike": names, "km": rng.normal(size=n_rows), "price": prices})


def fitted(frame: pd.DataFrame, **settings: Any) -> HarmoniumRegressor:
    return HarmoniumRegressor(3, driver=Stochastic(max_iter=2), random_state=0, **settings).fit(frame, "price")


@pytest.mark.parametrize("reader", [Name(), Category(min_rows=1)])
def test_n_grams_are_those_of_scikit_learn(reader: Reader) -> None:
    names = bikes()["bike"]
    bound = reader.bind(column(names, "bike"))
    block = bound.read(column(names, "bike"))[-1]
    counts = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), binary=True)
    expected = counts.fit_transform(names).toarray()
    rows = expected.sum(axis=0)
    usable = (rows >= 2) & (rows <= 0.95 * len(names))
    assert block.linear_only
    assert block.columns == counts.get_feature_names_out()[usable].tolist()
    np.testing.assert_array_equal(block.matrix.toarray(), expected[:, usable])


def test_the_most_frequent_n_grams_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    names = bikes()["bike"]
    monkeypatch.setattr("harmonium.tables.strings.ngrams._MAX_FEATURES", 20)
    kept = learned_ngrams(column(names))
    counts = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), binary=True)
    rows = pd.Series(counts.fit_transform(names).sum(axis=0).A1, counts.get_feature_names_out())
    assert len(kept) == 20
    assert rows[kept].min() >= rows.drop(kept).max()


def test_a_missing_or_strange_name_lacks_its_characters() -> None:
    reader = Name().bind(column(bikes()["bike"], "bike"))
    block = reader.read(column(["Pulsar es120", None, "§§"], "bike"))[-1]
    assert block.present is not None
    assert block.present.tolist() == [True, False, False]


def test_few_categories_and_codes_in_numbers_have_no_characters() -> None:
    assert not Category().bind(column(["Rome", "Oslo"] * 50)).ngrams_
    assert not Category().bind(column(np.repeat(np.arange(100), 3), "store_id")).ngrams_
    assert Category().restore({"levels_": ["a"], "rare_": []}).ngrams_ == []  # of a file that is older


def test_hidden_units_do_not_see_characters() -> None:
    frame = bikes()
    model = fitted(frame)
    assert set(model.families_) == {"bike", "numbers"}
    views = known_views(model, frame.head())
    assert views.names == ["bike", "numbers"]
    assert list(views.linear_families) == ["bike_characters"]
    assert not any("bike_characters" in name for name in model.fitted_.parameters)
    assert "bike_characters" in model.views_.loc["bike", "view"]


def test_names_that_are_new_are_predicted_by_their_characters() -> None:
    frame, new = bikes(), bikes(60, seed=1)
    model = fitted(frame)
    # parts of names run together, so that no word is known
    new["bike"] = [name.replace(" ", "x").lower() + "z" for name in new["bike"]]
    assert model.score(new.assign(bike=None), "price") < 0.1
    assert model.score(new, "price") > 0.7


def test_models_keep_what_they_know_of_characters(tmp_path: Path) -> None:
    frame = bikes()
    model = fitted(frame)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.views_.equals(model.views_)


def test_explanations_add_up_with_characters_as_one_feature() -> None:
    frame = bikes()
    model = fitted(frame)
    one = model.explain(frame.head(3))[1]
    table = one.features
    assert table.loc[table["feature"] == "(bike_characters)", "view"].tolist() == ["bike"]
    total = one.base + one.moves.sum(axis=0) @ one.rates + one.directly.sum(axis=0)
    np.testing.assert_allclose(total, one.scores)
    np.testing.assert_allclose(one.scores, model.predict(frame.iloc[[1]]), rtol=1e-6)


def test_views_in_parts_keep_characters(tmp_path: Path) -> None:
    frame = bikes(30)
    views = TableViews().fit_transform(frame)
    families = {"bike": views.source("bike").family.restore(views.source("bike").n_columns, {})}
    whole = views.batch(slice(None), families)
    parts = [views[:10], views[10:]]
    for joined in (
        join_views(parts).batch(slice(None), families),
        join_batches([part.batch(slice(None), families) for part in parts], families),
        join_views([shard.read() for shard in store_views(parts, tmp_path)]).batch(slice(None), families),
        whole.part(0, 30),
    ):
        found, expected = (batch.inputs["bike_characters"].statistic.toarray() for batch in (joined, whole))
        np.testing.assert_array_equal(found, expected)


def test_urls_and_codes_are_names_and_identifiers_are_not() -> None:
    numbers = range(200)
    frame = pd.DataFrame(
        {
            "url": [f"https://shop.org/{STEMS[n % 8]}/{n}" for n in numbers],
            "sku": [f"{STEMS[n % 8][:3].upper()}-{n}" for n in numbers],
            "person": [f"{STEMS[n % 8]}, {STEMS[n // 8 % 8].upper()}" for n in numbers],
            "order": [f"ORD-{n:06d}" for n in numbers],
            "price": np.random.default_rng(0).normal(size=200),
        }
    )
    roles = TableViews().fit(frame).columns_["role"].to_dict()
    assert not Name().bind(column(frame["url"] + "/in-a-very-long-address")).ngrams_
    assert roles == {"url": "name", "sku": "name", "person": "name", "order": "drop", "price": "number"}
