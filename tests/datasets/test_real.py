"""Loaders on the real archives: known counts and alignment. Skip where HARMONIUM_DATA is not set."""

import doctest
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import (
    expand_multilabel,
    load_adult,
    load_bdgp,
    load_bikewale,
    load_caltech4,
    load_enron,
    load_medical,
    load_mfeat,
    load_netflix,
    load_reuters21578,
    load_shapes,
    load_wikipedia,
)
from harmonium.datasets import Dataset, hotel_aspects, load_cll, load_emoji, load_hotels, load_newsgroups, load_wines


def needs(folder: str) -> pytest.MarkDecorator:
    home = os.environ.get("HARMONIUM_DATA", "")
    present = bool(home) and (Path(home) / folder).is_dir()
    return pytest.mark.skipif(not present, reason=f"needs HARMONIUM_DATA with the folder {folder}")


def nearest_mean_accuracy(train: np.ndarray, labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> float:
    means = np.stack([train[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    distance = ((test[:, None] - means) ** 2).sum(axis=2)
    return float((distance.argmin(axis=1) == test_labels).mean())


@pytest.fixture(scope="module")
def newsgroups() -> Dataset:
    return load_newsgroups()


@needs("newsgroups")
def test_newsgroups_counts(newsgroups: Dataset) -> None:
    assert len(newsgroups.target_names) == 20
    train, labels = newsgroups.train()
    assert len(train["text"]) == 11314 and len(newsgroups.test()[0]["text"]) == 7532
    assert labels is not None and np.bincount(labels).tolist()[:2] == [480, 584]
    assert newsgroups.target_names[0] == "alt.atheism"


@needs("reuters21578")
def test_reuters_counts_are_those_of_the_paper() -> None:
    data = load_reuters21578()
    assert data.split is not None and data.target is not None
    assert ((data.split == "train").sum(), (data.split == "test").sum()) == (9603, 3299)
    assert all(text.strip() for text in data.views["text"])
    pairs = expand_multilabel(data)
    assert len(pairs.target_names) == 90
    assert [len(pairs.train()[0]["text"]), len(pairs.test()[0]["text"])] == [9585, 3744]
    everything = expand_multilabel(data, unlabelled=True)
    assert len(everything.target_names) == 91
    assert [len(everything.train()[0]["text"]), len(everything.test()[0]["text"])] == [11413, 4024]


@needs("mfeat")
def test_mfeat_views() -> None:
    data = load_mfeat()
    widths = {name: view.shape[1] for name, view in data.views.items()}
    assert widths == {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
    assert all(view.shape[0] == 2000 and view.dtype == np.float32 for view in data.views.values())
    assert data.target is not None and np.bincount(data.target).tolist() == [200] * 10


@needs("caltech4")
def test_caltech4_images() -> None:
    pytest.importorskip("PIL")
    data = load_caltech4(size=60, per_class=5)
    assert data.target_names == ["airplanes", "Faces", "Leopards", "Motorbikes"]
    assert data.target is not None and np.bincount(data.target).tolist() == [5] * 4
    for image in data.views["image"]:
        assert image.ndim == 2 and max(image.shape) == 60 and image.dtype == np.float32
        assert 0 <= image.min() < image.max() <= 1
    shorter = load_caltech4(size=40, side="shorter", per_class=1)
    assert all(min(image.shape) == 40 for image in shorter.views["image"])
    with pytest.raises(ValueError, match="size must be at least 1"):
        load_caltech4(size=0)


@needs("wikipedia")
def test_wikipedia_pairs() -> None:
    data = load_wikipedia()
    assert [data.views[name].shape for name in ("image", "text")] == [(2866, 128), (2866, 10)]
    for view in data.views.values():
        assert view.dtype == np.float32 and view.min() >= 0
        np.testing.assert_allclose(view.sum(axis=1), 1, rtol=1e-5)
    (train, labels), (test, test_labels) = data.train(), data.test()
    assert labels is not None and np.bincount(labels).tolist() == [138, 272, 244, 248, 202, 178, 186, 144, 214, 347]
    assert test_labels is not None and np.bincount(test_labels).tolist() == [34, 88, 96, 85, 65, 58, 51, 41, 71, 104]
    assert data.target_names[0] == "art" and data.target_names[9] == "warfare"
    # Rows of features and lines of the lists belong together: the nearest class mean would else hit one row in ten.
    for view, share in (("text", 0.6), ("image", 0.2)):
        assert nearest_mean_accuracy(train[view], labels, test[view], test_labels) > share


@needs("bdgp")
def test_bdgp_embryos() -> None:
    data = load_bdgp()
    image, text = data.views["image"], data.views["text"]
    assert image.shape == (2500, 1750) and text.shape == (2500, 79) and image.dtype == text.dtype == np.float32
    assert 0 == image.min() < image.max() < 1 and (image == 0).mean() > 0.8
    np.testing.assert_allclose((image**2).sum(axis=1), 1, rtol=1e-5)
    assert set(np.unique(text)) == {0, 1} and text.sum(axis=1).min() == 1 and text.sum(axis=1).max() == 11
    assert data.target is not None and np.bincount(data.target).tolist() == [500] * 5 and data.split is None
    assert [int((text[data.target == label].sum(axis=0) > 0).sum()) for label in range(5)] == [11, 12, 12, 20, 31]
    # Both views follow the classes: class means of the even rows find the class of the odd ones.
    even, odd = slice(0, None, 2), slice(1, None, 2)
    for view, share in ((text, 0.75), (image, 0.7)):
        assert nearest_mean_accuracy(view[even], data.target[even], view[odd], data.target[odd]) > share
    # Within a class too, rows are paired: the embryo with the nearest image shares more terms than another embryo.
    for label in range(5):
        rows = data.target == label
        likeness, shared = image[rows] @ image[rows].T, text[rows] @ text[rows].T
        np.fill_diagonal(likeness, -1)
        assert shared[np.arange(500), likeness.argmax(axis=1)].mean() > 1.4 * shared.mean()


@needs("hotels")
def test_hotel_reviews() -> None:
    data = load_hotels()
    texts = data.views["text"]
    assert len(set(texts)) == 5000 and all(isinstance(text, str) and len(text.split()) >= 10 for text in texts)
    (train, ratings), (_, test_ratings) = data.train(), data.test()
    assert ratings is not None and test_ratings is not None and len(train["text"]) == 2500
    assert np.unique(ratings, return_counts=True)[1].tolist() == [149, 200, 249, 807, 1095]
    assert np.unique(test_ratings, return_counts=True)[1].tolist() == [159, 214, 268, 719, 1140]
    aspects, names = hotel_aspects()
    assert aspects.shape == (5000, 5) and len(names) == 5 and set(np.unique(aspects)) == {1, 2, 3, 4, 5}
    # The same rows: every aspect goes along with the overall rating.
    assert data.target is not None and all(np.corrcoef(aspect, data.target)[0, 1] > 0.4 for aspect in aspects.T)


@needs("hotels")
def test_hotel_paragraphs() -> None:
    data = load_hotels("paragraphs")
    paragraphs = data.views["paragraphs"]
    lengths = [len(review) for review in paragraphs]
    assert len(lengths) == 3000 and min(lengths) == 2 and max(lengths) == 10
    assert all(paragraph.strip() for review in paragraphs for paragraph in review)
    for _, ratings in (data.train(), data.test()):
        assert ratings is not None and np.bincount(ratings.astype(int)).tolist() == [0, *[300] * 5]


@needs("cll")
def test_cll_patients() -> None:
    pytest.importorskip("mudata")
    data = load_cll()
    assert {name: view.shape for name, view in data.views.items()} == {
        "drugs": (200, 310),
        "methylation": (200, 4248),
        "mutations": (200, 68),
        "mrna": (200, 5000),
    }
    assert {name: len(names) for name, names in data.feature_names.items()} == {
        name: view.shape[1] for name, view in data.views.items()
    }
    absent = {name: int(np.isnan(view).all(axis=1).sum()) for name, view in data.views.items()}
    assert absent == {"drugs": 16, "methylation": 4, "mutations": 0, "mrna": 64}
    mutations = data.views["mutations"]
    assert (
        all(view.dtype == np.float32 for view in data.views.values()) and "IGHV" not in data.feature_names["mutations"]
    )
    assert set(np.unique(mutations[~np.isnan(mutations)])) == {0, 1} and 0.34 < np.isnan(mutations).mean() < 0.35
    for name in ("drugs", "methylation", "mrna"):
        view = data.views[name]
        assert not np.isnan(view[~np.isnan(view).all(axis=1)]).any()
    assert data.target is not None and np.unique(data.target, return_counts=True)[1].tolist() == [12, 84, 104]
    # The rows of all views are the same patients: gene expression and methylation tell the status of most.
    for name in ("methylation", "mrna", "drugs"):
        view = data.views[name]
        rows = np.flatnonzero((data.target >= 0) & ~np.isnan(view[:, 0]))
        even, odd = rows[::2], rows[1::2]
        assert nearest_mean_accuracy(view[even], data.target[even], view[odd], data.target[odd]) > 0.7


# ---- examples ------------------------------------------------------------------------------------------------------
LOADERS: list[tuple[Callable[..., object], str]] = [
    (hotel_aspects, "hotels"),
    (load_bdgp, "bdgp"),
    (load_bikewale, "bikewale"),
    (load_caltech4, "caltech4"),
    (load_cll, "cll"),
    (load_emoji, "emoji"),
    (load_enron, "enron"),
    (load_hotels, "hotels"),
    (load_medical, "medical"),
    (load_mfeat, "mfeat"),
    (load_netflix, "netflix"),
    (load_newsgroups, "newsgroups"),
    (load_reuters21578, "reuters21578"),
    (load_shapes, "shapes"),
    (load_wikipedia, "wikipedia"),
]


@pytest.mark.parametrize(
    "load", [pytest.param(load, marks=needs(folder), id=load.__name__) for load, folder in LOADERS]
)
def test_example_of_a_loader(load: Callable[..., object]) -> None:
    """Doctest skips these examples, because archives are not everywhere."""
    assert load.__doc__
    text = load.__doc__.replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {load.__name__: load}, load.__name__, None, None)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    ("load", "rows", "words", "labels", "per_row", "unseen"),
    [
        pytest.param(load_enron, (1123, 579), 1001, 53, 3.378, 1, marks=needs("enron")),
        pytest.param(load_medical, (333, 645), 1449, 45, 1.245, 7, marks=needs("medical")),
    ],
)
def test_texts_with_several_labels(
    load: Callable[[], Dataset], rows: tuple[int, int], words: int, labels: int, per_row: float, unseen: int
) -> None:
    data = load()
    (views, target), (test, truth) = data.train(), data.test()
    assert target is not None and truth is not None
    assert (len(target), len(truth)) == rows and views["words"].shape == (rows[0], words)
    assert test["words"].shape == (rows[1], words) and views["words"].dtype == np.float32
    assert target.shape[1] == len(data.target_names) == labels and len(data.feature_names["words"]) == words
    assert set(np.unique(data.views["words"].data)) == {1.0} and set(np.unique(data.target)) == {0, 1}
    assert np.concatenate([target, truth]).sum(axis=1).mean() == pytest.approx(per_row, abs=1e-3)
    assert int((target.sum(axis=0) == 0).sum()) == unseen


@needs("wines")
def test_wines_are_a_raw_table() -> None:
    wines = load_wines()
    assert wines.shape == (5141, 9) and wines["alcohol"].iloc[0] == "13%" and wines["location"].nunique() == 70


@needs("adult")
def test_adult_has_whole_numbers_and_categories() -> None:
    adult = load_adult()
    assert adult.shape == (48842, 15) and adult["age"].dtype.kind == "i" and (adult["workclass"] == "?").any()


@needs("bikewale")
def test_bikewale_has_names_addresses_and_a_skewed_price() -> None:
    bikes = load_bikewale()
    assert bikes.shape == (9003, 10) and bikes["url"].nunique() == 9003 and bikes["price"].skew() > 2
    assert bikes["bike_name"].nunique() == 437 and bikes["color"].isna().sum() == 2


@needs("netflix")
def test_netflix_is_read_in_its_own_encoding() -> None:
    titles = load_netflix()
    assert titles.shape == (8807, 12) and titles["director"].isna().mean() == pytest.approx(0.299, abs=1e-3)
    assert titles["description"].str.contains("\u2019").any()
    assert titles["listed_in"].str.split(", ").explode().nunique() == 42


@needs("emoji")
def test_emoji_are_pictures_with_keywords() -> None:
    data = load_emoji()
    assert {name: view.shape for name, view in data.views.items()} == {
        "keywords": (1906, 985),
        "colours": (1906, 64),
        "edges": (1906, 144),
    }
    assert all(view.dtype == np.float32 for view in data.views.values())
    assert data.target is not None and len(data.target_names) == 9 and data.table["subcategory"].nunique() == 98
    assert [data.target_names[one] for one in data.target] == data.table["category"].tolist()
    # the table, the keywords and the pictures belong together
    fire = int(np.flatnonzero(data.table["name"] == "fire")[0])
    words = np.array(data.feature_names["keywords"])[data.views["keywords"][[fire]].toarray()[0] > 0]
    assert "hot" in words and set(words) <= set(data.table["keywords"][fire].split("|"))
    red, _, blue = data.pictures[fire].reshape(-1, 3).mean(axis=0)
    assert data.pictures.shape == (1906, 64, 64, 3) and red > blue + 50
    np.testing.assert_allclose(data.views["colours"].sum(axis=1), 1, rtol=1e-5)
    counts = data.views["keywords"].sum(axis=0)
    assert counts.min() >= 3 and set(np.unique(data.views["keywords"].data)) == {1.0}
