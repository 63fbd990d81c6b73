"""Ctrl-C keeps the best model so far, and still goes on to whoever called fit."""

from __future__ import annotations

import _thread
import pickle
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score

import harmonium
from harmonium import Harmonium, HarmoniumWarning, Stochastic
from harmonium.inspection import posterior_draws
from harmonium.linear.search import LinearSearch
from harmonium.objectives import SampledCD
from harmonium.training import fit
from harmonium.training.drivers import lbfgs
from harmonium.training.drivers.monitor import Monitor
from harmonium.weak import Bags, DissimilarityClassifier, IterativeLatentSVM, LatentSVM
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.solvers.cutting_plane import CuttingPlane
from tests.cases.checkpoints import CASES, CLASSES, VIEWS, WORDS, interrupting, made

NAMES = list(CASES)


def stopped(model: Any, *data: Any) -> list[str]:
    """Fit a model that will be interrupted, and return what warnings say of that."""
    with warnings.catch_warnings(record=True) as given, pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("always")
        model.fit(*data)
    return [str(one.message) for one in given if "interrupted" in str(one.message)]


def assert_usable(model: Any, data: tuple[Any, ...], path: Path) -> None:
    """It says that it was interrupted, and does what every model does."""
    assert model.fitted_.training.log.stopped == "interrupted" and model.n_iter_ > 0
    assert all(np.isfinite(value).all() for value in model.fitted_.parameters.values())
    assert len({len(column) for column in model.history_.values()}) == 1
    model.save(path)
    latent = model.transform(data[0])
    np.testing.assert_array_equal(harmonium.load(path).transform(data[0]), latent)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(data[0]), latent)
    if len(data) > 1:
        assert np.isfinite(model.score(*data))


@pytest.fixture(scope="module")
def n_reads() -> dict[str, int]:
    """How often whole fits look at themselves."""
    counts = {}
    for name in NAMES:
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read, count = Monitor.read, [0]
            patch.setattr(Monitor, "read", lambda *a, c=count, r=read, **k: (c.__setitem__(0, c[0] + 1), r(*a, **k))[1])
            made(name).fit(*CASES[name][1])
        counts[name] = count[0]
    return counts


@pytest.mark.parametrize("name", NAMES)
def test_the_best_model_so_far_is_kept_whatever_trains_it(name: str, n_reads: dict[str, int], tmp_path: Path) -> None:
    data, n_kept = CASES[name][1], 0
    for number in (1, max(2, n_reads[name] // 2), n_reads[name]):
        model = made(name)
        with interrupting(Monitor, "read", number):
            said = stopped(model, *data)
        if number == 1:
            assert not said and not hasattr(model, "fitted_") and not hasattr(model, "n_features_in_")
        elif hasattr(model, "fitted_"):
            n_kept += 1
            assert len(said) == 1 and "warm_start=True" in said[0] and "checkpoint" in said[0]
            assert_usable(model, data, tmp_path / "model.safetensors")
    assert n_kept


@settings(deadline=None, max_examples=15)
@given(st.integers(2, 12), st.booleans(), st.sampled_from([None, "reconstruction"]))
def test_what_is_kept_is_the_last_complete_epoch(batch: int, average: bool, early_stopping: Any) -> None:
    driver = Stochastic(4, 20, schedule="constant", average=average, early_stopping=early_stopping, patience=9)
    model = Harmonium(2, driver=driver, random_state=0)
    with interrupting(SampledCD, "accumulate", batch):
        said = stopped(model, VIEWS)
    if not said:
        assert batch <= 3 and not hasattr(model, "fitted_")
        return
    # some epochs may have been passed over, as copies must not take long
    assert 1 <= model.n_iter_ <= (batch - 1) // 2 and len(model.history_["epoch"]) == model.n_iter_
    epochs = "1 epoch;" if model.n_iter_ == 1 else f"{model.n_iter_} epochs;"
    assert f"after {epochs}" in said[0]
    whole = Harmonium(2, driver=driver.with_fitted().set_params(max_iter=model.n_iter_), random_state=0).fit(VIEWS)
    for name, value in whole.fitted_.parameters.items():
        np.testing.assert_array_equal(value, model.fitted_.parameters[name])


def test_l_bfgs_keeps_iterations_of_a_round_that_is_not_complete(tmp_path: Path) -> None:
    model, data = made("L-BFGS"), CASES["L-BFGS"][1]
    with interrupting(harmonium.objectives.MeanFieldCD, "accumulate", 6):
        assert len(stopped(model, *data)) == 1
    assert 1 <= model.n_iter_ < lbfgs._ROUND
    assert_usable(model, data, tmp_path / "model.safetensors")


def test_draws_of_all_chains_are_kept_and_none_before_the_first(tmp_path: Path) -> None:
    data = CASES["Langevin"][1]
    for move, n_draws in ((10, 0), (2 * (6 + 2) + 1, 1), (2 * (6 + 4) + 2, 2)):
        model = made("Langevin", warm_start=True)
        with interrupting(harmonium.Langevin, "move", move):
            stopped(model, *data)
        assert hasattr(model, "fitted_") == bool(n_draws)
        if n_draws:
            assert posterior_draws(model)["words.weights"].shape[:2] == (2, n_draws)
            assert_usable(model, data, tmp_path / "model.safetensors")
            assert posterior_draws(model.fit(*data))["words.weights"].shape[:2] == (2, n_draws + 4)


def test_while_epochs_are_chosen_the_best_model_of_the_choice_is_kept(n_reads: dict[str, int], tmp_path: Path) -> None:
    kept = set()
    for number in [*range(3, n_reads["classes"], 5), n_reads["classes"]]:
        model = made("classes")
        with interrupting(Monitor, "read", number):
            said = stopped(model, WORDS, CLASSES)
        kept.add("held out" in said[0])
        assert model.fitted_.validation["error"] and model.fitted_.C == 1.6
        assert_usable(model, (WORDS, CLASSES), tmp_path / "model.safetensors")
    assert kept == {True, False}


def test_a_model_whose_last_epoch_is_complete_is_kept_with_its_linear_part() -> None:
    model = made("classes")
    with interrupting(LinearSearch, "linear_part", 1):
        said = stopped(model, WORDS, CLASSES)
    assert len(said) == 1 and "held out" not in said[0]
    assert model.fitted_.head.input_parts_ and model.fitted_.training.log.stopped == "interrupted"


def test_a_fit_that_goes_on_stays_as_it_was_or_gets_better() -> None:
    model = made("epochs", warm_start=True).fit(VIEWS)
    before = model.fitted_
    with interrupting(SampledCD, "accumulate", 2):
        assert not stopped(model, VIEWS)
    assert model.fitted_ is before
    with interrupting(SampledCD, "accumulate", 6):
        assert stopped(model, VIEWS)
    assert before.training.log.n_iter < model.n_iter_ < model.fit(VIEWS).n_iter_


@pytest.mark.parametrize("owner, method", [(Monitor, "idle_units"), (fit, "prune")])
def test_the_first_interrupt_waits_for_the_end_and_the_second_does_not(owner: Any, method: str) -> None:
    model = made("selection" if method == "prune" else "epochs")
    with interrupting(owner, method, 1, times=2):
        assert not stopped(model, VIEWS)
    assert not hasattr(model, "fitted_")
    with interrupting(owner, method, 1):
        assert stopped(model, VIEWS)
    assert model.fitted_.training.log.stopped == "interrupted" and model.n_iter_ == 4


def test_searches_and_folds_stop_too() -> None:
    model = made("epochs")
    calls = SampledCD.accumulate

    for search in (
        lambda: cross_val_score(model, VIEWS["colour"], cv=3, scoring=lambda *_: 0.0, error_score=0.0),
        lambda: GridSearchCV(model, {"n_components": [2, 3]}, scoring=lambda *_: 0.0).fit(VIEWS["colour"]),
    ):
        with interrupting(SampledCD, "accumulate", 5), pytest.raises(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search()
    assert SampledCD.accumulate is calls
    with interrupting(SampledCD, "accumulate", 5), warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("error")  # even then
        model.fit(VIEWS)
    assert model.fitted_.training.log.stopped == "interrupted"


def test_marks_take_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = []

    def slow(parameters: Any) -> Any:
        copies.append(time.sleep(0.05))
        return {name: value.copy() for name, value in parameters.items()}

    monkeypatch.setattr(harmonium.training.state, "copy_parameters", slow)
    begin = time.perf_counter()
    Harmonium(2, driver=Stochastic(40, 60), random_state=0).fit(VIEWS)
    assert 2 <= len(copies) <= 2 + (time.perf_counter() - begin) / (100 * 0.05)


@pytest.fixture
def timers() -> Iterator[list[threading.Timer]]:
    """Timers that are gone at the end of a test."""
    running: list[threading.Timer] = []
    yield running
    for timer in running:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize("name", ["selection", "L-BFGS", "classes"])
def test_interrupts_may_come_at_any_moment(name: str, timers: list[threading.Timer], tmp_path: Path) -> None:
    data = CASES[name][1]
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made(name).fit(*data)
    duration = time.perf_counter() - begin
    for share in (0.3, 0.5, 0.7, 0.9):
        model = made(name)
        timer = threading.Timer(share * duration, _thread.interrupt_main)
        timers.append(timer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarmoniumWarning)
            try:
                timer.start()
                model.fit(*data)
                timer.join()
                time.sleep(0.01)
            except KeyboardInterrupt:
                pass
        if hasattr(model, "fitted_") and model.fitted_.training.interrupted:
            assert_usable(model, data, tmp_path / "model.safetensors")


# ---- weak supervision --------------------------------------------------------------------------------------------
def some_bags() -> tuple[Bags, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=60)
    clutter = rng.normal(size=(60, 5, 6))
    clutter[np.arange(60), rng.integers(0, 5, 60), y] += 2
    return Bags.from_list(list(clutter)), y


@pytest.mark.parametrize("kind", [LatentSVM, IterativeLatentSVM, DissimilarityClassifier])
@pytest.mark.parametrize("owner, method", [(CuttingPlane, "_pass"), (CandidateProblem, "complete")])
def test_weak_classifiers_keep_the_best_weights_so_far(kind: Any, owner: Any, method: str) -> None:
    X, y = some_bags()
    kept = 0
    for number in (1, 2, 3, 5, 8, 12, 18):
        model = kind(C=10.0, random_state=0)
        with interrupting(owner, method, number), warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            try:
                model.fit(X, y)
            except KeyboardInterrupt:
                pass
            else:
                continue  # it was done before
        said = [str(one.message) for one in given if "interrupted" in str(one.message)]
        assert len(said) == hasattr(model, "coef_")
        if said:
            kept += 1
            assert model.coef_.any() and np.isfinite(model.coef_).all() and model.n_iter_ >= 1
            assert (model.predict(X) == y).mean() > 0.5
    assert kept >= 2


def test_a_second_interrupt_of_a_weak_classifier_gets_out_at_once() -> None:
    model = LatentSVM(C=10.0)
    with interrupting(CuttingPlane, "_pass", 4), interrupting(CandidateProblem, "complete", 1):
        assert not stopped(model, *some_bags())
    assert not hasattr(model, "coef_")
