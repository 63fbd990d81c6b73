"""Windows of images with HOG features, and the loader of SYSU-Shapes."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from benchmarks.datasets import load_shapes
from harmonium.datasets import DatasetNotFound
from harmonium.features.windows import hog_bags, hog_windows
from harmonium.weak import Bags


def test_windows_lie_in_the_image_and_are_not_too_many() -> None:
    image = np.random.default_rng(0).random((120, 180))
    features, boxes = hog_windows(image, max_windows=50)
    assert features.shape == (50, 144) and boxes.shape == (50, 4)
    assert (boxes[:, :2] >= 0).all() and (boxes[:, 2:] <= [120.001, 180.001]).all()
    assert (boxes[:, 2:] > boxes[:, :2]).all()
    assert np.allclose(np.linalg.norm(features, axis=1), 1, atol=1e-3)
    whole, _ = hog_windows(image, shares=(1.0,))
    assert len(whole) == 1 and np.allclose(whole[0], features[-1], atol=1e-5)


def test_a_shifted_pattern_has_the_same_features_in_its_shifted_window() -> None:
    pattern = np.random.default_rng(1).random((64, 64))
    images = []
    for left in (0, 64):
        image = np.zeros((64, 128))
        image[:, left : left + 64] = pattern
        images.append(image)
    features, boxes = hog_bags(images, shares=(0.5, 1.0), longer_side=128, parts=3)
    bags = Bags.from_list(features, boxes)
    first = np.flatnonzero((boxes[0][:, 1] == 0) & (boxes[0][:, 2] == 64) & (boxes[0][:, 3] < 70))
    last = np.flatnonzero((boxes[1][:, 3] == 128) & (boxes[1][:, 2] == 64) & (boxes[1][:, 1] > 58))
    assert bags.shape == (2, 81)
    assert features[0][first[0]] @ features[1][last[0]] > 0.97
    assert features[0][first[0]] @ features[1][first[0]] < 0.9


def test_larger_steps_give_fewer_windows_and_strengths_follow_the_edges() -> None:
    image = np.full((120, 180), 0.5)
    image[:, :60] += 0.4 * np.random.default_rng(2).random((120, 60))
    fine, _ = hog_windows(image, shares=(0.6, 1.0))
    features, boxes = hog_windows(image, shares=(0.6, 1.0), step=1 / 3, strength=True)
    assert len(features) == 16 < len(fine) and features.shape[1] == 160
    at_left, at_right = boxes[:, 3] < 130, boxes[:, 1] > 60
    assert features[at_left, 144:].mean() > 3 * features[at_right, 144:].mean()


def test_given_boxes_are_described_like_windows_of_the_grid() -> None:
    image = np.random.default_rng(3).random((120, 180))
    features, boxes = hog_windows(image, strength=True)
    again, places = hog_windows(image, boxes=boxes, strength=True)
    assert np.array_equal(again, features) and np.allclose(places, boxes)
    # a box of a few pixels grows to 4 cells each way, within the image
    _, grown = hog_windows(image, boxes=[[0, 0, 5, 5], [110, 170, 120, 180], [50, 50, 60, 130]])
    cell = np.array([120 / (133 // 8 - 1), 180 / (200 // 8 - 1)])
    assert np.allclose((grown[:, 2:] - grown[:, :2])[:2], 4 * cell)
    assert (grown[:, :2] >= 0).all() and np.allclose(grown[1, 2:], [120, 180])
    assert np.allclose(grown[2, 2] - grown[2, 0], 4 * cell[0]) and 70 < grown[2, 3] - grown[2, 1] < 90


def test_bad_windows_get_one_sentence() -> None:
    for boxes, message in (
        ([1, 2, 3, 4], "a row of top"),
        ([[0, 0, 61, 5]], "lie in the image"),
        ([[5, 0, 5, 5]], "lie"),
    ):
        with pytest.raises(ValueError, match=message):
            hog_windows(np.ones((60, 60)), boxes=boxes)
    with pytest.raises(ValueError, match="step"):
        hog_windows(np.ones((60, 60)), step=0.0)
    with pytest.raises(ValueError, match="at most 1"):
        hog_windows(np.ones((60, 60)), shares=(1.5,))
    with pytest.raises(ValueError, match="at least 5 cells"):
        hog_windows(np.ones((10, 300)))
    with pytest.raises(ValueError, match="cell"):
        hog_windows(np.ones((60, 60)), cell=0)


def test_shapes_are_read_from_an_archive_like_the_original(tmp_path: Path) -> None:
    (tmp_path / "shapes").mkdir()
    with tarfile.open(tmp_path / "shapes" / "sysu-shapes.tar", "w") as archive:
        for kind, boxes in (("car", [[1, 10, 3, 20]]), ("boat", [[1, 20, 1, 40], [5, 10, 5, 99]])):
            picture, annotation = io.BytesIO(), io.BytesIO()
            Image.new("RGB", (40, 20), "white").save(picture, "JPEG")
            records = np.zeros(len(boxes), dtype=[("box_coord", object)])
            for record, box in zip(records, boxes, strict=True):
                record["box_coord"] = np.array(box, dtype=float)
            savemat(annotation, {"object": records})
            for name, content in ((f"{kind}/images/a.jpg", picture), (f"{kind}/annotations/a.mat", annotation)):
                member = tarfile.TarInfo(name)
                member.size = len(content.getvalue())
                archive.addfile(member, io.BytesIO(content.getvalue()))
    data = load_shapes(size=20, data_home=tmp_path)
    assert data.target_names == ["boat", "car"] and data.views["image"][0].shape == (10, 20)
    assert data.views["boxes"][1].tolist() == [[0, 1, 5, 10]]
    assert data.views["boxes"][0].tolist() == [[0, 0, 10, 20], [2, 2, 5, 20]]
    with pytest.raises(ValueError, match="per_class"):
        load_shapes(per_class=0, data_home=tmp_path)
    with pytest.raises(DatasetNotFound, match="sysu-shapes"):
        load_shapes(data_home=tmp_path / "shapes")


@pytest.mark.skipif(
    not (Path(os.environ.get("HARMONIUM_DATA", "/none")) / "shapes").is_dir(),
    reason="needs HARMONIUM_DATA with the folder shapes",
)
def test_shapes_as_distributed() -> None:
    data = load_shapes(size=100, per_class=3)
    assert data.target_names == ["airplane", "bicycle", "boat", "car", "motorbike"]
    assert data.target is not None and np.bincount(data.target).tolist() == [3] * 5
    for image, boxes in zip(data.views["image"], data.views["boxes"], strict=True):
        assert max(image.shape) == 100
        assert (boxes[:, 2:] > boxes[:, :2]).all()
        assert (boxes[:, 2:] <= np.add(image.shape, 0.001)).all()
