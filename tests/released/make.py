"""Small model files of the present version, with what they predict: `python tests/released/make.py` at a release.

One file or folder of each kind that people keep: a model in one file, a model in a folder, a model folder with its
items, a checkpoint of a fit that was killed, and a weakly supervised model. `tests/persist/test_released.py` loads
those of all versions. A folder that is there is never written again: its files are what that version wrote.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import harmonium
from harmonium.weak import Bags, DissimilarityClassifier, LatentSVM

HERE = Path(__file__).parent
#: largest size of a file or folder, in bytes
MOST = 50_000


# ---- data, by exact arithmetic alone, so that every version and machine can make them again --------------------------
def spread(row: Any, column: Any) -> np.ndarray:
    """Numbers between -1 and 1 that look as if they were drawn."""
    return np.asarray((row * 37 + column * 53 + row * row * 3) % 128) / 64.0 - 1.0


def views(n_rows: int = 48) -> dict[str, np.ndarray]:
    """Words and colours of two kinds of items, with cells that are missing."""
    row, kind = np.arange(n_rows)[:, None], (np.arange(n_rows) % 2)[:, None]
    words = ((row * 7 + np.arange(8) * 5) % 11 < np.where(np.arange(8) % 2 == kind, 7, 2)).astype(float)
    colour = spread(row, np.arange(3)) + 2.0 * kind * (np.arange(3) == 0)
    words[5], colour[7, 1] = np.nan, np.nan
    return {"words": words, "colour": colour}


def classes(n_rows: int = 48) -> np.ndarray:
    """The kind of each item, unknown for some."""
    known = np.array(["coast", "hills"], dtype=object)[np.arange(n_rows) % 2]
    known[::12] = None
    return known


def numbers(n_rows: int = 48) -> np.ndarray:
    """A number that follows from the kind."""
    return 3.0 * (np.arange(n_rows) % 2) + spread(np.arange(n_rows), 5)


def frame(n_rows: int = 40) -> pd.DataFrame:
    """Text, number, category and date, and a rating."""
    nouns = [["sea", "sand", "boat", "wave"], ["snow", "rope", "hut", "pass"]]
    kind = np.arange(n_rows) % 2
    texts = [" ".join(nouns[k][(row * step + step) % 4] for step in (1, 2, 3)) for row, k in enumerate(kind)]
    return pd.DataFrame(
        {
            "text": texts,
            "price": 40.0 + 30.0 * kind + np.arange(n_rows) % 7,
            "place": np.array(["inn", "camp", "hotel"])[np.arange(n_rows) % 3],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows) * 3 % 200, unit="D"),
            "rating": 2.0 + 2.0 * kind + spread(np.arange(n_rows), 3),
        }
    )


def bags(n_rows: int = 16) -> tuple[Bags, np.ndarray]:
    """Sets of three candidates, one of which tells of the label."""
    row, y = np.arange(n_rows), np.arange(n_rows) % 2
    candidates = spread(row[:, None, None], 5 * np.arange(3)[:, None] + np.arange(4))
    candidates[row, row % 3, 0] += np.where(y, 3.0, -3.0)
    return Bags.from_list(list(candidates)), y


# ---- models ----------------------------------------------------------------------------------------------------------
def driver(**settings: Any) -> harmonium.Stochastic:
    """A few epochs."""
    return harmonium.Stochastic(max_iter=6, batch_size=12, learning_rate=0.05, **settings)


def resumable(checkpoint: Path | None) -> harmonium.Harmonium:
    """The model whose fit is killed, and goes on."""
    return harmonium.Harmonium(3, driver=driver(checkpoint=checkpoint), random_state=0, n_jobs=1)


class Killed(BaseException):
    """Stands for the end of a process."""


@contextlib.contextmanager
def killed_after(n_writes: int) -> Iterator[None]:
    """A context in which clocks run so fast that every checkpoint is due, and a fit ends after some of them."""
    replace, monotonic, count, late = os.replace, time.monotonic, [0], [0.0]

    def ending(*paths: Any, **keywords: Any) -> None:
        replace(*paths, **keywords)
        count[0] += 1
        if count[0] == n_writes:
            raise Killed

    def hurried() -> float:
        late[0] += 1000.0
        return monotonic() + late[0]

    with patch.object(os, "replace", ending), patch.object(time, "monotonic", hurried), contextlib.suppress(Killed):
        yield


# ---- what models say -------------------------------------------------------------------------------------------------
QUESTIONS = ("transform", "predict", "predict_proba", "score_samples")


def plain(value: Any) -> Any:
    """Values as JSON can hold them, with nine digits."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def said(model: Any, X: Any) -> dict[str, Any]:
    """What a model says of the first rows."""
    first = {name: view[:10] for name, view in X.items()} if isinstance(X, dict) else X[:10]
    return {name: plain(np.asarray(getattr(model, name)(first)).tolist()) for name in QUESTIONS if hasattr(model, name)}


def said_of_bags(model: Any) -> dict[str, Any]:
    """What a weakly supervised model says: labels and candidates."""
    X, _ = bags()
    labels, candidates = model.predict_latent(X)
    return {"labels": np.asarray(labels).tolist(), "candidates": np.asarray(candidates).tolist()}


def make_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Write all files into a folder; return what their models say, by the name of the file."""
    told, X, table = {}, views(), frame()
    supervised: dict[str, Any] = {"driver": driver(), "random_state": 0, "n_jobs": 1}

    harmonium_model = harmonium.Harmonium(3, **supervised).fit(X)
    harmonium_model.save(folder / "harmonium.safetensors")
    told["harmonium.safetensors"] = said(harmonium_model, X)

    classifier = harmonium.HarmoniumClassifier(3, **supervised).fit(X, classes())
    classifier.save(folder / "classifier.safetensors")
    told["classifier.safetensors"] = said(classifier, X)

    regressor = harmonium.HarmoniumRegressor(3, **supervised).fit(X, numbers())
    regressor.save(folder / "regressor")
    told["regressor"] = said(regressor, X)

    frames = harmonium.HarmoniumRegressor(2, **supervised).fit(table, "rating")
    frames.save(folder / "frame.safetensors")
    told["frame.safetensors"] = said(frames, table.drop(columns="rating"))

    chains = {"n_draws": 3, "n_warmup": 4, "thin": 1, "n_chains": 2, "start": driver()}
    drawn = harmonium.Harmonium(2, driver=harmonium.Langevin(**chains), random_state=0, n_jobs=1).fit(X)
    drawn.save(folder / "draws.safetensors")
    told["draws.safetensors"] = said(drawn, X)

    places = harmonium.fit_folder(folder / "places", harmonium.HarmoniumRegressor(2, **supervised), table, "rating")
    told["places"] = said(places.model, table.drop(columns="rating"))

    for name, kind in (("latent_svm.safetensors", LatentSVM), ("dissimilarity.safetensors", DissimilarityClassifier)):
        weak = kind(max_iter=3, random_state=0, n_jobs=1).fit(*bags())
        weak.save(folder / name)
        told[name] = said_of_bags(weak)

    with killed_after(3):
        resumable(folder / "checkpoint").fit(X)
    told["checkpoint"] = said(resumable(None).fit(X), X)
    return told


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(each.stat().st_size for each in ([path] if path.is_file() else path.rglob("*")) if each.is_file())


if __name__ == "__main__":
    home = HERE / harmonium.__version__
    if home.exists():
        sys.exit(f"Files of a version are written once; {home} is there; set the version of the next release first.")
    home.mkdir()
    answers = make_all(home)
    (home / "predictions.json").write_text(json.dumps(answers) + "\n")
    large = [path.name for path in home.iterdir() if size_of(path) > MOST]
    if large:
        sys.exit(f"Files must have at most {MOST} bytes; {', '.join(large)} have more; make the models smaller.")
