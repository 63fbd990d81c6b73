"""Points of interest, patches, visual words, colours and views of images."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

pytest.importorskip("skimage", reason="scikit-image is not installed: the image features are not tested.")

from harmonium import Harmonium, Stochastic
from harmonium.features.images import (
    ImageViews,
    VisualWords,
    colour_histogram,
    colour_image,
    colour_names,
    cut_patches,
    grey_image,
    interest_patches,
    interest_points,
)
from harmonium.features.windows import hog_windows


def blob_image(shape: tuple[int, int], blobs: list[tuple[int, int, float, float]]) -> NDArray[np.float32]:
    """Draw Gaussian blobs (row, column, standard deviation, height) on mid-grey."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    image = np.full(shape, 0.5)
    for row, column, width, height in blobs:
        image += height * np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * width**2))
    return np.clip(image, 0, 1).astype(np.float32)


def square_image() -> NDArray[np.float32]:
    image = np.zeros((80, 96), dtype=np.float32)
    image[24:56, 30:66] = 1.0
    return image


def random_images(n_images: int, seed: int = 0) -> list[NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    return [rng.random((50, 70)).astype(np.float32) for _ in range(n_images)]


def nearest(points: NDArray[np.float32], target: tuple[float, float]) -> float:
    return float(np.sqrt(((points - np.asarray(target)) ** 2).sum(axis=1)).min())


def test_hessian_finds_bright_and_dark_blobs_at_their_scale() -> None:
    blobs = [(30, 25, 2.8, 0.4), (60, 90, 5.6, -0.4), (25, 80, 4.0, 0.4)]
    points = interest_points(blob_image((90, 120), blobs), "hessian", max_points=3)
    for row, column, width, _ in blobs:
        distances = np.hypot(*(points.positions - (row, column)).T)
        assert distances.min() <= 1.5
        assert points.scales[distances.argmin()] == pytest.approx(width, rel=1e-6)


def test_harris_finds_the_corners_of_a_square_and_nothing_else() -> None:
    points = interest_points(square_image(), "harris", max_points=4, scales=(2.0,))
    assert len(points) == 4
    for corner in [(24, 30), (24, 65), (55, 30), (55, 65)]:
        assert nearest(points.positions, corner) <= 3.0


def test_harris_corners_come_at_several_scales() -> None:
    points = interest_points(square_image(), "harris", max_points=40)
    assert len(np.unique(points.scales)) >= 3


def test_entropy_finds_textured_region_on_flat_ground() -> None:
    image = np.full((80, 100), 0.5, dtype=np.float32)
    image[30:46, 60:76] = np.random.default_rng(0).random((16, 16))
    points = interest_points(image, "entropy", max_points=10)
    assert len(points) > 0
    assert (np.abs(points.positions - (37.5, 67.5)) <= 16).all()


@pytest.mark.parametrize("detector", ["harris", "hessian", "entropy"])
def test_points_are_sorted_few_enough_and_away_from_the_edge(detector: str) -> None:
    image = random_images(1)[0]
    points = interest_points(image, detector, max_points=12)
    assert 0 < len(points) <= 12
    assert (np.diff(points.responses) <= 0).all()
    room = np.minimum(points.positions, np.asarray(image.shape) - 1 - points.positions).min(axis=1)
    assert (room >= points.scales).all()


@pytest.mark.parametrize("detector", ["harris", "hessian", "entropy"])
def test_points_move_with_the_picture(detector: str) -> None:
    texture = random_images(1)[0][:20, :20]
    pictures = []
    for row, column in [(40, 40), (47, 51)]:
        image = np.full((120, 120), 0.5, dtype=np.float32)
        image[row : row + 20, column : column + 20] = texture
        pictures.append(interest_points(image, detector, max_points=1).positions[0])
    np.testing.assert_allclose(pictures[1] - pictures[0], (7, 11), atol=1e-6)


def test_patches_have_zero_mean_unit_variance_and_ignore_brightness_and_contrast() -> None:
    image = random_images(1)[0]
    found = interest_patches(image, max_points_per_detector=10)
    assert found.patches.shape == (30, 169)
    assert found.patches.dtype == np.float32
    assert found.positions.shape == (30, 2) and found.scales.shape == (30,)
    assert list(found.detectors[[0, 10, 20]]) == ["harris", "hessian", "entropy"]
    np.testing.assert_allclose(found.patches.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(found.patches.std(axis=1), 1, atol=1e-4)
    points = interest_points(image, "hessian", max_points=10)
    np.testing.assert_allclose(
        cut_patches(image, points), cut_patches((0.2 + 0.5 * image).astype(np.float32), points), atol=1e-3
    )


def test_patch_at_the_finest_scale_is_the_picture_itself() -> None:
    image = random_images(1)[0]
    points = interest_points(image, "hessian", scales=(2.0,), border=4.0, max_points=1)
    row, column = points.positions[0].astype(int)
    cut = image[row - 6 : row + 7, column - 6 : column + 7].ravel()
    np.testing.assert_allclose(cut_patches(image, points)[0], (cut - cut.mean()) / cut.std(), atol=1e-4)


def test_patch_size_follows_the_scale() -> None:
    small = blob_image((80, 80), [(40, 40, 2.8, 0.4)])
    large = blob_image((80, 80), [(40, 40, 5.6, 0.4)])
    patches = [interest_patches(image, ("hessian",), 1).patches[0] for image in (small, large)]
    assert np.corrcoef(patches)[0, 1] > 0.99


def test_flat_image_has_no_points() -> None:
    found = interest_patches(np.full((40, 40), 0.3))
    assert found.patches.shape == (0, 169) and found.positions.shape == (0, 2)


def test_grey_image_resizes_and_reads_integer_ranges() -> None:
    grey = grey_image(np.full((30, 60, 4), 128, dtype=np.uint8), longer_side=20)
    assert grey.shape == (10, 20) and grey.dtype == np.float32
    np.testing.assert_allclose(grey, 128 / 255, atol=1e-3)
    np.testing.assert_allclose(grey_image(np.full((4, 4), 65535, dtype=np.uint16)), 1.0)


@pytest.mark.parametrize("kind", ["images", "patches"])
def test_counts_add_up_to_the_number_of_patches(kind: str) -> None:
    images = random_images(5)
    patches = [interest_patches(image, max_points_per_detector=10, longer_side=200).patches for image in images]
    items = images if kind == "images" else patches
    words = VisualWords(n_words=8, input=kind, max_points_per_detector=10, random_state=0).fit(items)
    counts = words.transform(items)
    assert counts.shape == (5, 8) and counts.dtype == np.float32
    np.testing.assert_array_equal(counts.sum(axis=1), [len(each) for each in patches])
    assert list(words.get_feature_names_out()[:2]) == ["visual_word_0", "visual_word_1"]
    assert len(words.get_feature_names_out()) == 8


def test_words_are_the_clusters_and_counts_their_sizes() -> None:
    rng = np.random.default_rng(0)
    centres = 5 * rng.normal(size=(3, 169))
    truth = [np.repeat(np.arange(3), sizes) for sizes in ([20, 5, 0], [0, 30, 10], [7, 7, 30])]
    items = [centres[each] + 0.1 * rng.normal(size=(len(each), 169)) for each in truth]
    words = VisualWords(n_words=3, random_state=0).fit(items)
    order = words.assign(centres)
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_array_equal(words.transform(items).toarray()[:, order], [[20, 5, 0], [0, 30, 10], [7, 7, 30]])


def test_same_seed_gives_same_words_and_fit_transform_agrees() -> None:
    patches = [interest_patches(image, max_points_per_detector=20).patches for image in random_images(4)]
    first = VisualWords(n_words=10, max_fit_patches=100, random_state=3).fit(patches)
    second = VisualWords(n_words=10, max_fit_patches=100, random_state=3)
    counts = second.fit_transform(iter(patches))
    np.testing.assert_array_equal(first.words_, second.words_)
    np.testing.assert_array_equal(first.transform(patches).toarray(), counts.toarray())
    other = VisualWords(n_words=10, max_fit_patches=100, random_state=4).fit(patches)
    assert not np.array_equal(first.words_, other.words_)


def test_item_without_patches_counts_nothing() -> None:
    patches = [np.random.default_rng(0).normal(size=(20, 169)), np.empty((0, 169))]
    counts = VisualWords(n_words=4, random_state=0).fit_transform(patches)
    np.testing.assert_array_equal(counts.sum(axis=1), [20, 0])


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(5), "one image at a time"),
        (np.zeros((0, 5)), "non-empty"),
        (np.full((5, 5), 200.0), r"\[0, 1\]"),
        (np.full((5, 5), np.nan), r"\[0, 1\]"),
        (np.full((5, 5), 200), "astype"),
        (np.full((5, 5), "a"), "astype"),
    ],
)
def test_bad_images_are_refused(image: NDArray[np.generic], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        interest_patches(image)


def test_bad_settings_are_refused() -> None:
    image = square_image()
    with pytest.raises(ValueError, match="detector must be one of"):
        interest_patches(image, ("sift",))
    with pytest.raises(ValueError, match="sequence of names"):
        interest_patches(image, "harris")
    with pytest.raises(ValueError, match="max_points must be"):
        interest_patches(image, max_points_per_detector=0)
    with pytest.raises(ValueError, match="scales must be"):
        interest_patches(image, scales=(4.0, 2.0))
    with pytest.raises(ValueError, match="patch_side must be"):
        interest_patches(image, patch_side=1)
    with pytest.raises(ValueError, match="longer_side must be"):
        grey_image(image, longer_side=0)


def test_bad_items_of_visual_words_are_refused() -> None:
    patches = [np.random.default_rng(0).normal(size=(20, 169))]
    with pytest.raises(ValueError, match="set input='images'"):
        VisualWords(n_words=2).fit([square_image()])
    with pytest.raises(ValueError, match="lower n_words"):
        VisualWords(n_words=21).fit(patches)
    with pytest.raises(ValueError, match="lower n_words"):
        VisualWords(n_words=2).fit([])
    with pytest.raises(ValueError, match="n_words must be at least 1"):
        VisualWords(n_words=0).fit(patches)
    with pytest.raises(ValueError, match="input must be"):
        VisualWords(n_words=2, input="files").fit(patches)
    with pytest.raises(ValueError, match="finite"):
        VisualWords(n_words=2).fit([np.full((20, 169), np.nan)])


@pytest.mark.parametrize("feature", [grey_image, interest_points, interest_patches, colour_histogram, hog_windows])
def test_missing_scikit_image_names_the_extra(
    feature: Callable[[NDArray[np.float32]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ImportError, match=r"harmonium\[images\]"):
        feature(square_image())


def test_colour_image_reads_grey_colour_and_opacity() -> None:
    grey = random_images(1)[0]
    np.testing.assert_array_equal(colour_image(grey), np.stack([grey] * 3, axis=2))
    colours = np.random.default_rng(0).integers(0, 256, size=(6, 5, 4)).astype(np.uint8)
    np.testing.assert_allclose(colour_image(colours), colours[..., :3] / 255, atol=1e-6)


def test_colour_histogram_agrees_with_numpy() -> None:
    image = np.random.default_rng(0).random((30, 40, 3))
    image[0] = 1.0  # the upper end belongs to the last level
    expected, _ = np.histogramdd(image.reshape(-1, 3), bins=3, range=[(0, 1)] * 3)
    found = colour_histogram(image, n_levels=3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected.ravel() / 1200, atol=1e-6)
    assert found[colour_names(3).index("#d4d4d4")] >= 40 / 1200
    assert colour_histogram(np.ones((4, 4), dtype=np.uint8) * 255).argmax() == 63
    with pytest.raises(ValueError, match="n_levels >= 1; got 0; 4 is usual"):
        colour_histogram(image, n_levels=0)


def test_image_views_are_ready_for_a_model() -> None:
    rng = np.random.default_rng(0)
    images = [np.clip(rng.random((40, 50, 3)) * tint, 0, 1) for tint in [(1, 0.2, 0.2), (0.2, 0.2, 1)] * 4]
    door = ImageViews(n_words=12, n_levels=2, max_points_per_detector=10, longer_side=60, random_state=0)
    views = door.fit_transform(iter(images))
    again = clone(door).fit(images).transform(images)
    for name, width in (("colours", 8), ("visual_words", 12)):
        assert views[name].shape == (8, width) and (views[name].dtypes == np.float32).all()
        np.testing.assert_array_equal(views[name], again[name])
    np.testing.assert_allclose(views["colours"].sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(
        views["visual_words"].sum(axis=1),
        [len(interest_patches(image, max_points_per_detector=10, longer_side=60).patches) for image in images],
    )
    assert door.transform([])["colours"].shape == (0, 8)
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0)
    make_pipeline(door, model).fit(images)
    assert set(model.families_) == {"colours", "visual_words"}
    assert set(model.topics("colours", n=2).to_numpy().ravel()) <= set(colour_names(2))
