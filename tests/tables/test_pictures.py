"""Pictures whose files a column names: where they are read from, and who may name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, Stochastic, TableViews, load
from harmonium.exceptions import InvalidViewError
from harmonium.tables import Image
from harmonium.tables.pictures import pictures_of


def test_pictures_are_read_from_folders_and_archives_alone(tmp_path: Path) -> None:
    from zipfile import ZipFile

    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "pictures"
    folder.mkdir()
    red = np.zeros((4, 4, 3), dtype=np.uint8)
    red[..., 0] = 255
    image.fromarray(red).save(folder / "red.png")
    image.fromarray(red).save(tmp_path / "outside.png")
    with ZipFile(tmp_path / "pictures.zip", "w") as archive:
        archive.write(folder / "red.png", "red.png")
    for root in (folder, tmp_path / "pictures.zip"):
        found = pictures_of(["red", None, "red.png", float("nan")], root)
        np.testing.assert_array_equal(found[0], red)
        assert [picture is None for picture in found] == [False, True, False, True]
        for name in ("blue", "../outside.png", "/etc/passwd", "a\0b"):
            with pytest.raises(InvalidViewError, match="none called"):
                pictures_of([name], root)
    (folder / "bad.png").write_bytes(b"nonsense")
    with pytest.raises(InvalidViewError, match="image file"):
        pictures_of(["bad"], folder)


def test_a_column_of_paths_is_a_view_of_images_for_whoever_names_the_folder(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 255, (12, 24, 24, 3), dtype=np.uint8)
    (tmp_path / "photos").mkdir()
    for row, picture in enumerate(pictures):
        image.fromarray(picture).save(tmp_path / "photos" / f"{row}.png")
    image.fromarray(pictures[0]).save(tmp_path / "outside.png")
    paths = pd.DataFrame({"photo": [f"{row}.png" if row != 3 else None for row in range(12)]})
    pixels = [None if row == 3 else picture for row, picture in enumerate(pictures)]
    arrays = pd.DataFrame({"photo": pd.Series(pixels, dtype=object)})
    reader = TableViews({"photo": Image(n_words=5, folder=tmp_path / "photos")})
    model = Harmonium(2, views=reader, driver=Stochastic(max_iter=2), random_state=0).fit(paths)
    np.testing.assert_array_equal(model.transform(paths), model.transform(arrays))
    with pytest.raises(InvalidViewError, match="none called"):
        model.transform(pd.DataFrame({"photo": ["../outside.png"]}))
    model.save(tmp_path / "model")
    assert str(tmp_path) not in (tmp_path / "model" / "model.json").read_text()
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(arrays), model.transform(arrays))
    with pytest.raises(InvalidViewError, match=r"Image\(folder"):
        loaded.transform(paths)  # whoever loads a model has not said what it may open
    with pytest.raises(TypeError, match="a path as folder"):
        Image(folder=3).check()  # type: ignore[arg-type]
