"""Errors and warnings: each message is one sentence that says what must hold, what was got, what to do."""

from __future__ import annotations


class InvalidViewError(ValueError):
    """The data of a view cannot be what its family says it is."""


class IncompatiblePartsError(ValueError):
    """A family and a hidden layer that cannot be normalised together."""


class DivergenceError(ArithmeticError):
    """Training left the region where numbers mean something; the estimator is left unfitted."""


class ModelFileError(ValueError):
    """A model file that is truncated, foreign, or of another version."""


class HarmoniumWarning(UserWarning):
    """Something the user should know, though the call went on."""
