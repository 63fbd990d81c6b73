"""Parts: the small objects with settings (families, hidden layers, objectives, drivers) that make up a model.

A part is a scikit-learn `BaseEstimator` without `fit`. Its constructor only stores its arguments, so that `clone`,
`repr` and nested search (`hidden__n_units`) work. Parts register themselves under their class names, by which model
files and the parametrised test suites find them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from harmonium.validation import IsInstance, Setting, check_settings

_REGISTRY: dict[str, type[Part]] = {}


class Part(BaseEstimator):
    """Base of everything that a model is put together from.

    A subclass that sets ``role`` ("family", "hidden" and so on) is the abstract base of that role. Its subclasses are
    parts and are registered under the role and their class name.

    Examples
    --------
    >>> from harmonium import Poisson
    >>> Poisson().registered_name()
    'family:Poisson'
    """

    #: the role of a part ("family", "hidden", ...); part of the registered name, as two roles may share a word
    role: str = ""
    #: what each of its settings may be
    settings: ClassVar[Mapping[str, Setting]] = {}
    #: settings that belong to this machine, such as paths: files leave them out, and a loaded part has their defaults
    not_saved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # the class that names a role is its abstract base, not a part
        if cls.role and "role" not in cls.__dict__:
            _REGISTRY[f"{cls.role}:{cls.__name__}"] = cls

    @classmethod
    def registered_name(cls) -> str:
        """Return the name under which model files know the class.

        Returns
        -------
        str
            The role and the class name, as in ``"family:Poisson"``.
        """
        return f"{cls.role}:{cls.__name__}"

    def check(self) -> None:
        """Refuse settings that make no sense, before anything is computed."""
        check_settings(self, self.settings)

    def with_fitted(self, **fitted: Any) -> Any:
        """Return a copy of the part with fitted attributes.

        The part itself belongs to the user and stays as it is.

        Parameters
        ----------
        **fitted : object
            Attributes to set on the copy.

        Returns
        -------
        Part
            A part of the same class and settings.
        """
        copy = type(self)(**self.get_params(deep=False))
        for name, value in fitted.items():
            setattr(copy, name, value)
        return copy


class IsPart(IsInstance):
    """A setting that is a part of some role, whose own settings make sense."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no such part, and whatever the part itself refuses."""
        super().check(owner, name, value)
        if value is not None:
            value.check()


def registered(role: str) -> dict[str, type[Part]]:
    """Return the parts of one role by class name.

    Parameters
    ----------
    role : str
        The role, such as ``"family"`` or ``"hidden"``.

    Returns
    -------
    dict of str to type
        Concrete classes only; the abstract base of a role is not among them.

    Examples
    --------
    >>> import harmonium
    >>> sorted(registered("hidden"))
    ['BernoulliUnits', 'BinomialUnits', 'GaussianUnits', 'IBP', 'SpikeSlab']
    """
    return {key.split(":")[1]: part for key, part in _REGISTRY.items() if key.startswith(f"{role}:")}


def part_by_name(name: str) -> type[Part]:
    """Return the class that is registered under a name.

    Parameters
    ----------
    name : str
        The role and the class name, as `Part.registered_name` returns them.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> import harmonium
    >>> part_by_name("family:Poisson").__name__
    'Poisson'
    """
    if name not in _REGISTRY:
        raise ValueError(f"A model file may only name parts of this version of harmonium; found {name!r}.")
    return _REGISTRY[name]
