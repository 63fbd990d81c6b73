"""Fingerprint of a fit: what must be the same for its checkpoint to be resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from harmonium.kernels.sparse.matrix import component_arrays
from harmonium.objectives.problem import Problem
from harmonium.storage import encode
from harmonium.views.data import Data

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
    parts = {
        "hidden": energy.hidden,
        "units": energy.hidden.n_units_,
        "families": energy.families,
        "view weights": dict(problem.view_weights),
        **({} if problem.guide is None else {"seeds": [problem.guide.names, problem.guide.features]}),
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
