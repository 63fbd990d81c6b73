"""Progress: what a fit says about its plan adds up, so that the bar ends at 100 % and never goes beyond."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from rich.progress import Progress

from harmonium import LBFGS, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Langevin, Stochastic
from harmonium.core.progress_bar import Bar, Silent
from harmonium.estimators import harmonium as face


class Recorder(Silent):
    """Keeps what a bar would show: rows done, and where it ends, after each message."""

    def __init__(self) -> None:
        self.done, self.end = 0, -1
        self.shown: list[tuple[int, int]] = []

    def ahead(self, n_rows: int) -> None:
        self.end = self.done + n_rows
        self.shown.append((self.done, self.end))

    def batch(self, n_rows: int) -> None:
        self.done += n_rows
        self.shown.append((self.done, self.end))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The reporter of all fits of a test."""
    reporter = Recorder()

    @contextmanager
    def reporting(verbose: Any) -> Any:
        yield reporter

    monkeypatch.setattr(face, "reporting", reporting)
    return reporter


def rows(n_rows: int, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return binary rows and two classes, which some columns tell apart."""
    rng = np.random.default_rng(0)
    label = (rng.random(n_rows) < share).astype(int)
    return (rng.random((n_rows, 8)) < 0.3 + 0.3 * label[:, None]).astype(np.float32), label


FITS = {
    "several folds": (HarmoniumClassifier(n_components=2), rows(120)),
    "one fold": (HarmoniumClassifier(n_components=2, driver=Stochastic(max_iter=4)), rows(3100)),
    "uneven classes": (HarmoniumClassifier(n_components=2), rows(200, share=0.1)),
    "nothing held out": (HarmoniumClassifier(n_components=2, head="hinge", validation_fraction=0.15), rows(9)),
    "a number": (HarmoniumRegressor(n_components=2), rows(60)),
    "held out to stop early": (
        HarmoniumClassifier(n_components=2, driver=Stochastic(early_stopping="reconstruction", patience=1)),
        rows(117),
    ),
    "iterations": (HarmoniumClassifier(n_components=2, objective="MeanFieldCD", driver=LBFGS(max_iter=25)), rows(60)),
    "no head": (Harmonium(n_components=2, driver=Stochastic(max_iter=7)), rows(53)),
    "no head, early": (Harmonium(n_components=2, driver=Stochastic(early_stopping="reconstruction")), rows(53)),
    "no head, iterations": (Harmonium(n_components=2, objective="MeanFieldCD", driver=LBFGS()), rows(53)),
    "chains": (Harmonium(n_components=2, driver=Langevin(n_warmup=5, n_draws=5, n_chains=2)), rows(53)),
}


@pytest.mark.parametrize("case", FITS)
def test_a_finished_fit_ends_at_all_and_is_never_beyond(case: str, recorder: Recorder) -> None:
    model, (X, y) = FITS[case]
    model.set_params(random_state=0).fit(X, y)
    assert recorder.done == recorder.end > 0
    assert all(done <= end for done, end in recorder.shown)


@pytest.mark.parametrize("driver", [Stochastic(max_iter=3), Langevin(n_warmup=5, n_draws=5, n_chains=2)])
def test_what_goes_on_ends_at_all_too(driver: Any, recorder: Recorder) -> None:
    X, _ = rows(53)
    model = Harmonium(n_components=2, driver=driver, random_state=0, warm_start=True).fit(X)
    recorder.shown = []
    model.fit(X)
    assert recorder.done == recorder.end
    assert all(done <= end for done, end in recorder.shown)


def test_most_of_the_plan_is_known_from_the_start(recorder: Recorder) -> None:
    X, y = rows(120)
    HarmoniumClassifier(n_components=2, random_state=0).fit(X, y)
    # stages that are given up or end early make it shorter, more values of C longer: not by orders of magnitude
    assert 0.3 < recorder.shown[0][1] / recorder.done < 2


def test_the_bar_shows_what_it_is_told() -> None:
    with Progress(disable=True) as progress:
        bar = Bar(progress)
        task = progress.tasks[0]
        assert task.total is None
        bar.ahead(100)
        bar.batch(30)
        assert task.percentage == 30
        bar.ahead(30)
        assert task.percentage == 50
        bar.ahead(0)
        assert task.percentage == 100
        assert task.finished
