"""Model folders: what they hold comes back, damage is refused, a failed write changes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity

import harmonium
from harmonium import Harmonium, HarmoniumClassifier, ModelFolder, Stochastic, TableViews
from harmonium.evaluation import HeldOut
from harmonium.exceptions import ModelFileError
from harmonium.model_folder import Thumbnails
from harmonium.storage import replacing

ROLES = {"text": "words", "tags": "tags", "price": "number", "kind": "category"}


def table(n: int = 60) -> pd.DataFrame:
    """Two kinds of items, each with words, tags and a price of its own; some cells are missing."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    words = [["dirty room rude staff noisy", "clean bright quiet friendly bed"][k].split() for k in kind]
    return pd.DataFrame(
        {
            "text": [" ".join(rng.choice(w, 4)) if i % 9 else None for i, w in enumerate(words)],
            "tags": [["bad|cheap", "good|dear"][k] for k in kind],
            "price": np.where(rng.random(n) < 0.1, np.nan, 50 + 50 * kind + rng.normal(size=n)),
            "stars": 1 + 3 * kind,
            "seen": rng.random(n) < 0.5,
            "parts": [["a", "b"], None] * (n // 2),
        }
    )


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table()


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> HarmoniumClassifier:
    roles = {name: role for name, role in ROLES.items() if name in frame}
    reader = TableViews(roles, remainder="drop")
    driver, head = Stochastic(max_iter=40, learning_rate=0.01), harmonium.Hinge(C=1.0)
    # nothing is held out, so that all epochs are run: there would be too little in few of them to search by
    return HarmoniumClassifier(4, views=reader, driver=driver, head=head, validation_fraction=0.0, random_state=0).fit(
        frame, "stars"
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model: HarmoniumClassifier, frame: pd.DataFrame) -> ModelFolder:
    rows = np.array([1, 5])
    held_out = HeldOut(rows, np.array([[0.0], [1.0]]), np.array([[0.9, 0.1], [0.2, 0.8]]), {"measure": "accuracy"})
    pictures = Thumbnails.of([np.full((4, 4), i, dtype=np.uint8) if i % 2 else None for i in range(len(frame))])
    return ModelFolder.create(
        tmp_path_factory.mktemp("made") / "hotels",
        model,
        frame,
        held_out=held_out,
        thumbnails=pictures,
        notes={"source": "x.csv", "seed": 0},
    )


@pytest.fixture
def folder(made: ModelFolder, tmp_path: Path) -> ModelFolder:
    """A copy, which a test may damage."""
    return ModelFolder.open(shutil.copytree(made.path, tmp_path / "hotels"))


def test_everything_comes_back(made: ModelFolder, frame: pd.DataFrame) -> None:
    folder, again = made, ModelFolder.open(made.path)
    pd.testing.assert_frame_equal(again.items, frame)
    for name in ("coordinates", "search_coordinates", "map"):
        np.testing.assert_array_equal(getattr(again, name), getattr(folder, name))
    assert again.target is not None and again.target["stars"].tolist() == frame["stars"].tolist()
    assert again.scores == {"measure": "accuracy"}
    assert again.held_out is not None and again.held_out.rows.tolist() == [1, 5]
    assert again.thumbnails is not None and again.thumbnails[0] is None and again.thumbnails[1] == folder.thumbnails[1]  # type: ignore[index]
    assert again.notes == {"source": "x.csv", "seed": 0}
    assert json.loads(json.dumps(again.summary())) == folder.summary()
    pd.testing.assert_frame_equal(again.predict(frame), folder.predict(frame))


def test_the_model_alone_is_loaded_from_it(folder: ModelFolder, frame: pd.DataFrame) -> None:
    loaded = harmonium.load(folder.path)
    np.testing.assert_array_equal(loaded.predict(frame), folder.model.predict(frame))


def test_words_find_items_that_have_them_and_tags_across_views(folder: ModelFolder, frame: pd.DataFrame) -> None:
    for query, stars in [("rude staff", 1), ("friendly and quiet", 4), ({"tags": "good", "price": 100.0}, 4)]:
        found = folder.search(query, n=10)
        assert (frame["stars"][found["row"]] == stars).all()
        assert found["score"].is_monotonic_decreasing


def test_nearest_leaves_out_the_item_and_is_the_search_by_its_row(folder: ModelFolder, frame: pd.DataFrame) -> None:
    found, whole = folder.nearest(3, n=5), folder.search(frame.iloc[[3]].drop(columns=["seen", "parts"]), n=6)
    assert 3 not in found["row"].tolist() and len(found) == 5
    assert found["row"].tolist() == whole["row"][whole["row"] != 3].tolist()[:5]


def test_an_item_on_the_map_lies_where_it_is_placed(folder: ModelFolder, frame: pd.DataFrame) -> None:
    assert np.abs(folder.map).max() == 1
    place = folder.locate(frame.iloc[[3]].drop(columns=["seen", "parts"]))[0]
    alike = cosine_similarity(folder.search_coordinates)[3]
    near = folder.map[alike >= np.sort(alike)[-5] - 1e-6]  # the five most alike, and whoever is as alike as the fifth
    assert (place >= near.min(axis=0) - 1e-6).all() and (place <= near.max(axis=0) + 1e-6).all()


@pytest.mark.parametrize(
    ("query", "says"),
    [("zebra", "knows"), ({"colour": "red"}, "'colour'"), ({"text": None}, "say something")],
)
def test_a_query_that_says_nothing_is_refused(folder: ModelFolder, query: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        folder.search(query)


@pytest.mark.parametrize("item", [-1, 60, 1.5, "a"])
def test_items_that_are_not_there_are_refused(folder: ModelFolder, item: object) -> None:
    with pytest.raises((ValueError, TypeError), match="item"):
        folder.nearest(item)  # type: ignore[arg-type]


def test_a_model_without_target_predicts_nothing(tmp_path: Path, frame: pd.DataFrame) -> None:
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit({"x": np.eye(12)})
    made = ModelFolder.create(tmp_path / "plain", model, {"x": np.eye(12)})
    assert made.items["item"].tolist() == [str(i) for i in range(12)]
    assert made.target is None and made.summary()["target"] is None
    with pytest.raises(ValueError, match="without"):
        made.predict({"x": np.eye(12)})


# ---- damage ----------------------------------------------------------------------------------------------------------
def test_every_damaged_byte_is_refused(folder: ModelFolder) -> None:
    rng = np.random.default_rng(0)
    for path in sorted(folder.path.iterdir()):
        whole = path.read_bytes()
        for place in rng.integers(0, len(whole), 12):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(ModelFileError):
                ModelFolder.open(folder.path)
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ModelFileError):
            ModelFolder.open(folder.path)
        path.unlink()
        with pytest.raises(ModelFileError):
            ModelFolder.open(folder.path)
        path.write_bytes(whole)
    ModelFolder.open(folder.path)


def test_foreign_folders_and_models_alone_are_refused(folder: ModelFolder, tmp_path: Path) -> None:
    folder.model.save(tmp_path / "alone")
    with pytest.raises(ModelFileError, match="model alone"):
        ModelFolder.open(tmp_path / "alone")
    with pytest.raises(FileNotFoundError, match="nothing"):
        ModelFolder.open(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFileError, match=r"model\.json"):
        ModelFolder.open(tmp_path / "empty")


def test_a_full_disk_leaves_the_old_folder_whole(
    folder: ModelFolder, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    flushed: list[int] = []

    def full(descriptor: int) -> None:
        flushed.append(descriptor)
        if len(flushed) == 3:  # the description and the model are written, the items are not
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(replacing, "flush_to_disk", full)
    with pytest.raises(OSError, match="No space"):
        ModelFolder.create(folder.path, folder.model, frame.head(10))
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


def test_a_new_folder_replaces_all_of_the_old_one(folder: ModelFolder, frame: pd.DataFrame) -> None:
    (folder.path / "my-notes.txt").write_text("mine")
    ModelFolder.create(folder.path, folder.model, frame.head(10))
    assert len(ModelFolder.open(folder.path)) == 10
    assert sorted(path.suffix for path in folder.path.iterdir()) == [".json", ".safetensors", ".safetensors", ".txt"]


@pytest.mark.parametrize("items", [pd.DataFrame({"a": [1]}), [1, 2]])
def test_items_that_do_not_fit_are_refused(
    tmp_path: Path, model: Harmonium, frame: pd.DataFrame, items: object
) -> None:
    with pytest.raises(ValueError, match="items"):
        ModelFolder.create(tmp_path / "new", model, frame, items=items)
    assert not list(tmp_path.iterdir())
