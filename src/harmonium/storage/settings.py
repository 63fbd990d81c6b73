"""The settings of an estimator as JSON and back."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from harmonium.core.notices import notice
from harmonium.core.validation import check_settings
from harmonium.exceptions import ModelFileError
from harmonium.storage.values import check_names, decode, encode, reason_of


def encode_settings(estimator: Any) -> dict[str, Any]:
    """Return the constructor parameters of an estimator as JSON; refuse those that could not be loaded.

    Parameters
    ----------
    estimator : estimator
        An estimator that declares its ``settings``.

    Returns
    -------
    dict
        Parameters by name. A ``random_state`` that is a generator is None, with a warning.
    """
    encoded = {
        key: encode(_seed(value) if key == "random_state" else value, key)
        for key, value in estimator.get_params(deep=False).items()
    }
    kind: Any = type(estimator)
    check_settings(kind(**{key: decode(value, key) for key, value in encoded.items()}), kind.settings)
    return encoded


def decode_settings(kind: Any, encoded: dict[str, Any]) -> Any:
    """Return an estimator that is not fitted; refuse, with a `ModelFileError`, settings that make no sense.

    Parameters
    ----------
    kind : type
        Class of the estimator.
    encoded : dict
        Parameters by name, as `encode_settings` returns them.

    Returns
    -------
    estimator
        An estimator of that class.
    """
    check_names(encoded, kind._get_param_names(), kind.__name__)
    estimator = kind(**{key: decode(value, key) for key, value in encoded.items()})
    try:
        check_settings(estimator, kind.settings)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(
            f"A model file must hold a model that can be put together; it cannot ({reason_of(error)}); save the model "
            "again."
        ) from error
    return estimator


def _seed(random_state: Any) -> Any:
    """Return whole numbers and None as they are; the state of a generator is not saved."""
    if random_state is None or isinstance(random_state, Integral):
        return random_state
    notice(
        f"Only a random_state that is a whole number or None is saved; got {type(random_state).__name__}, which is "
        "saved as None; set it with set_params after loading."
    )
    return None
