"""Errors and warnings that harmonium raises.

The message of each is one sentence that says what must hold, what was found and what to do about it. A call that is
refused changes nothing: an estimator keeps whatever it had learned before.
"""

from __future__ import annotations

import re

__all__ = [
    "DivergenceError",
    "HarmoniumWarning",
    "IncompatiblePartsError",
    "InvalidViewError",
    "ModelFileError",
]


# a name in quotation marks, and anything else without a space, that is too long to be read in a sentence
_LONG_NAME = re.compile(r"'([^']{60})[^']{40,}'|(\S{60})\S{40,}")


def shortened(message: object) -> object:
    """Return a message whose names, of columns, views or classes, are cut to a length that is read.

    Examples
    --------
    >>> len(str(shortened(f"View {'words' * 1000!r} must hold numbers.")))
    87
    """
    if not isinstance(message, str) or len(message) <= 100:
        return message
    return _LONG_NAME.sub(lambda found: f"'{found[1]}…'" if found[1] else f"{found[2]}…", message)


class _ShortMessage(ValueError):
    """An error whose message names things of users, which may have names of any length."""

    def __str__(self) -> str:
        """Return the message with short names."""
        return str(shortened(super().__str__()))


class InvalidViewError(_ShortMessage):
    """Data of a view that its family cannot describe.

    Raised before anything is computed; the message names the first value that does not fit and where it stands.

    Examples
    --------
    >>> from harmonium import Bernoulli, Harmonium
    >>> Harmonium(views={"words": Bernoulli()}).fit({"words": [[0, 1], [7, 0]]})
    Traceback (most recent call last):
    ...
    harmonium.exceptions.InvalidViewError: View 'words' is Bernoulli and needs ... found 7 at row 1, column 0...
    """


class IncompatiblePartsError(_ShortMessage):
    """Parts of a model that do not go together.

    Most often these are a family and a hidden layer whose joint distribution cannot be normalised, whatever the
    parameters.

    Examples
    --------
    >>> from harmonium import Harmonium, Poisson
    >>> from harmonium.hidden import GaussianUnits
    >>> Harmonium(views={"words": Poisson()}, hidden=GaussianUnits()).fit({"words": [[0, 1], [7, 0]]})
    Traceback (most recent call last):
    ...
    harmonium.exceptions.IncompatiblePartsError: View 'words' is Poisson and cannot be normalised with GaussianUnits...
    """


class DivergenceError(ArithmeticError):
    """Training in which parameters or reconstructions grew without bound.

    The message names the view in which it happened and the epoch, and says what to change. The estimator is restored to
    what it was before the call: unfitted if it was unfitted, otherwise with its earlier result.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> from harmonium.hidden import GaussianUnits
    >>> model = Harmonium(2, hidden=GaussianUnits(), driver=Stochastic(learning_rate=1000.0), random_state=0)
    >>> model.fit({"words": np.tile(np.eye(4), (25, 1))})
    Traceback (most recent call last):
    ...
    harmonium.exceptions.DivergenceError: Training diverged in view 'words' at epoch 1: ...
    """


class ModelFileError(ValueError):
    """A model file that cannot be loaded.

    It is truncated, is not a model file at all, or was written by a version of harmonium that this one cannot read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import harmonium
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.safetensors")
    ...     _ = path.write_bytes(b"something else")
    ...     harmonium.load(path)
    Traceback (most recent call last):
    ...
    harmonium.exceptions.ModelFileError: ...
    """


class HarmoniumWarning(UserWarning):
    """A warning about a call that went on all the same.

    Examples
    --------
    >>> import warnings
    >>> from harmonium import HarmoniumWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", HarmoniumWarning)  # make errors of these warnings and of no others
    """
