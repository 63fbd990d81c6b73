"""Embeddings of the items of a folder: computed once, kept, and searched by meaning."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize
from typer.testing import CliRunner

from harmonium import (
    EpsilonInsensitive,
    Harmonium,
    HarmoniumRegressor,
    HarmoniumWarning,
    ModelFolder,
    Stochastic,
    TableViews,
)
from harmonium import fit_folder as fit
from harmonium.cli import app
from harmonium.estimators.input import known_views
from harmonium.exceptions import InvalidViewError, ModelFileError
from harmonium.features.encoders import Encoder
from harmonium.model_folder.contents import write_contents
from harmonium.model_folder.embeddings import embedded_items
from harmonium.model_folder.passages import SoughtPhrases
from harmonium.model_folder.query_views import query_views
from harmonium.training.topic_edits import TopicEdits
from tests.cases.bad_input import assert_one_sentence
from tests.cases.encoders import MEANINGS, Meanings, onnx_encoder, reviews

FRAME = reviews()
N_TEXTS = FRAME["review"].nunique()


def fitted(path: Path, encoder: Meanings | Encoder) -> ModelFolder:
    reader = TableViews({"review": "words"}, embed={"review": encoder})
    settings = {"head": EpsilonInsensitive(C=1.0), "driver": Stochastic(max_iter=20), "validation_fraction": 0.0}
    return fit(path, HarmoniumRegressor(4, views=reader, random_state=0, **settings), FRAME, "stars")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    encoder = Meanings()
    made = fitted(tmp_path_factory.mktemp("folders") / "reviews", encoder)
    assert encoder.asked == [4, N_TEXTS]  # probes, and every text once for trial, model and items
    return made


def test_the_next_fit_takes_embeddings_from_the_folder(folder: ModelFolder) -> None:
    encoder = Meanings()
    again = fitted(folder.path, encoder)
    assert encoder.asked == [4]
    np.testing.assert_array_equal(again.coordinates, folder.coordinates)


def test_an_interrupted_fit_has_kept_its_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(HarmoniumRegressor, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted(tmp_path / "reviews", Meanings())
    encoder = Meanings()
    fitted(tmp_path / "reviews", encoder)
    assert encoder.asked == [4]
    assert [path.name for path in tmp_path.iterdir()] == ["reviews"]


def test_items_are_known_without_the_encoder_and_new_rows_are_not(folder: ModelFolder) -> None:
    opened = ModelFolder.open(folder.path)
    assert opened.explain(0).scores == pytest.approx(folder.explain(0).scores)
    with pytest.raises(ValueError) as error:
        opened.predict(pd.DataFrame({"review": ["walls and eggs"], "price": [0.0]}))
    assert_one_sentence(str(error.value))
    with pytest.raises(InvalidViewError):
        ModelFolder.open(folder.path, encoders=lambda texts: np.ones((len(texts), 8)))


def test_a_search_goes_by_meaning_if_the_encoder_is_here(folder: ModelFolder) -> None:
    opened = ModelFolder.open(folder.path, encoders={"review": Meanings()})
    for word in ("noise", "coffee"):
        texts = FRAME["review"][opened.search(word, n=20)["row"]]
        meaning = next(known for known in MEANINGS.values() if word in known)
        assert all(set(text.split()) <= set(meaning) for text in texts)
        assert not all(word in text for text in texts)  # it finds what is meant, and not the word alone
    # no word of the query need be known
    assert len(opened.search("unheard", n=3)) == 3
    without = ModelFolder.open(folder.path)
    with pytest.warns(HarmoniumWarning, match="words alone"):
        assert len(without.search("noise", n=3)) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without.search("coffee")  # once said is enough


def test_topics_of_the_summary_are_words(folder: ModelFolder) -> None:
    assert set(folder.summary()["topics"][0]["features"]) == {"review", "numbers"}


def test_broken_embeddings_are_refused(folder: ModelFolder, tmp_path: Path) -> None:
    contents = folder._contents
    changes = {
        "keys": lambda array: array[1:],
        "answers": lambda array: array[:, 1:],
        "rows": lambda array: array + N_TEXTS,
    }
    for name, change in changes.items():
        tensors = {
            key: change(value) if name in key.split("/") else value for key, value in contents.embeddings.items()
        }
        broken = type(contents)(**{**contents.__dict__, "embeddings": tensors})
        write_contents(tmp_path / name, broken)
        with pytest.raises(ModelFileError):
            ModelFolder.open(tmp_path / name)


def test_the_command_line_takes_an_onnx_file(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra embed)")
    file, other = (str(onnx_encoder(tmp_path / name, seed)) for name, seed in (("words", 0), ("other", 1)))
    FRAME.to_csv(tmp_path / "reviews.csv", index=False)
    runner, made = CliRunner(env={"COLUMNS": "200"}), str(tmp_path / "made")
    table = ["fit", str(tmp_path / "reviews.csv"), "-o", made, "--text", "review", "--epochs", "2", "--topics", "3"]
    result = runner.invoke(app, [*table, "--embed", file])
    assert result.exit_code == 0 and "embedded by words/model.onnx" in result.output
    found = runner.invoke(app, ["search", made, "noise at night", "-n", "2", "--embed", f"review={file}"])
    assert found.exit_code == 0 and found.output.count("\n") == 3
    refused = runner.invoke(app, ["search", made, "noise", "--embed", other])
    assert refused.exit_code != 0 and "fitted with, words/model.onnx" in refused.output
    both = runner.invoke(app, ["search", made, "noise", "--embed", file, "--embed", f"review={file}"])
    assert both.exit_code != 0 and "got both" in both.output


def test_a_search_compares_the_embedding_itself(folder: ModelFolder) -> None:
    opened = ModelFolder.open(folder.path, encoders={"review": Meanings()})
    unit = normalize(Meanings().encode(["walls at night", *FRAME["review"]]))
    by_meaning = cosine_similarity(*np.split(unit - unit[1:].mean(axis=0), [1]))[0]
    views = known_views(opened.model, query_views(opened.model, "walls at night"))
    near = cosine_similarity(opened.model.search_coordinates(views), opened.search_coordinates)[0]
    words = opened._contents.words.query_weights(views)
    by_words = (words @ opened._contents.words.matrix.T).toarray()[0]
    assert words.nnz == 2
    expected = (by_meaning + 0.1 * near + 0.4 * np.sqrt(2) * by_words) / (1.1 + 0.4 * np.sqrt(2))
    # a fifth is how well the best passage says words that somebody typed
    said = np.array([SoughtPhrases("walls at night", opened._weigh).score([text]) for text in FRAME["review"]])
    assert said.max() == pytest.approx(1) and said.min() == 0
    for query, score in ((views, expected), ("walls at night", 0.8 * expected + 0.2 * said)):
        found = opened.search(query, n=len(FRAME))
        assert len(found) == len(FRAME)
        np.testing.assert_allclose(found["score"], score[found["row"]], atol=1e-5)
        assert found["score"].is_monotonic_decreasing


def test_items_without_a_text_have_no_embedding(tmp_path: Path) -> None:
    frame = FRAME.assign(review=FRAME["review"].where(FRAME.index != 7))
    reader = TableViews({"review": "words"}, embed={"review": Meanings()})
    model = Harmonium(2, views=reader, driver=Stochastic(max_iter=2), random_state=0).fit(frame[["review", "price"]])
    made = ModelFolder.create(tmp_path / "made", model, frame)
    contents = ModelFolder.open(tmp_path / "made")._contents
    rows = embedded_items(contents.embeddings)["review_embedding"]
    known = np.arange(len(FRAME)) != 7
    assert not rows[7].any()
    np.testing.assert_allclose(rows[known], Meanings().encode(FRAME["review"][known].tolist()), rtol=1e-6)
    assert 7 not in made.search("noise", n=20)["row"].tolist()


def test_edits_of_topics_keep_embeddings(folder: ModelFolder, tmp_path: Path) -> None:
    copy = shutil.copytree(folder.path, tmp_path / "copy")
    ModelFolder.open(copy).edit_topics(TopicEdits().rename(0, "noise"))
    again = ModelFolder.open(copy)
    assert again.explain(0).scores == pytest.approx(folder.explain(0).scores)
    np.testing.assert_array_equal(again.index._near["embedding"]._unit, folder.index._near["embedding"]._unit)


def test_a_fit_that_was_interrupted_after_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ModelFolder, "create", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted(tmp_path / "reviews", Encoder(Meanings()))
    again = Meanings()
    with monkeypatch.context() as patched:
        patched.setattr(HarmoniumRegressor, "fit", interrupted)  # both models are there
        assert len(fitted(tmp_path / "reviews", Encoder(again)).search("noise", n=3)) == 3
    assert again.asked == [4, 1]  # probes and the query
