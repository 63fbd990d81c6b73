"""Calls whose k-th read, write, flush, rename, removal, new folder or allocation fails, for every k, as SQLite's do."""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, HarmoniumRegressor, ModelFolder, Stochastic, TableViews, fit_folder, load
from harmonium.cli.frame_files import write_frames
from harmonium.exceptions import ModelFileError
from harmonium.explore.site import write_site
from harmonium.report import summarise, write_report
from harmonium.storage import replacing
from harmonium.training import checkpoint

X = np.random.default_rng(0).normal(size=(40, 3))
#: what a disk says, and what Python says where there is no memory
ERRORS: dict[str, OSError | MemoryError] = {
    "broken": OSError(errno.EIO, os.strerror(errno.EIO)),
    "full": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "no memory": MemoryError(),
}


class Failing:
    """Counts operations, and lets one of them fail."""

    def __init__(self, kth: int, error: Exception) -> None:
        self.kth, self.error, self.count = kth, error, 0

    def __call__(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that is counted."""

        def counted(*args: Any, **keywords: Any) -> Any:
            self.count += 1
            if self.count == self.kth:
                raise type(self.error)(*self.error.args, *([str(args[0])] if self.error.args and args else []))
            return operation(*args, **keywords)

        return counted


@contextmanager
def failing(kth: int, error: Exception) -> Iterator[Failing]:
    """Let the k-th operation on files fail, or the k-th allocation too if it is memory that is missing."""
    fails = Failing(kth, error)

    def opened(*args: Any, **keywords: Any) -> Any:
        return _File(open(*args, **keywords), fails)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "fsync", "replace", "mkdir", "unlink", "rmdir"):
            patch.setattr(os, name, fails(getattr(os, name)))
        for name in ("read_bytes", "write_bytes", "read_text", "write_text", "iterdir", "stat"):
            patch.setattr(Path, name, fails(getattr(Path, name)))
        if isinstance(error, MemoryError):
            for name in (
                "empty",
                "zeros",
                "ones",
                "full",
                "empty_like",
                "zeros_like",
                "concatenate",
                "ascontiguousarray",
            ):
                patch.setattr(np, name, fails(getattr(np, name)))
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


class Folder(Case):
    """Something that is made of a model folder."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        words = np.array(["red oak", "pale lime", "dark oak", "fresh pear"])
        self.table = pd.DataFrame({"text": np.tile(words, 10), "price": X[:, 0]})
        model = HarmoniumRegressor(
            2, views=TableViews(), driver=Stochastic(max_iter=1), random_state=0, validation_fraction=0.0
        )
        self.folder = ModelFolder.create(place / "rooms", model.fit(self.table, X[:, 2]), self.table)
        self.expected = self.made(place / "expected")

    def make(self, path: Path) -> Any:
        """Make it."""

    def content(self, path: Path) -> Any:
        """Return what was written."""
        return path.read_bytes()

    def made(self, path: Path) -> Any:
        self.make(path)
        return self.content(path)

    def act(self) -> Any:
        self.make(self.place / "made")

    def check(self, failed: bool, answer: Any) -> None:
        path = self.place / "made"
        assert failed or path.exists()
        assert not path.exists() or self.content(path) == self.expected
        assert not [entry.name for entry in self.place.iterdir() if "partial" in entry.name]
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


class Search(Folder):
    """A folder is opened, its search index is built, and it is asked."""

    def make(self, path: Path) -> Any:
        return ModelFolder.open(self.place / "rooms").search({"text": "red oak"}, n=3)

    def content(self, path: Path) -> Any:
        return self.make(path)

    def act(self) -> Any:
        return self.make(self.place)

    def check(self, failed: bool, answer: Any) -> None:
        assert failed or answer.equals(self.expected)


class Report(Folder):
    """A report is written."""

    def make(self, path: Path) -> Any:
        write_report(summarise(ModelFolder.open(self.place / "rooms")), path)


class Site(Folder):
    """A site is written: all of its files, or none."""

    def make(self, path: Path) -> Any:
        write_site(ModelFolder.open(self.place / "rooms"), path)

    def content(self, path: Path) -> Any:
        return {file.relative_to(path): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


class Predictions(Folder):
    """Predictions are written to a table, some rows at a time."""

    def make(self, path: Path) -> Any:
        frames = (
            pd.DataFrame({"found": self.folder.model.predict(rows)}) for rows in (self.table[:20], self.table[20:])
        )
        write_frames(frames, path.with_suffix(".csv"))
        path.with_suffix(".csv").rename(path)


CASES: dict[str, type[Case]] = {
    "save a file": Save,
    "save a folder": SaveFolder,
    "load a file": Load,
    "load a folder": LoadFolder,
    "fit with checkpoints": Checkpoint,
    "fit a folder": FitFolder,
    "open a folder and search": Search,
    "write a report": Report,
    "write a site": Site,
    "write predictions": Predictions,
}


def sweep(case: Case, error: OSError | MemoryError, step: int = 1) -> Counter[str]:
    """Let every operation of a case fail, one after the other, and count what came of it."""
    counts: Counter[str] = Counter()
    kth, more = 1, True
    while more:
        case.prepare()
        answer, refusal = None, None
        with failing(kth, error) as fails:
            try:
                answer = case.act()
            except (OSError, ModelFileError) as refused:
                refusal = str(refused)
            except MemoryError as refused:
                # one of Python is without words, and those of the library are a sentence
                refusal = str(refused) or "There is no memory."
            more = fails.count >= kth
        case.check(refusal is not None, answer)
        if refusal is not None:
            assert "\n" not in refusal and refusal.endswith("."), f"operation {kth}: {refusal}"
        counts["refused" if refusal is not None else "went on" if more else "passed"] += 1
        kth += step
    return counts
