"""Loaders: found counts, alignment and errors. Tests on real archives skip where HARMONIUM_DATA is not set."""

import doctest
import gzip
import io
import json
import os
import sys
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from harmonium.datasets import (
    Dataset,
    DatasetNotFound,
    data_home,
    expand_multilabel,
    hotel_aspects,
    load_bdgp,
    load_caltech4,
    load_cll,
    load_corel5k,
    load_digits_views,
    load_hotels,
    load_mfeat,
    load_newsgroups,
    load_reuters21578,
    load_shapes,
    load_wikipedia,
)
from harmonium.datasets.corel5k import read_sparse_arff
from harmonium.datasets.newsgroups import strip_footer, strip_headers, strip_quotes


def needs(folder: str) -> pytest.MarkDecorator:
    home = os.environ.get("HARMONIUM_DATA", "")
    present = bool(home) and (Path(home) / folder).is_dir()
    return pytest.mark.skipif(not present, reason=f"needs HARMONIUM_DATA with the folder {folder}")


def write_archive(path: Path, files: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            content = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def nearest_mean_accuracy(train: np.ndarray, labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> float:
    means = np.stack([train[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    distance = ((test[:, None] - means) ** 2).sum(axis=2)
    return float((distance.argmin(axis=1) == test_labels).mean())


def test_data_home_prefers_the_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONIUM_DATA", str(tmp_path))
    (tmp_path / "other").mkdir()
    assert data_home() == tmp_path
    assert data_home(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(DatasetNotFound, match="data_home must name an existing folder"):
        data_home(tmp_path / "none")
    monkeypatch.delenv("HARMONIUM_DATA")
    with pytest.raises(FileNotFoundError, match="neither data_home nor HARMONIUM_DATA is set"):
        data_home()


@pytest.mark.parametrize(
    "load",
    [
        load_newsgroups,
        load_reuters21578,
        load_mfeat,
        load_caltech4,
        load_wikipedia,
        load_bdgp,
        load_corel5k,
        load_hotels,
        hotel_aspects,
        load_cll,
    ],
)
def test_missing_archive_is_named(load, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DatasetNotFound, match="must lie in the data folder"):
        load(data_home=tmp_path)


def test_dataset_slices_lists_and_arrays() -> None:
    split = np.array(["train", "test", "train"])
    data = Dataset("toy", {"a": np.eye(3), "b": ["x", "y", "z"]}, np.arange(3), [], split, "")
    views, target = data.train()
    assert views["b"] == ["x", "z"]
    np.testing.assert_array_equal(views["a"], np.eye(3)[[0, 2]])
    np.testing.assert_array_equal(target, [0, 2])
    assert data.test()[0]["b"] == ["y"]
    with pytest.raises(ValueError, match="without any"):
        Dataset("toy", {}, None, [], None, "").train()
    assert data.feature_names == {}


def test_digits_views() -> None:
    digits = load_digits_views()
    pixels, shape = digits.views["pixels"], digits.views["shape"]
    assert pixels.dtype == shape.dtype == np.float32
    assert pixels.min() == 0 and pixels.max() == 16
    assert np.isfinite(shape).all() and (shape.std(axis=0) > 0).sum() > 45
    np.testing.assert_allclose(shape[:, :8].sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(shape[:, -32:].sum(axis=1), 1, rtol=1e-5)


def test_strip_parts_of_a_message() -> None:
    message = "From: a\nLines: 3\n\nIn article <1> b writes:\n> Why?\nBecause.\n\n-- \nMe"
    body = strip_headers(message)
    assert body.startswith("In article")
    assert strip_quotes(body) == "Because.\n\n-- \nMe"
    assert strip_footer(body) == "In article <1> b writes:\n> Why?\nBecause.\n"
    assert strip_footer("one line") == "one line"


def test_newsgroups_from_a_small_archive(tmp_path: Path) -> None:
    files = {
        "20news-bydate-test/b/7": "H: 1\n\ncaf\xe9",
        "20news-bydate-train/b/30": "H: 1\n\nthree",
        "20news-bydate-train/a/4": "H: 1\n\nfour",
        "20news-bydate-train/b/5": "H: 1\n\nfive",
    }
    write_archive(tmp_path / "newsgroups" / "20news-bydate.tar.gz", files)
    data = load_newsgroups(remove=("headers",), data_home=tmp_path)
    assert data.views["text"].tolist() == ["four", "five", "three", "caf\xe9"]
    assert data.target is not None and data.target.tolist() == [0, 1, 1, 1]
    assert load_newsgroups("test", data_home=tmp_path).views["text"].tolist() == ["H: 1\n\ncaf\xe9"]
    with pytest.raises(ValueError, match="remove must hold only"):
        load_newsgroups(remove=("footer",), data_home=tmp_path)
    with pytest.raises(ValueError, match="subset must be"):
        load_newsgroups("dev", data_home=tmp_path)


def test_reuters_from_a_small_archive(tmp_path: Path) -> None:
    def story(number: int, part: str, topics: str, inside: str, flag: str = "YES") -> str:
        marked = "".join(f"<D>{topic}</D>" for topic in topics.split())
        return (
            f'<REUTERS TOPICS="{flag}" LEWISSPLIT="{part}" CGISPLIT="X" OLDID="1" NEWID="{number}">\n'
            f"<TOPICS>{marked}</TOPICS><PLACES><D>usa</D></PLACES>\n{inside}</REUTERS>\n"
        )

    stories = [
        story(3, "TEST", "corn", '<TEXT TYPE="UNPROC">&#2;Raw text\n&#3;</TEXT>'),
        story(2, "TRAIN", "corn oil corn", "<TEXT>&#2;<TITLE>P &lt;AB></TITLE><BODY>Up\n Reuter\n&#3;</BODY></TEXT>"),
        story(1, "TRAIN", "", '<TEXT TYPE="BRIEF"><TITLE>Short</TITLE></TEXT>'),
        story(4, "TRAIN", "corn", "<TEXT></TEXT>", flag="NO"),
        story(5, "NOT-USED", "corn", "<TEXT></TEXT>"),
    ]
    write_archive(tmp_path / "reuters21578" / "reuters21578.tar.gz", {"./reut2-000.sgm": "".join(stories)})
    data = load_reuters21578(data_home=tmp_path)
    assert data.views["text"].tolist() == ["Short", "P <AB>\nUp\n Reuter", "Raw text"]
    assert data.target is not None and data.target.tolist() == [[], ["corn", "oil"], ["corn"]]
    assert len(load_reuters21578("modlewis", data_home=tmp_path).views["text"]) == 4
    pairs = load_reuters21578(copies=True, unlabelled=True, data_home=tmp_path)
    assert pairs.target_names == ["corn", "(none)"]
    assert pairs.target is not None and pairs.target.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="copies=True"):
        load_reuters21578(unlabelled=True, data_home=tmp_path)


def test_mfeat_refuses_views_that_are_not_aligned(tmp_path: Path) -> None:
    files = {f"mfeat-{view}.csv": "0,1,0\n0.5,2,0\n1,3,1\n" for view in ("fac", "fou", "kar", "mor", "pix", "zer")}
    write_archive(tmp_path / "mfeat" / "mfeat.tar.gz", files)
    data = load_mfeat(tmp_path)
    assert data.views["zer"].tolist() == [[0.5, 2.0], [1.0, 3.0]]
    assert data.target is not None and data.target.tolist() == [0, 1]
    write_archive(tmp_path / "mfeat" / "mfeat.tar.gz", files | {"mfeat-pix.csv": "0,1,0\n0.5,2,1\n1,3,0\n"})
    with pytest.raises(ValueError, match=r"mfeat-pix\.csv differs"):
        load_mfeat(tmp_path)
    del files["mfeat-mor.csv"]
    write_archive(tmp_path / "mfeat" / "mfeat.tar.gz", files)
    with pytest.raises(ValueError, match="lacks mor"):
        load_mfeat(tmp_path)


def test_caltech4_names_the_extra_when_pillow_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_archive(tmp_path / "caltech4" / "caltech4.tar", {})
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"harmonium\[images\]"):
        load_caltech4(data_home=tmp_path)


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An empty folder of the data set that the test names."""
    path = tmp_path / request.param
    path.mkdir()
    return path


@pytest.mark.parametrize("folder", ["wikipedia"], indirect=True)
def test_wikipedia_from_small_files(folder: Path) -> None:
    features = {"I_tr": np.eye(2, 4), "I_te": np.full((1, 4), 0.25), "T_tr": np.eye(2), "T_te": np.full((1, 2), 0.5)}
    savemat(folder / "raw_features.mat", features)
    (folder / "categories.list").write_text("art\nmusic\n")
    (folder / "trainset_txt_img_cat.list").write_text("t1\ti1\t2\nt2\ti2\t1\n")
    (folder / "testset_txt_img_cat.list").write_text("t3\ti3\t2\n")
    data = load_wikipedia(folder.parent)
    assert data.views["image"].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0.25] * 4]
    assert data.target is not None and data.target.tolist() == [1, 0, 1]
    assert data.test()[0]["text"].tolist() == [[0.5, 0.5]] and data.target_names == ["art", "music"]
    (folder / "testset_txt_img_cat.list").write_text("")
    with pytest.raises(ValueError, match="0 lines for 1 images"):
        load_wikipedia(folder.parent)


@pytest.mark.parametrize("folder", ["bdgp"], indirect=True)
def test_bdgp_is_turned_round_and_checked(folder: Path) -> None:
    def write(image: np.ndarray, text: np.ndarray, truth: list[int]) -> None:
        views = np.empty((1, 2), dtype=object)
        views[0, 0], views[0, 1] = image, text
        savemat(folder / "BDGP.mat", {"data": views, "truth": np.array(truth)[:, None]})

    image, text = np.arange(6.0).reshape(3, 2), np.array([[0, 1], [1, 1]], dtype=np.uint8)
    write(image, text, [2, 1])
    data = load_bdgp(folder.parent)
    assert data.views["image"].tolist() == [[0, 2, 4], [1, 3, 5]] and data.views["text"].tolist() == [[0, 1], [1, 1]]
    assert data.target is not None and data.target.tolist() == [1, 0]
    write(image, text, [2, 1, 1])
    with pytest.raises(ValueError, match="2 images, 2 texts and 3 classes"):
        load_bdgp(folder.parent)
    write(image, 2 * text, [2, 1])
    with pytest.raises(ValueError, match="must be 0 or 1, but range from 0 to 2"):
        load_bdgp(folder.parent)


def test_sparse_arff_reads_names_comments_and_empty_rows() -> None:
    head = ["% comment", "@RELATION r", "@attribute f-16 {0,1}", r"@attribute 'it\'s' {0, 1}", "@ATTRIBUTE n numeric"]
    names, values = read_sparse_arff([*head, "", "@DATA", "{}", "{0 1, 2 2.5}\n"])
    assert names == ["f-16", "it's", "n"]
    assert isinstance(values, sparse.csr_array) and values.dtype == np.float32
    assert values.toarray().tolist() == [[0, 0, 0], [1, 0, 2.5]]
    with pytest.raises(ValueError, match="be numeric or"):
        read_sparse_arff(["@attribute colour {red,blue}"])
    with pytest.raises(ValueError, match="enclosed in braces"):
        read_sparse_arff([*head, "@data", "0,1,2"])
    with pytest.raises(ValueError, match="from 0 to 2, but name 0 to 3"):
        read_sparse_arff([*head, "@data", "{0 1,3 1}"])


@pytest.mark.parametrize("folder", ["corel5k"], indirect=True)
def test_corel5k_from_small_files(folder: Path) -> None:
    head = "@relation r\n@attribute Cluster1 {0,1}\n@attribute Cluster2 {0,1}\n@attribute sky {0,1}\n@data\n"
    (folder / "Corel5k-train-sparse.arff").write_text(head + "{0 1,2 1}\n{1 1}\n")
    (folder / "Corel5k-test-sparse.arff").write_text(head + "{0 1}\n")
    data = load_corel5k(folder.parent)
    assert data.views["blobs"].toarray().tolist() == [[1, 0], [0, 1], [1, 0]] and data.target_names == ["sky"]
    assert data.target is not None and data.target.tolist() == [[1], [0], [0]]
    assert data.split is not None and data.split.tolist() == ["train", "train", "test"]
    (folder / "Corel5k-test-sparse.arff").write_text(head.replace("sky", "sea") + "{0 1}\n")
    with pytest.raises(ValueError, match="must have the same attributes"):
        load_corel5k(folder.parent)


@pytest.mark.parametrize("folder", ["hotels"], indirect=True)
def test_hotels_from_small_files(folder: Path) -> None:
    def write(part: str, *reviews: dict[str, object]) -> None:
        with gzip.open(folder / f"{part}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(review) + "\n" for review in reviews)

    aspects = {"value": 1, "rooms": 2, "location": None, "cleanliness": 4}
    write("ratings", {"text": "Fine.", "overall": 4, "split": "train"} | aspects)
    write("paragraphs", {"paragraphs": ["One.", "Two."], "overall": 2, "split": "test"})
    assert load_hotels(data_home=folder.parent).train()[0]["text"] == ["Fine."]
    ratings, names = hotel_aspects(folder.parent)
    assert names == ["value", "rooms", "location", "cleanliness", "service"]
    np.testing.assert_array_equal(ratings, np.array([[1, 2, np.nan, 4, np.nan]], dtype=np.float32))
    data = load_hotels("paragraphs", folder.parent)
    assert data.views["paragraphs"] == [["One.", "Two."]]
    assert data.target is not None and data.target.tolist() == [2] and data.target.dtype == np.float32
    with pytest.raises(ValueError, match="part must be one of ratings, paragraphs"):
        load_hotels("sentences", folder.parent)


@pytest.mark.parametrize("folder", ["cll"], indirect=True)
def test_cll_from_a_small_file(folder: Path) -> None:
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    pandas = pytest.importorskip("pandas")

    def table(patients: str, columns: str, start: float = 0.0) -> object:
        rows, names = patients.split(), columns.split()
        values = start + np.arange(float(len(rows) * len(names))).reshape(len(rows), len(names))
        return anndata.AnnData(values, pandas.DataFrame(index=rows), pandas.DataFrame(index=names))

    mutations = anndata.AnnData(
        np.array([[1.0, 0.0], [np.nan, 1.0], [0.0, np.nan]]),
        pandas.DataFrame(index=["c", "b", "a"]),
        pandas.DataFrame(index=["TP53", "IGHV"]),
    )
    modalities = {
        "Drugs": table("a b", "d1 d2"),
        "Methylation": table("b a", "m1", 10.0),
        "mRNA": table("c", "r1 r2"),
        "Mutations": mutations,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mudata.MuData(modalities).write(folder / "cll.h5mu")
    data = load_cll(folder.parent)
    nan = np.nan
    np.testing.assert_array_equal(data.views["drugs"], np.array([[0, 1], [2, 3], [nan, nan]], dtype=np.float32))
    np.testing.assert_array_equal(data.views["methylation"], np.array([[11], [10], [nan]], dtype=np.float32))
    np.testing.assert_array_equal(data.views["mutations"], np.array([[0], [nan], [1]], dtype=np.float32))
    np.testing.assert_array_equal(data.views["mrna"], np.array([[nan, nan], [nan, nan], [0, 1]], dtype=np.float32))
    assert data.target is not None and data.target.tolist() == [-1, 1, 0]
    assert data.feature_names == {
        "drugs": ["d1", "d2"],
        "methylation": ["m1"],
        "mutations": ["TP53"],
        "mrna": ["r1", "r2"],
    }
    del modalities["mRNA"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mudata.MuData(modalities).write(folder / "cll.h5mu")
    with pytest.raises(ValueError, match="but lacks mRNA"):
        load_cll(folder.parent)


@pytest.mark.parametrize("folder", ["cll"], indirect=True)
def test_cll_names_the_extra_when_mudata_is_missing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "cll.h5mu").touch()
    monkeypatch.setitem(sys.modules, "mudata", None)
    with pytest.raises(ImportError, match=r"harmonium\[scverse\]"):
        load_cll(folder.parent)


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


@needs("corel5k")
def test_corel5k_photographs() -> None:
    data = load_corel5k()
    blobs, words = data.views["blobs"], data.target
    assert isinstance(blobs, sparse.csr_array) and blobs.shape == (5000, 499) and blobs.dtype == np.float32
    assert set(blobs.data) == {1} and blobs.sum(axis=1).min() == 1 and blobs.sum(axis=1).max() == 11
    assert words is not None and words.shape == (5000, 374) and words.dtype == np.int8
    assert np.bincount(words.sum(axis=1)).tolist() == [0, 32, 376, 1559, 3016, 17]
    assert len(set(data.target_names)) == 374 and {"sky", "f-16", "white-tailed"} <= set(data.target_names)
    (train, train_words), (test, test_words) = data.train(), data.test()
    assert train["blobs"].shape[0] == 4500 and test["blobs"].shape[0] == 500
    assert train_words is not None and test_words is not None
    unseen = np.flatnonzero(train_words.sum(axis=0) == 0)
    assert [data.target_names[word] for word in unseen] == ["grouper", "moss", "aerial"]
    assert (test_words.sum(axis=0) == 0).sum() == 111
    assert [int(part["blobs"].sum(axis=0)[-1]) for part in (train, test)] == [55, 499]
    # Columns mean the same in both files: blobs are about as frequent in one as in the other.
    shares = [part["blobs"].mean(axis=0)[:-1] for part in (train, test)]
    assert np.corrcoef(*shares)[0, 1] > 0.8 and abs(np.corrcoef(shares[0][1:], shares[1][:-1])[0, 1]) < 0.1


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
    (load_caltech4, "caltech4"),
    (load_cll, "cll"),
    (load_corel5k, "corel5k"),
    (load_hotels, "hotels"),
    (load_mfeat, "mfeat"),
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
