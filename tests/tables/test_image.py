"""Columns of pictures and of paragraphs: what becomes of them, and that files keep it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, ModelFolder, Sequences, Stochastic, TableViews, load
from harmonium.estimators.input import known_views
from harmonium.exceptions import InvalidViewError
from harmonium.model_folder import Thumbnails
from harmonium.tables import Image

FEW = Stochastic(max_iter=2)


def test_pictures_become_colours_and_shapes_that_files_keep(tmp_path: Path) -> None:
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    pictures: list[np.ndarray | None] = []
    for kind in np.repeat([0, 1], 15):
        picture = np.zeros((24, 24, 3), dtype=np.uint8)
        picture[..., kind] = 180 + rng.integers(0, 40, (24, 24))
        picture[6:12, 6:12] = 255
        pictures.append(picture)
    pictures[3] = None
    frame = pd.DataFrame({"photo": pd.Series(pictures, dtype=object)})
    reader = TableViews({"photo": Image(n_words=5)})
    model = Harmonium(2, views=reader, driver=FEW, random_state=0).fit(frame)
    assert list(model.families_) == ["photo_colours", "photo_shapes"]
    views = known_views(model, frame)
    shares = views.source("photo_colours").matrix
    np.testing.assert_allclose(np.nansum(shares, axis=1), np.where(np.arange(30) == 3, 0, 1), atol=1e-6)
    assert (views.source("photo_shapes").rows < 0).tolist() == [row == 3 for row in range(30)]
    # a folder keeps names and thumbnails, not the pictures
    items = pd.DataFrame({"photo": [f"{row}.png" for row in range(30)]})
    made = ModelFolder.create(tmp_path / "model", model, frame, items=items, thumbnails=Thumbnails.of(pictures))
    np.testing.assert_array_equal(load(tmp_path / "model").transform(frame), model.transform(frame))
    assert len(made.nearest(0, 5)) == 5
    content = Thumbnails.of([pictures[0]])[0]
    same = pd.DataFrame({"photo": pd.Series([pictures[0], content], dtype=object)})  # pixels, and the bytes of a file
    np.testing.assert_allclose(*model.transform(same))
    with pytest.raises(InvalidViewError, match="pictures_of"):
        model.transform(pd.DataFrame({"photo": ["a.png"]}))
    with pytest.raises(InvalidViewError, match="row 0 cannot"):
        model.transform(pd.DataFrame({"photo": pd.Series([b"nonsense"], dtype=object)}))


def test_paragraphs_become_sequences_that_files_keep(tmp_path: Path) -> None:
    texts = [["Clean room.", "Quiet room."], ["Rude staff.", "Staff again."], None] * 10
    frame = pd.DataFrame({"review": pd.Series(texts, dtype=object)})
    model = Harmonium(2, views=TableViews({"review": "sequence"}), driver=FEW, random_state=0).fit(frame)
    views = known_views(model, frame)
    words = ["clean", "quiet", "room", "rude", "staff"]  # "again" is a stop word
    expected = Sequences.from_texts(texts[:2], vocabulary=words)
    np.testing.assert_array_equal(views.source("review").matrix[:2].toarray(), expected.counts.toarray())
    assert (views.source("review").rows < 0).tolist() == [False, False, True] * 10
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").transform(frame), model.transform(frame))
    joined = frame["review"].map(lambda parts: None if parts is None else "\n\n".join(parts))
    np.testing.assert_array_equal(model.transform(joined.to_frame()), model.transform(frame))
