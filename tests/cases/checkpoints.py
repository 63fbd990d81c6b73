"""Fits of all kinds that last a moment, ways to end them early, and a comparison to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from harmonium import IBP, LBFGS, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Langevin, Stochastic
from harmonium.heads import Ordinal
from harmonium.objectives import ExactLikelihood, MeanFieldCD, PersistentCD
from harmonium.training import AdjustedLangevin, Metropolis, Momentum, checkpoint
from tests.cases.posterior import two_views
from tests.cases.supervised import X, Y, two_numbers

VIEWS = two_views(60)
NUMBERS, TWO = two_numbers(80)
WORDS = {"words": X["words"][:90], "colour": X["colour"][:90]}
CLASSES = Y[:90]
FEW = Stochastic(max_iter=4, batch_size=20)
CHAINS: dict[str, Any] = {"n_draws": 4, "n_warmup": 6, "thin": 2, "n_chains": 2, "start": Stochastic(max_iter=2)}
STOPPING = Stochastic(max_iter=6, batch_size=20, early_stopping="reconstruction", average=True)

#: an estimator without its seed, and what it is fitted to
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "epochs": (Harmonium(3, driver=FEW), (VIEWS,)),
    "early stopping": (Harmonium(3, driver=STOPPING), (VIEWS,)),
    "persistent": (
        Harmonium(3, objective=PersistentCD(n_chains=7), driver=Stochastic(4, 20, optimizer=Momentum())),
        (VIEWS,),
    ),
    "selection": (Harmonium(hidden=IBP(6), driver=FEW), (VIEWS,)),
    "L-BFGS": (Harmonium(3, objective=MeanFieldCD(), driver=LBFGS(max_iter=35)), (VIEWS,)),
    "Langevin": (Harmonium(3, driver=Langevin(**CHAINS)), (VIEWS,)),
    "persistent Langevin": (Harmonium(3, objective=PersistentCD(n_chains=7), driver=Langevin(**CHAINS)), (VIEWS,)),
    "Metropolis": (Harmonium(3, driver=Metropolis(**CHAINS)), (VIEWS,)),
    "adjusted Langevin": (
        Harmonium(2, objective=ExactLikelihood(), driver=AdjustedLangevin(**CHAINS)),
        ({"words": VIEWS["words"]},),
    ),
    "classes": (HarmoniumClassifier(3, driver=FEW), (WORDS, CLASSES)),
    "classes in turn": (
        HarmoniumClassifier(3, head=Hinge(solver="alternate", ridge=0.05), driver=STOPPING),
        (WORDS, CLASSES),
    ),
    "classes, L-BFGS": (
        HarmoniumClassifier(3, objective=MeanFieldCD(), head=Hinge(C=1.0), driver=LBFGS(max_iter=15)),
        (WORDS, CLASSES),
    ),
    "classes, selection": (HarmoniumClassifier(hidden=IBP(6), driver=FEW), (WORDS, CLASSES)),
    "levels": (HarmoniumClassifier(3, head=Ordinal(C=1.0, solver="alternate"), driver=FEW), (WORDS, CLASSES)),
    "numbers": (HarmoniumRegressor(3, driver=Stochastic(4, 20, average=True)), (NUMBERS, TWO)),
}


class Killed(BaseException):
    """Stands for the end of a process: nothing may catch it."""


def made(name: str, path: Path | None = None, random_state: Any = 0, **settings: Any) -> Any:
    """An estimator that keeps checkpoints at a path."""
    estimator = CASES[name][0]
    model = type(estimator)(**{**estimator.get_params(deep=False), "random_state": random_state, **settings})
    return model.set_params(driver=model.driver.with_fitted().set_params(checkpoint=path))


def fitted(name: str, path: Path | None = None, random_state: Any = 0, **settings: Any) -> Any:
    return made(name, path, random_state, **settings).fit(*CASES[name][1])


@contextmanager
def ended_after(n_writes: int, kind: type[BaseException] = Killed) -> Iterator[list[int]]:
    """A context in which every epoch is written, and fits end after so many of them; gives their number."""
    write, count = checkpoint.Checkpoint.write, [0]

    def ending(self: Any) -> None:
        write(self)
        count[0] += self._path is not None  # candidates are brought up without a checkpoint of their own
        if count[0] == n_writes:
            raise kind

    with patch.object(checkpoint, "_SECONDS", -1.0), patch.object(checkpoint.Checkpoint, "write", ending):
        yield count


@contextmanager
def interrupting(owner: Any, method: str, number: int, times: int = 1) -> Iterator[None]:
    """A context in which a call of a method, counted from 1, is interrupted instead, and as many after it."""
    original: Callable[..., Any] = getattr(owner, method)
    count = 0

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        nonlocal count
        count += 1
        if number <= count < number + times:
            raise KeyboardInterrupt
        return original(*arguments, **keywords)

    with patch.object(owner, method, interrupted):
        yield


def assert_same_bits(one: Any, two: Any) -> None:
    """Parameters, draws, record and predictions are the same, but not the time it took."""
    assert one.fitted_.training.log.stopped == two.fitted_.training.log.stopped and one.n_iter_ == two.n_iter_
    assert one.fitted_.parameters.keys() == two.fitted_.parameters.keys()
    for name, value in one.fitted_.parameters.items():
        np.testing.assert_array_equal(value, two.fitted_.parameters[name])
    histories = [{name: column for name, column in model.history_.items() if name != "seconds"} for model in (one, two)]
    assert histories[0] == histories[1]
    for first, second in zip(one.fitted_.draws, two.fitted_.draws, strict=True):
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name])
    if one.fitted_.head is not None:
        assert one.fitted_.validation == two.fitted_.validation and one.fitted_.C == two.fitted_.C
        for name, value in one.fitted_.head.constants().items():
            np.testing.assert_array_equal(value, two.fitted_.head.constants()[name])
