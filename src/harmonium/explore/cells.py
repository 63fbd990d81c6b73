"""Values of columns in requests, as the model takes them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from harmonium.explore.reading import LARGEST_NUMBER, BadRequest, shown


def as_cells(pictures: Sequence[str], item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as the model takes it; in the columns of pictures there are addresses that hold them."""
    return {name: _picture(name, value) if name in pictures else value for name, value in item.items()}


def _picture(name: str, value: Any) -> bytes | None:
    """Return the bytes of a picture; never those of a file that somebody names."""
    if value is None:
        return None
    head, _, content = value.partition(",") if isinstance(value, str) else ("", "", "")
    try:
        if not (head.startswith("data:image/") and head.endswith(";base64")):
            raise ValueError(head)
        return base64.b64decode(content, validate=True)
    except ValueError:
        raise BadRequest(f"{name} must be a picture in the form data:image/png;base64,…; got {shown(value)}.") from None


def as_number(name: str, value: str) -> float:
    """Return a number that somebody wrote."""
    try:
        number = float(value)
    except ValueError:
        raise BadRequest(f"{name} must be a number; got {shown(value)}.") from None
    if not abs(number) <= LARGEST_NUMBER:
        raise BadRequest(f"{name} must be a number up to 1e15; got {shown(value)}.")
    return number
