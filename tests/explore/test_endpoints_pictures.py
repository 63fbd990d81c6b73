"""Columns of pictures in the explorer and the report: asked about by their bytes, and never by the name of a file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from harmonium import HarmoniumClassifier, Hinge, ModelFolder, Stochastic, TableViews
from harmonium.explore import make_app
from harmonium.model_folder import Thumbnails
from harmonium.report import summarise

pytest.importorskip("skimage", reason="scikit-image is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    rng = np.random.default_rng(0)
    kind = np.array(["red", "blue"])[np.arange(40) % 2]
    pictures = [rng.integers(0, 60, (20, 20, 3)).astype(np.uint8) for _ in kind]
    for picture, name in zip(pictures, kind, strict=True):
        picture[:, :, 0 if name == "red" else 2] += 180
    table = pd.DataFrame({"photo": pd.Series(pictures, dtype=object), "kind": kind})
    reader = TableViews({"photo": "image"})
    driver = Stochastic(max_iter=20, learning_rate=0.05)
    model = HarmoniumClassifier(
        3, views=reader, driver=driver, head=Hinge(C=1.0), validation_fraction=0.0, random_state=0
    ).fit(table, "kind")
    shown = pd.DataFrame({"photo": [f"{row}.png" for row in range(40)], "kind": kind})
    place = tmp_path_factory.mktemp("pictures") / "colours"
    return ModelFolder.create(
        place, model, table[["photo"]], items=shown, target="kind", thumbnails=Thumbnails.of(pictures)
    )


@pytest.fixture(scope="module")
def client(folder: ModelFolder) -> TestClient:
    return TestClient(make_app(folder))


def address(folder: ModelFolder, row: int) -> str:
    picture: Any = folder.thumbnails[row]
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def test_a_picture_is_predicted_searched_and_explained(client: TestClient, folder: ModelFolder) -> None:
    items = [{"photo": address(folder, row)} for row in (0, 1)]
    found = client.post("/predict.json", json={"items": items}).json()["predictions"]
    assert [row["prediction"] for row in found] == ["red", "blue"]
    nearest = client.post("/search.json", json={"query": items[0], "n": 1}).json()["items"]
    assert nearest[0]["row"] == 0
    described = client.get("/annotate.json", params={"column.photo": items[1]["photo"]}).json()
    assert described["prediction"]["prediction"] == "blue"
    page = client.get("/annotate", params={"column.photo": items[1]["photo"]}).text
    assert 'type="file"' in page
    assert items[1]["photo"] in page


@pytest.mark.parametrize(
    "value", ["/etc/passwd", "0.png", "data:image/png;base64,%%%", "data:image/png;base64,AAAA", 7, ["a"]]
)
def test_what_is_no_picture_is_refused_and_no_file_is_read(client: TestClient, value: Any) -> None:
    response = client.post("/predict.json", json={"items": [{"photo": value}]})
    assert response.status_code == 422
    assert "photo" in response.json()["error"]
    assert "root:" not in response.text


def test_items_are_explained_by_their_small_pictures(client: TestClient, folder: ModelFolder) -> None:
    why = client.get("/items/0.json").json()["explanation"]
    assert why["output"] == "red"
    total = sum(entry["total"] for entry in why["features"]) + why["features_rest"]
    assert why["base"] + total == pytest.approx(why["score"], abs=1e-4)
    assert {row["view"] for row in summarise(folder)["explained"]["views"]} == {"photo_colours", "photo_shapes"}


def test_names_of_files_stay_as_they_are_in_the_columns(client: TestClient, tmp_path: Path) -> None:
    assert client.get("/items/3.json").json()["values"]["photo"] == "3.png"
