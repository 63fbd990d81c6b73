"""scikit-learn's checks, none of which is skipped without a reason that stands here."""

from __future__ import annotations

from typing import Any
from unittest import SkipTest

#: checks that do not apply, and why
NOT_APPLICABLE = {
    "check_array_api_input": "kernels compute with NumPy arrays alone; the tag array_api_support says so",
}


def run_check(check: Any, estimator: Any) -> None:
    """Run a check; one that skips itself is an error unless it is known not to apply."""
    name = getattr(check, "func", check).__name__
    try:
        check(estimator)
    except SkipTest as reason:
        assert name in NOT_APPLICABLE, f"{name} was skipped: {reason}"
