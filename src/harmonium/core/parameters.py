"""Parameter arrays of a model, by name, and what each of them is.

A name is ``<owner>.<kind>``. The owner is a view, the hidden layer or the head; the kind is ``weights``, ``bias``, or
the name of an extra parameter of a family or layer, as in ``hidden.log_odds``. `record` is the only place where a name
is taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

Parameters = dict[str, np.ndarray]
HIDDEN = "hidden"
HEAD = "head"
HIDDEN_BIAS = "hidden.bias"
HEAD_WEIGHTS = "head.weights"
HEAD_BIAS = "head.bias"
# parameters that belong to no view go by these names
RESERVED = (HIDDEN, HEAD)
_WEIGHTS, _BIAS = "weights", "bias"


def weights_of(view: str) -> str:
    """Return the name of a view's weights, whose shape is (features, units)."""
    return f"{view}.{_WEIGHTS}"


def bias_of(view: str) -> str:
    """Return the name of a view's bias, whose shape is (features,)."""
    return f"{view}.{_BIAS}"


def extra_of(view: str, name: str) -> str:
    """Return the name of an extra parameter of a view's family or of the hidden layer, such as a log-variance."""
    return f"{view}.{name}"


@dataclass(frozen=True)
class Record:
    """What a parameter array is.

    Attributes
    ----------
    owner : str
        Name of the view, "hidden" or "head".
    kind : str
        "weights", "bias", or the name of an extra parameter.
    """

    owner: str
    kind: str

    @property
    def is_weights(self) -> bool:
        """Whether the array couples the owner with the hidden units; weight decay applies to such arrays alone."""
        return self.kind == _WEIGHTS

    @property
    def unit_axis(self) -> int | None:
        """Axis that runs over hidden units; None if none does, or if it is not in the order of the units."""
        if self.is_weights:
            return 0 if self.owner == HEAD else 1
        return 0 if self.owner == HIDDEN and self.kind == _BIAS else None


@cache
def record(name: str) -> Record:
    """Return what the array of this name is.

    Examples
    --------
    >>> record("words.weights")
    Record(owner='words', kind='weights')
    >>> record("head.weights").unit_axis, record("words.bias").unit_axis
    (0, None)
    """
    owner, kind = name.rsplit(".", 1)
    return Record(owner, kind)


def couplings(parameters: Mapping[str, np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield weights, of shape (units, outputs), and bias of everything that is coupled with hidden units.

    That is all views and the head. The arrays share their memory with the parameters, so changes in place change the
    model.
    """
    for name, value in parameters.items():
        found = record(name)
        if found.is_weights:
            yield (value if found.unit_axis == 0 else value.T), parameters[bias_of(found.owner)]


def copy_parameters(parameters: Mapping[str, np.ndarray]) -> Parameters:
    """Return an independent copy."""
    return {name: value.copy() for name, value in parameters.items()}


def units_of(parameters: Mapping[str, np.ndarray], kept: np.ndarray) -> Parameters:
    """Return the parameters without some units, by a mask of those that are kept.

    Examples
    --------
    >>> two = {"x.weights": np.array([[1.0, 2.0]]), "x.bias": np.zeros(1), "hidden.bias": np.array([3.0, 4.0])}
    >>> {name: value.tolist() for name, value in units_of(two, np.array([False, True])).items()}
    {'x.weights': [[2.0]], 'x.bias': [0.0], 'hidden.bias': [4.0]}
    """
    result: Parameters = {}
    for name, value in parameters.items():
        axis = record(name).unit_axis
        result[name] = value if axis is None else np.ascontiguousarray(np.compress(kept, value, axis=axis))
    return result


def first_not_finite(parameters: Mapping[str, np.ndarray]) -> str | None:
    """Return the name of the first array with a value that is not finite, or None."""
    for name, value in parameters.items():
        # the sum of squares is finite only if all values are, and so far from overflow that their products are finite
        if not np.isfinite(np.vdot(value, value)):
            return name
    return None


def flatten(parameters: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return all parameters as one float64 vector."""
    return np.concatenate([value.ravel() for value in parameters.values()]).astype(np.float64)


def unflatten(vector: np.ndarray, like: Mapping[str, np.ndarray]) -> Parameters:
    """Return the arrays that `flatten` made a vector of, with the shapes and types of ``like``.

    Examples
    --------
    >>> like = {"a": np.zeros((2, 1)), "b": np.zeros(1)}
    >>> unflatten(flatten({"a": np.ones((2, 1)), "b": np.array([3.0])}), like)["b"].tolist()
    [3.0]
    """
    result: Parameters = {}
    start = 0
    for name, value in like.items():
        result[name] = vector[start : start + value.size].reshape(value.shape).astype(value.dtype)
        start += value.size
    return result
