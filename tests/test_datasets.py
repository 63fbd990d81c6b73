"""Loaders: found counts, alignment and errors. Tests on real archives skip where HARMONIUM_DATA is not set."""

import io
import os
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from harmonium.datasets import (
    Dataset,
    DatasetNotFound,
    data_home,
    expand_multilabel,
    load_caltech4,
    load_digits_views,
    load_mfeat,
    load_newsgroups,
    load_reuters21578,
)
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


@pytest.mark.parametrize("load", [load_newsgroups, load_reuters21578, load_mfeat, load_caltech4])
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
