"""Parts: the small objects with settings (families, hidden layers, objectives, drivers) that make up a model.

A part is a scikit-learn `BaseEstimator` without `fit`. Its constructor only stores its arguments, so that `clone`,
`repr` and nested search (`hidden__n_units`) work. Parts register themselves under their class names, by which model
files and the parametrised test suites find them, and users too: where a part is asked for, a text such as "gaussian"
stands for one with default settings. It is kept as it is, and `as_part` makes the part where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from inspect import signature
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import BaseEstimator, clone

from harmonium.core.validation import IsInstance, Setting, check_settings, misspelt, shown

_REGISTRY: dict[str, type[Part]] = {}


class WithParts(BaseEstimator):
    """Base of all that has parts as settings, and lets users set those of parts that were left at their defaults."""

    #: what each of its settings may be
    settings: ClassVar[Mapping[str, Setting]] = {}

    def _default_part(self, name: str) -> Part | None:
        """Return the part that stands in where a setting is None; None if that is only known in ``fit``."""
        return None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts, as in ``head__C=1.0``.

        A part that was left at its default, or is given by name, is made with the parameters that are set.

        Parameters
        ----------
        **params : object
            Parameters by name.

        Returns
        -------
        self : object
            The object itself.
        """
        # everything is tried on a copy, as a call that is refused changes nothing
        trial = copy(self)
        outer = {key: value for key, value in params.items() if key.partition("__")[0] not in self.settings}
        outer |= {key: value for key, value in params.items() if "__" not in key}
        super(WithParts, trial).set_params(**outer)
        for name, setting in self.settings.items():
            inner = {key: value for key, value in params.items() if key.startswith(f"{name}__")}
            if not inner:
                continue
            values = {key.removeprefix(f"{name}__"): value for key, value in inner.items()}
            given = getattr(trial, name)
            if isinstance(given, Part):
                clone(given).set_params(**values)
                continue
            part = trial._made(name, setting, next(iter(inner))).set_params(**values)
            setattr(trial, name, part)
            params = {key: value for key, value in params.items() if key not in inner} | {name: part}
        return super().set_params(**params)

    def _made(self, name: str, setting: Setting, wanted: str) -> Part:
        """Return a part by name or by default, of which the parameter ``wanted`` is to be set."""
        given = getattr(self, name)
        setting.check(type(self).__name__, name, given)
        part = None
        if isinstance(setting, IsPart):
            part = self._default_part(name) if given is None else as_part(setting.kind, given)
        if part is None:
            raise ValueError(
                f"{type(self).__name__} needs {name} to be a part before {wanted} can be set; got {shown(given)}; set "
                f"{name} first."
            )
        return part


class Part(WithParts):
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
    #: settings that belong to this machine, such as paths: files leave them out, and a loaded part has their defaults
    not_saved: ClassVar[tuple[str, ...]] = ()
    #: names of settings in files of earlier versions, each with its name of today
    formerly: ClassVar[Mapping[str, str]] = {}
    #: last word of the class names of a role, which users may leave out
    suffix: ClassVar[str] = ""
    #: other names that users know the part by
    also_called: ClassVar[tuple[str, ...]] = ()

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
        return _with_attributes(type(self)(**self.get_params(deep=False)), fitted)

    def updated(self, **fitted: Any) -> Self:
        """Return a copy of the part that keeps what it has learned, but for some of it.

        Parameters
        ----------
        **fitted : object
            Attributes to set on the copy.

        Returns
        -------
        Part
            A part of the same class and settings.
        """
        return _with_attributes(copy(self), fitted)


def _with_attributes(part: Any, fitted: Mapping[str, Any]) -> Any:
    for name, value in fitted.items():
        setattr(part, name, value)
    return part


class IsPart(IsInstance):
    """A setting that is a part of some role, whose own settings make sense, or the name of one."""

    kind: type[Part]

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no such part, and whatever the part itself refuses."""
        if isinstance(value, str) and named_parts(self.kind.role):
            self._check_name(owner, name, value)
            return
        super().check(owner, name, value)
        if value is not None:
            value.check()

    def _check_name(self, owner: str, name: str, value: str) -> None:
        if not isinstance(as_part(self.kind, value), self.kind):
            raise ValueError(
                f"{owner} needs {name} to be {listed_names(self.kind.role)}, or {self.kind_in_words()}; got "
                f"{misspelt(value, named_parts(self.kind.role))}; take one of them, or pass for example {self.example}."
            )


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
    ['BernoulliUnits', 'BinomialUnits', 'ComposedUnits', 'FactorUnits', 'GaussianUnits', 'IBP', 'SpikeSlab']
    """
    return {key.split(":")[1]: part for key, part in _REGISTRY.items() if key.startswith(f"{role}:")}


def named_parts(role: str) -> dict[str, type[Part]]:
    """Return the parts of one role that need no settings, by the names that users know them by.

    Parameters
    ----------
    role : str
        The role, such as ``"family"`` or ``"hidden"``.

    Returns
    -------
    dict of str to type
        Classes by name: words in small letters, without the last one if it is that of the role.

    Examples
    --------
    >>> import harmonium
    >>> sorted(named_parts("hidden"))
    ['bernoulli', 'binomial', 'composed', 'factor', 'gaussian', 'ibp', 'spike_slab']
    """
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix(part.suffix)).lower(): part
        for name, part in registered(role).items()
        if all(setting.default is not setting.empty for setting in signature(part).parameters.values())
    }


def listed_names(role: str) -> str:
    """Return the names of `named_parts` for a message, as in ``"'adam' or 'momentum'"``."""
    *others, last = (repr(name) for name in sorted(named_parts(role)))
    return f"{', '.join(others)} or {last}" if others else last


Kind = TypeVar("Kind", bound=Part)


def as_part(kind: type[Kind], value: Any) -> Kind | None:
    """Return the part that a name stands for, with default settings; everything else as it is.

    Parameters
    ----------
    kind : type
        The abstract base of the role.
    value : object
        A part, the name of one, or None. Neither case nor the characters between words count.

    Returns
    -------
    Part or None
        The part; what is neither, and refused by `IsPart`, is returned unchanged.

    Examples
    --------
    >>> from harmonium.hidden import HiddenLayer
    >>> as_part(HiddenLayer, "Spike-Slab"), as_part(HiddenLayer, "GaussianUnits")
    (SpikeSlab(), GaussianUnits())
    """
    if not isinstance(value, str):
        return value
    for name, part in named_parts(kind.role).items():
        if _letters(value) in map(_letters, (name, part.__name__, *part.also_called)):
            return part()
    return value  # type: ignore[return-value]  # refused by IsPart


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


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
