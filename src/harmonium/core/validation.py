"""Settings, and what they may be; each refusal is one sentence: what must hold, what was found, what to do.

Parts and estimators declare their settings in a dict, ``settings``, from name to `Setting`; `check_settings` is the one
path on which all of them are checked, before anything is computed. Functions check single arguments by the same means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

# whole numbers count things in memory, and a sentence should stay one that is read: letters of a value in a message
_LARGEST_WHOLE = np.iinfo(np.int64).max
_LONGEST, _LONGEST_NAME = 100, 40


class Setting:
    """What a setting may be."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse a value that the setting may not have.

        Parameters
        ----------
        owner : str
            Class or function that the setting belongs to.
        name : str
            Name of the setting.
        value : object
            Its value.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Anything(Setting):
    """A setting that can only be judged together with the data."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse nothing."""


@dataclass(frozen=True)
class Whole(Setting):
    """A whole number of at least ``lower``, or one of the values ``also``."""

    lower: int = 1
    remedy: str = "correct it"
    also: tuple[Any, ...] = ()

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no such number."""
        if _is_one_of(value, self.also):
            return
        kind: type[Exception] | None = None
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
            kind = TypeError
        elif not self.lower <= int(value) <= _LARGEST_WHOLE:
            kind = ValueError
        if kind is not None:
            raise kind(f"{owner} needs a whole number {name} >= {self.lower}; got {shown(value)}; {self.remedy}.")


@dataclass(frozen=True)
class Number(Setting):
    """A finite number above ``lower`` (or equal to it, if ``inclusive``), or one of the values ``also``.

    It stays below ``below``, or is at most ``at_most``, where these are given.
    """

    lower: float = 0.0
    inclusive: bool = False
    below: float = np.inf
    at_most: float = np.inf
    remedy: str = "correct it"
    also: tuple[Any, ...] = ()

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no such number."""
        if _is_one_of(value, self.also):
            return
        kind: type[Exception] | None = None
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            kind = TypeError
        elif not self._has(value):
            kind = ValueError
        if kind is not None:
            raise kind(f"{owner} needs a number {name} {self._range()}; got {shown(value)}; {self.remedy}.")

    def _has(self, value: Any) -> bool:
        try:
            value = float(value)
        except OverflowError:  # a whole number that no float can hold
            return False
        above = value > self.lower or (self.inclusive and value == self.lower)
        return bool(np.isfinite(value)) and above and value < self.below and value <= self.at_most

    def _range(self) -> str:
        limits = [f"{'>=' if self.inclusive else '>'} {self.lower:g}"]
        if np.isfinite(self.below):
            limits.append(f"< {self.below:g}")
        if np.isfinite(self.at_most):
            limits.append(f"<= {self.at_most:g}")
        return " and ".join(limits)


@dataclass(frozen=True)
class Choice(Setting):
    """One of several values."""

    options: tuple[Any, ...]
    remedy: str = "take one of them"

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse every other value."""
        if _is_one_of(value, self.options):
            return
        *others, last = map(repr, self.options)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{owner} needs {name} {listed}; got {shown(value)}; {self.remedy}.")


@dataclass(frozen=True)
class Flag(Setting):
    """True or False."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, numbers too."""
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{owner} needs {name} True or False; got {shown(value)}; take one of them.")


@dataclass(frozen=True)
class IsInstance(Setting):
    """An object of some class, of which ``example`` shows one; or None, if it is ``optional``."""

    kind: type
    example: str
    optional: bool = True

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, the class itself too."""
        if self.optional and value is None:
            return
        if isinstance(value, type) and issubclass(value, self.kind):
            raise TypeError(f"{owner} needs {name} to be an instance; got the class {value.__name__}; add parentheses.")
        if not isinstance(value, self.kind):
            needed = f"{self.kind_in_words()}{' or None' if self.optional else ''}"
            raise TypeError(
                f"{owner} needs {name} to be {needed}; got {shown(value)}; pass for example {self.example}."
            )

    def kind_in_words(self) -> str:
        """Return the name of the class with its article."""
        return f"{'an' if self.kind.__name__[0] in 'AEIO' else 'a'} {self.kind.__name__}"


@dataclass(frozen=True)
class Threads(Setting):
    """A number of threads, counted from all of them if it is negative, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no such number."""
        is_whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
        if value is not None and (not is_whole or not 0 < abs(value) <= _LARGEST_WHOLE):
            kind = ValueError if is_whole else TypeError
            raise kind(f"{owner} needs {name} 1 or more, -1 for all, or None; got {shown(value)}; leave it at None.")


@dataclass(frozen=True)
class RandomState(Setting):
    """A seed as scikit-learn knows them."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what makes no stream of random numbers."""
        try:
            check_random_state(value)
        except ValueError:
            raise ValueError(
                f"{owner} needs {name} None, a whole number or a RandomState; got {shown(value)}; pass a seed such "
                "as 0."
            ) from None


def misspelt(name: Any, known: Iterable[Any]) -> str:
    """Return a name that is not known for a message, with the known one that it is most like.

    Parameters
    ----------
    name : object
        What was given.
    known : iterable of object
        Names that there are.

    Returns
    -------
    str
        The name, and what may have been meant.

    Examples
    --------
    >>> misspelt("ratng", ["price", "rating"]), misspelt("colour", ["price"])
    ("'ratng' (did you mean 'rating'?)", "'colour'")
    """
    by_letters = {str(one).casefold(): one for one in known}
    near = get_close_matches(str(name).casefold(), by_letters, n=1)
    return shown(name) + (f" (did you mean {by_letters[near[0]]!r}?)" if near else "")


def shown(value: Any) -> str:
    """Return a value in one line for a message, cut to a reasonable length.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str
        Its representation.

    Examples
    --------
    >>> shown("slow"), shown(np.eye(2))
    ("'slow'", 'array([[1., 0.], [0., 1.]])')
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def few_of(names: Iterable[Any]) -> str:
    """Return names in one line for a message, as many as are read, each cut to a reasonable length.

    Parameters
    ----------
    names : iterable of object
        Of columns, views or classes.

    Returns
    -------
    str
        The first of them, and how many more there are.

    Examples
    --------
    >>> few_of(["price", "rating", 3]), few_of([]), few_of(f"column {number}" for number in range(5000))[-24:]
    ("'price', 'rating', 3", 'none', "'column 7' and 4992 more")
    """
    return few(map(named, names))


def few(entries: Iterable[str]) -> str:
    """Return texts in one line for a message, as many as are read.

    Parameters
    ----------
    entries : iterable of str
        Any number of texts.

    Returns
    -------
    str
        The first of them, and how many more there are.

    Examples
    --------
    >>> few(f"x{number} (empty)" for number in range(200))
    'x0 (empty), x1 (empty), x2 (empty), x3 (empty), x4 (empty), x5 (empty), x6 (empty), x7 (empty) and 192 more'
    """
    waiting = list(entries)
    if not waiting:
        return "none"
    n_letters = np.cumsum([len(entry) + 2 for entry in waiting])
    n_shown = max(1, int(np.searchsorted(n_letters, _LONGEST, side="right")))
    more = len(waiting) - n_shown
    return ", ".join(waiting[:n_shown]) + (f" and {more} more" if more else "")


def named(name: Any) -> str:
    """Return the name of a column, a view or a class for a message, cut to a reasonable length.

    Parameters
    ----------
    name : object
        A text in quotation marks, or anything else as it is printed.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> named("price"), named(np.int64(3)), len(named("n" * 1000))
    ("'price'", '3', 43)
    """
    text = str(name)
    text = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
    return repr(text) if isinstance(name, str) else " ".join(text.split())


def check_fitted(estimator: Any) -> None:
    """Refuse an estimator that was not fitted.

    Parameters
    ----------
    estimator : estimator
        The estimator.

    Examples
    --------
    >>> from harmonium import Harmonium
    >>> Harmonium().components_
    Traceback (most recent call last):
    ...
    sklearn.exceptions.NotFittedError: Harmonium must be fitted before it knows anything; this one was not; call fit ...
    """
    check_is_fitted(
        estimator, msg="%(name)s must be fitted before it knows anything; this one was not; call fit with data first."
    )


def check_settings(owner: Any, settings: Mapping[str, Setting]) -> None:
    """Refuse settings of an object that make no sense, in the order in which they are declared.

    Parameters
    ----------
    owner : object
        The object; its attributes are its settings.
    settings : mapping of str to Setting
        What they may be.

    Examples
    --------
    >>> from harmonium import Stochastic
    >>> Stochastic(schedule="slow").check()
    Traceback (most recent call last):
    ...
    ValueError: Stochastic needs schedule 'constant', 'linear' or 'inverse'; got 'slow'; 'linear' is usual.
    """
    for name, setting in settings.items():
        setting.check(type(owner).__name__, name, getattr(owner, name))


def check_whole(owner: str, name: str, value: Any, lower: int = 1, remedy: str = "correct it") -> None:
    """Refuse an argument that is not a whole number of at least ``lower``.

    Parameters
    ----------
    owner : str
        Class or function that the argument belongs to.
    name : str
        Name of the argument.
    value : object
        Its value.
    lower : int, default=1
        Smallest value allowed.
    remedy : str, default="correct it"
        Last words of the message: what to do.

    Examples
    --------
    >>> check_whole("LBFGS", "max_iter", 0)
    Traceback (most recent call last):
    ...
    ValueError: LBFGS needs a whole number max_iter >= 1; got 0; correct it.
    """
    Whole(lower, remedy).check(owner, name, value)


def check_real(
    owner: str,
    name: str,
    value: Any,
    lower: float = 0.0,
    inclusive: bool = False,
    below: float = np.inf,
    remedy: str = "correct it",
) -> None:
    """Refuse an argument that is not a finite number above ``lower``.

    Parameters
    ----------
    owner : str
        Class or function that the argument belongs to.
    name : str
        Name of the argument.
    value : object
        Its value.
    lower : float, default=0.0
        Number that the value must exceed.
    inclusive : bool, default=False
        Whether the value may also be equal to ``lower``.
    below : float, default=inf
        Number that the value must stay below.
    remedy : str, default="correct it"
        Last words of the message: what to do.

    Examples
    --------
    >>> check_real("Stochastic", "learning_rate", "fast", remedy="0.002 is usual")
    Traceback (most recent call last):
    ...
    TypeError: Stochastic needs a number learning_rate > 0; got 'fast'; 0.002 is usual.
    """
    Number(lower, inclusive, below, remedy=remedy).check(owner, name, value)


def _is_one_of(value: Any, options: tuple[Any, ...]) -> bool:
    """Whether a value is one of a few texts (or None, True, …); arrays and other objects are none of them."""
    return any(value is option or (isinstance(value, str) and value == option) for option in options)
