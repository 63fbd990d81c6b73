"""Sets of several views: their views, and training and test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.io
from sklearn.model_selection import train_test_split

from benchmarks.datasets import load_bdgp, load_mfeat, load_wikipedia
from harmonium.datasets._base import data_home

LOADERS = {"bdgp": load_bdgp, "mfeat": load_mfeat, "wikipedia": load_wikipedia}
#: sets in one format, by the folder ``multiview``: links and words, anchors and words, keywords and actors, three
#: features of images, twelve of proteins
MATRICES = ("CiteSeer", "WebKB", "Movies", "Scene_15", "ProteinFold")
TRAINING_SHARE = 0.75  # of Wikipedia's own training rows

Views = dict[str, Any]


def views_of(name: str) -> tuple[Views, np.ndarray]:
    """Return the views of a set by name, and the classes."""
    if name in LOADERS:
        loaded = LOADERS[name]()
        return {view: np.asarray(rows) for view, rows in loaded.views.items()}, np.asarray(loaded.target)
    contents = scipy.io.loadmat(data_home(None) / "multiview" / f"{name}.mat")
    y = contents["y" if "y" in contents else "Y"].ravel()
    views = [np.asarray(view, dtype=np.float32) for view in contents["X"].ravel()]
    return {f"view{number}": view if len(view) == len(y) else view.T for number, view in enumerate(views)}, y


def halves(name: str, seed: int, rows: int = 0) -> tuple[Views, np.ndarray, Views, np.ndarray]:
    """Return views and classes of training and of test rows: stratified halves, and Wikipedia's own test rows."""
    views, y = views_of(name)
    if name == "wikipedia":
        split = LOADERS[name]().split
        train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        train, _ = train_test_split(train, train_size=TRAINING_SHARE, random_state=seed, stratify=y[train])
    else:
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)
    if rows:
        train, test = train[:rows], test[:rows]
    return (
        {view: matrix[train] for view, matrix in views.items()},
        y[train],
        {view: matrix[test] for view, matrix in views.items()},
        y[test],
    )
