"""``harmonium demo``: from two views of handwritten digits to numbers and pictures, in well under a minute."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from harmonium.cli.errors import OptionError
from harmonium.core.extras import require
from harmonium.datasets import load_digits_views
from harmonium.estimators import Harmonium
from harmonium.families import Binomial, Gaussian
from harmonium.hidden import BinomialUnits
from harmonium.training import Stochastic

# Chosen by cross-validation on the training rows of the default seed; the test rows were not looked at.
_TOPICS = 64
_STEPS_OF_A_TOPIC = 16
_VARIANCE = 0.2
_EPOCHS = 100
_QUICK_EPOCHS = 3
_QUICK_STRIDE = 4  # of the items on the map, whose t-SNE would take longer than everything else
_LEARNING_RATE = 0.01
_WEIGHT_DECAY = 3.0
_BATCH_SIZE = 50

Rows = dict[str, np.ndarray]


def run_demo(output: Path, seed: int, quick: bool, console: Console) -> None:
    """Train on three quarters of the digits, report on the rest, draw pictures and save the model.

    Parameters
    ----------
    output : Path
        Folder for ``topics.png``, ``map.png`` and ``model.safetensors``; it is made if it does not exist.
    seed : int
        Seed of the split and of the training.
    quick : bool
        Whether to train for a few epochs only.
    console : Console
        Where to print.
    """
    _check_seed(seed)
    _make_folder(output)
    digits = load_digits_views()
    assert digits.target is not None
    train_rows, test_rows = train_test_split(
        np.arange(len(digits.target)), test_size=0.25, stratify=digits.target, random_state=seed
    )
    train = {name: np.asarray(view)[train_rows] for name, view in digits.views.items()}
    test = {name: np.asarray(view)[test_rows] for name, view in digits.views.items()}
    labels = np.asarray(digits.target)
    console.print(
        f"Two views of {len(labels):,} handwritten digits: 64 pixels (counts from 0 to 16) and "
        f"{train['shape'].shape[1]} real numbers about their shape. Learning from {len(train_rows):,}, without labels.",
        highlight=False,
    )
    model, seconds = train_model(train, seed, quick)
    console.print(accuracy_table(model, train, test, labels[train_rows], labels[test_rows]))
    console.print(prediction_table(model, train, test))
    console.print(
        f"Trained in {seconds:.1f} s; encodes {encoding_speed(model, test):,.0f} items a second.", highlight=False
    )
    saved = output / "model.safetensors"
    model.save(saved)
    console.print(f"Look inside the model with: harmonium info {saved}", soft_wrap=True, markup=False)
    try:
        require("matplotlib", "Drawing pictures")
    except ImportError as missing:
        console.print(str(missing), markup=False, soft_wrap=True)
        return
    from harmonium.cli.demo_pictures import draw_map, draw_topics

    # a weight matters as much as its pixel varies: there is hardly any ink at the edge
    weights = model.topics("pixels", n=None, by="weight").to_numpy()
    draw_topics(weights * train["pixels"].std(axis=0)[:, None], output / "topics.png")
    shown = slice(None, None, _QUICK_STRIDE if quick else 1)
    draw_map(model.transform(digits.views)[shown], labels[shown], output / "map.png", seed)
    console.print(f"Pictures are in {output / 'topics.png'} and {output / 'map.png'}.", soft_wrap=True, markup=False)


def _check_seed(seed: int) -> None:
    """Refuse what scikit-learn takes for no seed."""
    if not 0 <= seed < 2**32:
        raise OptionError(f"--seed must be a whole number from 0 to {2**32 - 1}; got {seed}; 0 is usual.")


def _make_folder(output: Path) -> None:
    """Make the folder, and try to write there before anything long is computed."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=output):
            pass
    except OSError as error:
        raise OptionError(
            f"--output must be a folder that can be written to; {output} cannot ({str(error.strerror).lower()}); "
            "choose another."
        ) from error


def train_model(train: Rows, seed: int, quick: bool) -> tuple[Harmonium, float]:
    """Return the fitted model of both views, and how many seconds its training took."""
    driver = Stochastic(
        max_iter=_QUICK_EPOCHS if quick else _EPOCHS,
        batch_size=_BATCH_SIZE,
        learning_rate=_LEARNING_RATE,
        weight_decay=_WEIGHT_DECAY,
    )
    model = Harmonium(
        _TOPICS,
        views={"pixels": Binomial(16), "shape": Gaussian(variance=_VARIANCE)},
        hidden=BinomialUnits(_STEPS_OF_A_TOPIC),
        driver=driver,
        random_state=seed,
        verbose=1,
    )
    begin = time.perf_counter()
    model.fit(train)
    return model.set_params(verbose=0), time.perf_counter() - begin


def accuracy_table(
    model: Harmonium, train: Rows, test: Rows, train_labels: np.ndarray, test_labels: np.ndarray
) -> Table:
    """Return how often the nearest training item shows the same digit as a test item, in several spaces."""

    def accuracy(space: Any, from_train: Any, from_test: Any) -> float:
        steps = [space] if space is not None else []
        return float(
            make_pipeline(*steps, KNeighborsClassifier(1)).fit(from_train, train_labels).score(from_test, test_labels)
        )

    both_train, both_test = (np.hstack([rows["pixels"], rows["shape"]]) for rows in (train, test))
    size = model.n_components_
    # with as many components as pixels PCA merely rotates the space, so it gets half as many
    half = size // 2
    spaces = [
        (f"harmonium, both views, {size} topics", accuracy(None, model.transform(train), model.transform(test))),
        ("raw pixels", accuracy(None, train["pixels"], test["pixels"])),
        (f"PCA of pixels, {half} components", accuracy(PCA(half), train["pixels"], test["pixels"])),
        ("both views, standardised", accuracy(StandardScaler(), both_train, both_test)),
        (
            f"PCA of both views, standardised, {size} components",
            accuracy(make_pipeline(StandardScaler(), PCA(size)), both_train, both_test),
        ),
    ]
    table = Table(title=f"Nearest neighbour shows the same digit ({len(test_labels)} held-out items)")
    table.add_column("space")
    table.add_column("accuracy", justify="right")
    for name, value in spaces:
        table.add_row(name, f"{value:.3f}")
    return table


def prediction_table(model: Harmonium, train: Rows, test: Rows) -> Table:
    """Return how well pixels are predicted from the shape view alone, beside ridge regression and the mean image."""
    truth = test["pixels"]
    mean = train["pixels"].mean(axis=0)
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))).fit(train["shape"], train["pixels"])
    guesses = {
        "harmonium": model.predict_view("pixels", {"shape": test["shape"]}),
        "ridge regression (for this only)": np.clip(ridge.predict(test["shape"]), 0, 16),
        "mean training image": np.broadcast_to(mean, truth.shape),
    }
    table = Table(title="Pixels (0 to 16) predicted from the shape view alone")
    for column in ("prediction", "mean absolute error", "explained variance"):
        table.add_column(column, justify="left" if column == "prediction" else "right")
    for name, guess in guesses.items():
        explained = 1 - np.square(truth - guess).sum() / np.square(truth - mean).sum()
        table.add_row(name, f"{np.abs(truth - guess).mean():.2f}", f"{explained:.0%}")
    return table


def encoding_speed(model: Harmonium, test: Rows) -> float:
    """Return the number of items encoded per second, measured on enough items for the clock."""
    many = {name: np.tile(view, (20, 1)) for name, view in test.items()}
    model.transform(test)
    begin = time.perf_counter()
    model.transform(many)
    return len(many["pixels"]) / (time.perf_counter() - begin)
