"""Calls whose k-th read, write, flush, rename or new folder fails, for every k, as SQLite is tested."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import Harmonium, HarmoniumRegressor, ModelFolder, Stochastic, fit_folder, load
from harmonium.exceptions import ModelFileError
from harmonium.storage import replacing
from harmonium.training import checkpoint

X = np.random.default_rng(0).normal(size=(40, 3))
#: what a disk says
ERRORS = (errno.EIO, errno.ENOSPC)


class Failing:
    """Counts operations, and lets one of them fail."""

    def __init__(self, kth: int, number: int) -> None:
        self.kth, self.number, self.count = kth, number, 0

    def __call__(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that is counted."""

        def counted(*args: Any, **keywords: Any) -> Any:
            self.count += 1
            if self.count == self.kth:
                raise OSError(self.number, os.strerror(self.number), str(args[0]) if args else None)
            return operation(*args, **keywords)

        return counted


@contextmanager
def failing(kth: int, number: int) -> Iterator[Failing]:
    """Let the k-th operation on files fail."""
    fails = Failing(kth, number)

    def opened(*args: Any, **keywords: Any) -> Any:
        return _File(open(*args, **keywords), fails)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "fsync", "replace", "mkdir"):
            patch.setattr(os, name, fails(getattr(os, name)))
        for name in ("read_bytes", "write_text", "iterdir"):
            patch.setattr(Path, name, fails(getattr(Path, name)))
        patch.setattr(replacing, "open", opened, raising=False)
        yield fails


class _File:
    """An open file whose writes are counted."""

    def __init__(self, file: Any, fails: Failing) -> None:
        self.file = file
        self.writelines, self.flush = fails(file.writelines), fails(file.flush)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


def fitted(seed: int) -> Harmonium:
    return Harmonium(2, driver=Stochastic(max_iter=1), random_state=seed).fit(X)


class Case:
    """Something that reads or writes, and what must hold after it, whether it failed or not."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def prepare(self) -> None:
        """Make what is there before."""

    def act(self) -> Any:
        """Do what may fail."""

    def check(self, failed: bool, answer: Any) -> None:
        """Check what is there after it."""


class Save(Case):
    """A model takes the place of another."""

    name = "model.safetensors"

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.old, self.new = fitted(0), fitted(1)
        self.latent = [model.transform(X) for model in (self.old, self.new)]

    def prepare(self) -> None:
        self.old.save(self.place / self.name)

    def act(self) -> Any:
        self.new.save(self.place / self.name)

    def check(self, failed: bool, answer: Any) -> None:
        found = load(self.place / self.name).transform(X)
        same = [np.array_equal(found, latent) for latent in self.latent]
        assert any(same) and (failed or same[1])
        assert not list(self.place.rglob("*.partial"))


class SaveFolder(Save):
    """A folder takes the place of another."""

    name = "model"


class Load(Save):
    """A model is read."""

    def act(self) -> Any:
        return load(self.place / self.name).transform(X)

    def check(self, failed: bool, answer: Any) -> None:
        assert failed or np.array_equal(answer, self.latent[0])


class LoadFolder(Load):
    """A folder is read."""

    name = "model"


class Checkpoint(Case):
    """A fit that keeps checkpoints, which is called again after it failed."""

    def fit(self) -> Any:
        driver = Stochastic(max_iter=3, checkpoint=str(self.place / "checkpoint"))
        return Harmonium(2, driver=driver, random_state=0).fit(X)

    def prepare(self) -> None:
        self.latent = Harmonium(2, driver=Stochastic(max_iter=3), random_state=0).fit(X).transform(X)
        for path in self.place.glob("checkpoint*"):
            path.unlink()

    def act(self) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint, "_SECONDS", 0.0)
            return self.fit()

    def check(self, failed: bool, answer: Any) -> None:
        model = self.fit() if failed else answer
        assert np.array_equal(model.transform(X), self.latent)


class FitFolder(Case):
    """A model folder with scores, map and search index, which is fitted again after it failed."""

    n = 0

    def prepare(self) -> None:
        self.n += 1

    def fit(self) -> ModelFolder:
        model = HarmoniumRegressor(2, driver=Stochastic(max_iter=1), random_state=0, validation_fraction=0.0)
        return fit_folder(self.place / f"rooms{self.n}", model, X[:, :2], X[:, 2], n_resamples=0)

    def act(self) -> Any:
        return self.fit()

    def check(self, failed: bool, answer: Any) -> None:
        if failed:
            self.fit()
        assert len(ModelFolder.open(self.place / f"rooms{self.n}")) == len(X)


CASES: dict[str, type[Case]] = {
    "save a file": Save,
    "save a folder": SaveFolder,
    "load a file": Load,
    "load a folder": LoadFolder,
    "fit with checkpoints": Checkpoint,
    "fit a folder": FitFolder,
}


def sweep(case: Case, errors: tuple[int, ...] = ERRORS, step: int = 1) -> Counter[str]:
    """Let every operation of a case fail, one after the other, and count what came of it."""
    counts: Counter[str] = Counter()
    for number in errors:
        kth, more = 1, True
        while more:
            case.prepare()
            answer, refusal = None, None
            with failing(kth, number) as fails:
                try:
                    answer = case.act()
                except (OSError, ModelFileError) as error:
                    refusal = str(error)
                more = fails.count >= kth
            case.check(refusal is not None, answer)
            if refusal is not None:
                assert "\n" not in refusal and refusal.endswith("."), f"operation {kth}: {refusal}"
            counts["refused" if refusal is not None else "went on" if more else "passed"] += 1
            kth += step
    return counts
