"""Parts: the small configurable objects (families, hidden layers, objectives, drivers) a model is put together from.

A part is a scikit-learn ``BaseEstimator`` without ``fit``: its constructor only stores, so that ``clone``, ``repr`` and
nested search (``hidden__n_units``) work. Parts register themselves by class name, which is what model files and the
parametrised test suites go by.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

_REGISTRY: dict[str, type[Part]] = {}


class Part(BaseEstimator):
    """Base of everything a harmonium is assembled from."""

    #: the role a part plays ("family", "hidden", ...): part of its registered name, as two roles may share a word
    role: str = ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # the class that names a role is its abstract base, not a part
        if cls.role and "role" not in cls.__dict__:
            _REGISTRY[f"{cls.role}:{cls.__name__}"] = cls

    @classmethod
    def registered_name(cls) -> str:
        """Name under which model files know the class."""
        return f"{cls.role}:{cls.__name__}"

    def bound(self, **fitted: Any) -> Any:
        """Copy of the part with fitted attributes set; the part itself, which belongs to the user, stays as it is."""
        copy = type(self)(**self.get_params(deep=False))
        for name, value in fitted.items():
            setattr(copy, name, value)
        return copy


def registered(role: str) -> dict[str, type[Part]]:
    """All concrete parts of one role, by class name.

    Examples
    --------
    >>> import harmonium
    >>> sorted(registered("hidden"))
    ['BernoulliUnits', 'BinomialUnits', 'GaussianUnits', 'IBP', 'SpikeSlab']
    """
    return {key.split(":")[1]: part for key, part in _REGISTRY.items() if key.startswith(f"{role}:")}


def part_by_name(name: str) -> type[Part]:
    """Class registered under ``role:Name``."""
    if name not in _REGISTRY:
        raise ValueError(f"A model file may only name parts of this version of harmonium; found {name!r}.")
    return _REGISTRY[name]
