"""Errors and warnings that harmonium raises.

The message of each is one sentence that says what must hold, what was found and what to do about it. A call that is
refused changes nothing: an estimator keeps whatever it had learned before.
"""

from __future__ import annotations

__all__ = [
    "DivergenceError",
    "HarmoniumWarning",
    "IncompatiblePartsError",
    "InvalidViewError",
    "ModelFileError",
]


class InvalidViewError(ValueError):
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


class IncompatiblePartsError(ValueError):
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
