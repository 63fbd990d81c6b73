"""Embeddings of columns: views beside those of the roles, made once, by the same encoder for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import harmonium
from harmonium import (
    Harmonium,
    HarmoniumClassifier,
    HarmoniumMultiOutput,
    HarmoniumRegressor,
    Stochastic,
    TableViews,
)
from harmonium.exceptions import InvalidViewError, ModelFileError
from harmonium.features.encoders import Encoder
from harmonium.inspection import set_encoders
from harmonium.model_folder.embeddings import embedded_items, embedding_tensors
from harmonium.storage import load_model
from harmonium.tables import Image
from tests.cases.bad_input import assert_one_sentence
from tests.cases.encoders import Meanings, reviews

FRAME = reviews()


def table(embed: Any) -> TableViews:
    return TableViews({"review": "words"}, embed=embed)


def model(embed: Any) -> Harmonium:
    return Harmonium(3, views=table(embed), driver=Stochastic(max_iter=3), random_state=0)


def test_the_embedding_is_a_view_and_rows_without_a_text_lack_it() -> None:
    frame = FRAME.assign(review=FRAME["review"].where(FRAME.index % 10 > 0))
    reader = table({"review": Meanings()})
    views = reader.fit_transform(frame)
    assert views.names[:2] == ["review", "review_embedding"]
    matrix = views.source("review_embedding").matrix
    there = frame["review"].notna().to_numpy()
    np.testing.assert_allclose(matrix[there], Meanings().encode(frame["review"][there].tolist()), rtol=1e-6)
    assert np.isnan(matrix[~there]).all()
    assert reader.columns_["note"]["review"].endswith("embedded by Meanings")
    assert reader.table_.origins["review_embedding"] == ["review"] * 8


def test_a_fit_encodes_once_and_so_do_clones() -> None:
    encoder = Meanings()
    estimator = model({"review": encoder})
    estimator.fit(FRAME)
    clone(estimator).fit(FRAME[:60]).transform(FRAME[60:])
    assert encoder.asked == [4, FRAME["review"].nunique()]  # probes, and every text once


def test_one_encoder_serves_all_columns_of_texts() -> None:
    frame = FRAME.assign(title=[f"the {text}" for text in FRAME["review"]])
    names = TableViews({"review": "words", "title": "words"}, embed=Meanings()).fit_transform(frame).names
    assert [name for name in names if name.endswith("_embedding")] == ["review_embedding", "title_embedding"]


def test_a_column_may_be_an_embedding_alone() -> None:
    reader = TableViews({"review": "drop", "price": "drop", "stars": "drop"}, embed={"review": Meanings()})
    assert reader.fit_transform(FRAME).names == ["review_embedding"]


def test_a_saved_model_asks_for_the_same_encoder(tmp_path: Path) -> None:
    fitted = model({"review": Meanings()}).fit(FRAME)
    fitted.save(tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    with pytest.raises(InvalidViewError) as error:
        loaded.transform(FRAME)
    assert_one_sentence(str(error.value))
    with pytest.raises(InvalidViewError) as error:
        set_encoders(loaded, {"review": lambda texts: 2 * Meanings().encode(texts)})
    assert_one_sentence(str(error.value))
    again = harmonium.load(tmp_path / "model.safetensors", encoders={"review": Meanings()})
    np.testing.assert_array_equal(again.transform(FRAME), fitted.transform(FRAME))
    # what a loaded model keeps of its encoder is kept again
    again.save(tmp_path / "again.safetensors")
    assert load_model(tmp_path / "again.safetensors").fitted_.table.reads_like(fitted.fitted_.table)


def test_other_columns_are_read_without_the_encoder(tmp_path: Path) -> None:
    model({"review": Meanings()}).fit(FRAME).save(tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    with pytest.warns(harmonium.HarmoniumWarning, match="columns that the table lacks"):
        assert np.isfinite(loaded.transform(FRAME[["price"]])).all()


def test_a_matrix_from_elsewhere_serves() -> None:
    rows = Meanings().encode(FRAME["review"].tolist())
    given = Encoder(name="elsewhere").remember(FRAME["review"].tolist(), rows)
    matrix = table({"review": given}).fit_transform(FRAME).source("review_embedding").matrix
    np.testing.assert_allclose(matrix, rows, rtol=1e-6)


def test_wrong_encoders_are_refused() -> None:
    for embed in ({"reviews": Meanings()}, {"review": 3}, {"review": np.ones((90, 3))}):
        with pytest.raises((TypeError, ValueError)) as error:
            table(embed).fit(FRAME)
        assert_one_sentence(str(error.value))
    with pytest.raises(InvalidViewError, match="model has none"):
        set_encoders(model(None).fit(FRAME), Meanings())
    with pytest.raises(ValueError, match="matrices"):
        set_encoders(Harmonium(2, driver=Stochastic(max_iter=1)).fit(np.eye(4)), Meanings())


def test_pictures_bring_their_embedding_too() -> None:
    pytest.importorskip("skimage", reason="needs scikit-image (extra images)")
    rng = np.random.default_rng(0)
    pictures = pd.Series([rng.integers(0, 255, (40, 40, 3), dtype=np.uint8) for _ in range(6)], dtype=object)
    frame = pd.DataFrame({"photo": pictures})

    def colours(values: list[np.ndarray]) -> np.ndarray:
        return np.array([value.mean(axis=(0, 1)) for value in values])

    views = TableViews({"photo": "image"}, embed={"photo": colours}).fit_transform(frame)
    np.testing.assert_allclose(views.source("photo_embedding").matrix, colours(list(pictures)), rtol=1e-6)


def test_a_file_with_a_broken_identity_is_refused(tmp_path: Path) -> None:
    from harmonium.persist import describe, rebuild

    description, tensors = describe(model({"review": Meanings()}).fit(FRAME))
    entries = dict(description["fitted"]["table"][0]["mapping"])
    identity = dict(entries["embedding"]["mapping"])["identity"]["mapping"]
    next(pair for pair in identity if pair[0] == "dimension")[1] = 9
    with pytest.raises(ModelFileError):
        rebuild(description, tensors)


def test_topics_and_explanations_are_words() -> None:
    frame = FRAME[["review"]]
    fitted = HarmoniumRegressor(3, views=table({"review": Meanings()}), random_state=0).fit(frame, FRAME["stars"])
    assert set(fitted.topics(n=3).to_numpy().ravel()) <= set(" ".join(frame["review"]).split())
    features = fitted.explain(frame[:1])[0].table()["feature"].tolist()
    assert "(review_embedding)" in features and not any("embedding_" in name for name in features)
    assert harmonium.report.topic_table(fitted).columns.tolist()[0] == "review"


def test_models_of_several_targets_get_their_encoders(tmp_path: Path) -> None:
    frame = FRAME[["review"]].assign(stars=np.arange(len(FRAME)) % 7, place=np.where(FRAME.index % 2, "Rome", "Oslo"))
    parts = {
        "classifier": HarmoniumClassifier(2, views=table(Meanings()), driver=Stochastic(max_iter=1)),
        "regressor": HarmoniumRegressor(2, views=TableViews({"review": "words"}), driver=Stochastic(max_iter=1)),
    }
    fitted = HarmoniumMultiOutput(**parts, random_state=0).fit(frame, ["stars", "place"])
    fitted.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors", encoders=Meanings())
    assert again.predict(frame).equals(fitted.predict(frame))


def test_pictures_that_a_column_names_are_encoded(tmp_path: Path) -> None:
    image, rng = pytest.importorskip("PIL.Image"), np.random.default_rng(0)
    pictures = rng.integers(0, 255, (4, 40, 40, 3), dtype=np.uint8)
    for number, picture in enumerate(pictures):
        image.fromarray(picture).save(tmp_path / f"{number}.png")

    def brightness(values: list[np.ndarray]) -> list[list[float]]:
        return [[float(value.mean()), float(value.std())] for value in values]

    reader = TableViews({"photo": Image(n_words=5, folder=tmp_path)}, embed={"photo": brightness})
    frame = pd.DataFrame({"photo": ["0", "1", "2", "3"]})
    found = reader.fit_transform(frame).source("photo_embedding").matrix
    np.testing.assert_allclose(found, brightness(list(pictures)), rtol=1e-6)
    tensors = embedding_tensors(reader.table_, frame)
    keys, answers, rows = tensors.values()
    assert keys.shape == (4, 32) and answers.shape == (4, 2) and sorted(rows) == [0, 1, 2, 3]
    np.testing.assert_allclose(embedded_items(tensors)["photo_embedding"], found, rtol=1e-6)
