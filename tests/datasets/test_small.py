"""Loaders on small files of the same form: what is read, and errors."""

import gzip
import io
import json
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from benchmarks.datasets import (
    load_bdgp,
    load_bikewale,
    load_caltech4,
    load_enron,
    load_medical,
    load_mfeat,
    load_netflix,
    load_reuters21578,
    load_wikipedia,
)
from harmonium.datasets import (
    Dataset,
    DatasetNotFound,
    data_home,
    hotel_aspects,
    load_cll,
    load_digits_views,
    load_emoji,
    load_hotels,
    load_newsgroups,
)
from harmonium.datasets.newsgroups import strip_footer, strip_headers, strip_quotes


def write_archive(path: Path, files: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            content = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


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
        load_emoji,
        load_enron,
        load_medical,
        load_bikewale,
        load_netflix,
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


@pytest.mark.parametrize("folder", ["enron"], indirect=True)
def test_texts_with_labels_from_small_files(folder: Path) -> None:
    (folder / "names.json").write_text('{"words": ["oil", "gas", "tax"], "labels": ["legal", "trade"]}')
    parts = {"train": ([[1, 0, 0], [0, 1, 1]], [[1, 0], [1, 1]]), "test": ([[0, 0, 1]], [[0, 1]])}
    for part, (words, labels) in parts.items():
        sparse.save_npz(folder / f"{part}_words.npz", sparse.csr_array(np.array(words)))
        sparse.save_npz(folder / f"{part}_labels.npz", sparse.csr_array(np.array(labels)))
    data = load_enron(folder.parent)
    assert data.views["words"].toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert data.target is not None and data.target.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert data.split is not None and data.split.tolist() == ["train", "train", "test"]
    assert data.target_names == ["legal", "trade"] and data.feature_names["words"] == ["oil", "gas", "tax"]
    sparse.save_npz(folder / "test_labels.npz", sparse.csr_array(np.eye(2)))
    with pytest.raises(ValueError, match="as many rows of labels as of words"):
        load_enron(folder.parent)


@pytest.mark.parametrize("folder", ["emoji"], indirect=True)
def test_emoji_from_small_files(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rows = ["a,red dot,Symbols,dot,dot|red,0.6", "b,flag,Flags,flag,NA|dot,0.6", "c,sky,Symbols,dot,NA,1.0"]
    (folder / "emoji.csv").write_text("\n".join(["id,name,category,subcategory,keywords,year", *rows]))
    picture = image.new("RGBA", (64, 64))  # transparent, which is shown white
    picture.paste((255, 0, 0, 255), (16, 16, 48, 48))
    picture.save(folder / "dot.png")
    for names in ("ab", "abc"):
        with zipfile.ZipFile(folder / "images.zip", "w") as archive:
            for name in names:
                archive.write(folder / "dot.png", f"{name}.png")
        if names == "ab":
            with pytest.raises(ValueError, match=r"c\.png is not there"):
                load_emoji(data_home=folder.parent)
    data = load_emoji(min_items=2, data_home=folder.parent)
    assert data.feature_names["keywords"] == ["NA", "dot"] and data.table["keywords"][2] == "NA"
    assert data.views["keywords"].toarray().tolist() == [[0, 1], [1, 1], [1, 0]]
    assert data.target is not None
    assert data.target_names == ["Flags", "Symbols"] and data.target.tolist() == [1, 0, 1]
    assert data.pictures[0, 0, 0].tolist() == [255] * 3 and data.pictures[0, 32, 32].tolist() == [255, 0, 0]
    shares = dict(zip(data.feature_names["colours"], data.views["colours"][0], strict=True))
    assert (shares["#df2020"], shares["#dfdfdf"]) == (0.25, 0.75)
    with pytest.raises(ValueError, match="min_items must be at least 1"):
        load_emoji(min_items=0, data_home=folder.parent)
