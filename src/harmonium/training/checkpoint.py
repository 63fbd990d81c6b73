"""Checkpoints: everything that the rest of a fit depends on, in one sealed file.

A fit consists of levels: the fit itself, which has the parameters and the random stream, or the growth of units before
it; within it the epochs of a run, or the chains of a posterior and what starts them. Each level describes itself by one
state, a dataclass; a checkpoint writes those of all levels at once, and gives them back to a fit that finds the file. A
fingerprint says whether it is the same fit.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from harmonium.core.notices import notice
from harmonium.core.validation import Setting, shown
from harmonium.exceptions import IncompatiblePartsError, ModelFileError
from harmonium.kernels.sparse.matrix import component_arrays
from harmonium.objectives.problem import Problem
from harmonium.storage import decode, encode, in_a_sentence, read_sealed, write_sealed
from harmonium.views.data import Data

# Seconds between two checkpoints: a convention, without influence on results.
_SECONDS = 30.0
# Version of what is written: to be raised whenever a state has other fields, or they mean something else.
_FORMAT = 7
_State = TypeVar("_State")


class CheckpointPath(Setting):
    """A setting that is a file in a folder that exists, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what cannot be written to."""
        if value is None:
            return
        if not isinstance(value, str | os.PathLike):
            raise TypeError(f"{owner} needs a path as {name}; got {shown(value)}; None switches it off.")
        with in_a_sentence(value):
            if not Path(value).absolute().parent.is_dir():
                raise ValueError(f"A checkpoint must lie in a folder that exists; got {value}; make the folder.")
            if Path(value).is_dir():
                raise ValueError(f"A checkpoint must be a file; got {value}, which is a folder; name a file in it.")


class Checkpoint:
    """Where a fit keeps its state, if anywhere, and what an earlier one has left there.

    Parameters
    ----------
    path : str or path, optional
        The file; None keeps nothing.
    run : mapping of str to str
        Which fit it is: what must be the same for a fit to be resumed, by what users call it.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, run: Mapping[str, str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._run = dict(run or {})
        self._levels: dict[str, Any] = {}
        self._found: dict[str, Any] = {}
        self._arrays: dict[str, np.ndarray] = {}
        if self._path is not None and os.path.lexists(self._path):
            self._read(self._path)
        self._written = time.monotonic()

    @contextmanager
    def level(self, name: str, begin: Callable[[], _State]) -> Iterator[_State]:
        """Give the state of a level: the one in the file, or else the one that ``begin`` returns.

        While the context is open the state is written with every checkpoint, as it stands then.
        """
        if self._path is None:
            yield begin()
            return
        state = self._taken(name) if name in self._found else begin()
        self._levels[name] = state
        try:
            yield state
        finally:
            del self._levels[name]

    def write(self) -> None:
        """Write the states of all levels if it is time to; the old file is replaced in one step."""
        if self._path is None or time.monotonic() - self._written < _SECONDS:
            return
        arrays: dict[str, np.ndarray] = {}
        try:
            levels = {name: encode(state, name, arrays) for name, state in self._levels.items()}
        except TypeError as error:
            raise IncompatiblePartsError(
                "A checkpoint is of parts that remember numbers and arrays; one remembers something else "
                f"({str(error).rstrip('.')}); let it keep a dict of arrays from batch to batch, or pass no checkpoint."
            ) from error
        write_sealed(self._path, {"checkpoint": _FORMAT, "run": self._run, "levels": levels}, arrays)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the fit is complete, and nothing is left to resume."""
        if self._path is None:
            return
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            notice(
                f"A checkpoint is removed when the fit is complete; {self._path} cannot be ({error.strerror}); delete "
                "it before another fit keeps its own there."
            )

    def _read(self, path: Path) -> None:
        """Read what an earlier fit has left; refuse other files, and those of other fits."""
        try:
            facts, self._arrays = read_sealed(path)
        except (ModelFileError, FileNotFoundError) as error:
            raise ModelFileError(
                f"A checkpoint must be a file that an earlier fit has written, as it was written; {path} is not; pass "
                "another path, or delete the file to begin anew."
            ) from error
        if facts.get("checkpoint") != _FORMAT:
            raise ModelFileError(
                f"A checkpoint must be written by a fit of this version of harmonium; {path} is not; pass another "
                "path, or go on with the version that wrote it."
            )
        others = [name for name, value in self._run.items() if facts["run"].get(name) != value]
        if others:
            raise ValueError(
                f"A checkpoint can only be resumed with the same settings and data; {path} is of a fit with other "
                f"{' and '.join(others)}; set them back, pass another path, or delete the file."
            )
        self._found = facts["levels"]

    def _taken(self, name: str) -> Any:
        """Return the state of a level from the file, which is then used up."""
        state = decode(self._found.pop(name), name, self._arrays)
        if not self._found:
            self._arrays = {}  # states that go on to change should not be held twice
        return state


#: the checkpoint of fits that keep nothing
NOWHERE = Checkpoint()


# Rows by which data are recognised, besides their number and the means of all columns.
_KNOWN_ROWS = 500


def fingerprint(
    settings: Mapping[str, Any],
    problem: Problem,
    data: Data,
    rng: np.random.Generator | None,
    earlier: Sequence[np.ndarray] = (),
) -> dict[str, str]:
    """Return what must be the same for a fit to be resumed, as short texts, by what users call it.

    Parameters
    ----------
    settings : mapping of str to object
        Parts and numbers that say how to fit.
    problem : Problem
        The model, and the means of the data.
    data : Data
        Views and targets. They are known by their number, the means of all columns and some of the rows.
    rng : numpy.random.Generator, optional
        The random stream as the fit begins; None if each fit draws a seed of its own.
    earlier : sequence of ndarray
        Epochs and parameters of the training that the fit continues; empty for a new fit.
    """
    energy = problem.energy
    guide = problem.guide
    parts = {
        "hidden": energy.hidden,
        "units": energy.hidden.n_units_,
        "families": energy.families,
        "view weights": dict(problem.view_weights),
        **({} if guide is None else {"seeds": [guide.names, guide.features, guide.excluded]}),
    }
    arrays: list[np.ndarray | None] = [np.array([len(data)]), *problem.reference.values()]
    for view in data.spaced(_KNOWN_ROWS, energy.families).views.values():
        arrays += [*component_arrays(view.statistic), view.size, view.missing]
    if data.targets is not None:
        arrays += [data.targets.stored, data.targets.weight]
    return {
        "settings": _digest([_described({**settings, **parts, "head": problem.head}).encode()]),
        "data": _digest(arrays),
        "random_state": "" if rng is None else _digest([repr(encode(rng, "random_state")).encode()]),
        "earlier training": _digest(earlier),
    }


def _described(value: Any) -> str:
    """Return all settings of a part, and of the parts in it, as text; what belongs to a machine makes no difference."""
    if isinstance(value, BaseEstimator):
        elsewhere = getattr(value, "not_saved", ())
        settings = {name: held for name, held in value.get_params(deep=False).items() if name not in elsewhere}
        return f"{type(value).__name__}({_described(settings)})"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_described(held)}" for name, held in value.items())
    if isinstance(value, np.ndarray):
        return _digest([value])
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_described, value))}]"
    return repr(value)


def _digest(pieces: Iterable[np.ndarray | bytes | None]) -> str:
    """Return a digest of bytes and arrays, with their shapes and types."""
    digest = hashlib.sha256()
    for piece in pieces:
        if isinstance(piece, np.ndarray):
            digest.update(f"{piece.dtype}{piece.shape}".encode())
            digest.update(np.ascontiguousarray(piece).tobytes())
        else:
            digest.update(b"none" if piece is None else piece)
    return digest.hexdigest()
