"""Fields of requests: addresses and JSON bodies as checked values, or one sentence of refusal."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harmonium.core.validation import few_of
from harmonium.explore.errors import BadRequest

# What one request may ask for: items to compute on, and rows to sum up.
MOST_ITEMS = 1000
MOST_ROWS = 200_000
# longest address after the question mark; longer questions go into a body
MOST_QUERY_BYTES = 48_000
# corners of a polygon that a pointer has drawn, made simpler
_MOST_CORNERS = 200
#: largest number that a column may have
LARGEST_NUMBER = 1e15
#: prefix of parameters that are values of columns
COLUMN = "column."


@dataclass(frozen=True)
class Field:
    """A value that a request may hold: how it is read, and how OpenAPI describes it.

    Attributes
    ----------
    read : function of object to object
        Returns the value, or raises a `BadRequest`.
    schema : dict
        Its JSON schema.
    default : object, default=None
        What is taken if it is not there.
    is_needed : bool, default=False
        Whether it must be there.
    description : str, default=""
        What it means.
    """

    read: Callable[[Any], Any]
    schema: dict[str, Any]
    default: Any = None
    is_needed: bool = False
    description: str = ""
    examples: Sequence[Any] = field(default_factory=tuple)


def whole(name: str, low: int, high: int, default: int | None = None, description: str = "") -> Field:
    """Return a field of whole numbers between two ends."""
    return _whole(name, low, high, 422, default, False, description)


def number_of(name: str, n: int, description: str = "") -> Field:
    """Return a field that is part of an address: the number of one of some things; others are not found."""
    return _whole(name, 0, n - 1, 404, None, True, description)


def _whole(
    name: str, low: int, high: int, status: int, default: int | None, is_needed: bool, description: str
) -> Field:

    def read(value: Any) -> int:
        if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() and len(value) < 20:
            value = int(value)
        if isinstance(value, float) and value.is_integer():  # to JSON 6.0 is a whole number
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise BadRequest(f"{name} must be a whole number from {low} to {high}; got {shown(value)}.", status)
        return value

    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Field(read, schema, default, is_needed, description)


def text(name: str, most: int, is_needed: bool = False, description: str = "", examples: Sequence[str] = ()) -> Field:
    """Return a field of texts up to some length."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most:
            raise BadRequest(f"{name} must be a text of at most {most:,} letters; got {shown(value)}.")
        return clean(value)

    return Field(read, {"type": "string", "maxLength": most}, None, is_needed, description, examples)


def one_of(name: str, choices: Sequence[str], is_needed: bool = False, description: str = "") -> Field:
    """Return a field of some texts."""

    def read(value: Any) -> str:
        if value not in choices:
            raise BadRequest(f"{name} must be one of {few_of(choices)}; got {shown(value)}.")
        return str(value)

    return Field(read, {"type": "string", "enum": list(choices)}, None, is_needed, description)


def rows(n_items: int) -> Field:
    """Return a field of numbers of items."""

    def read(value: Any) -> list[int]:
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_ROWS:
            raise BadRequest(f"rows must be a list of 1 to {MOST_ROWS:,} numbers of items; got {shown(value)}.")
        numbers = [int(row) if isinstance(row, float) and row.is_integer() else row for row in value]
        if not all(type(row) is int and 0 <= row < n_items for row in numbers):
            raise BadRequest(f"rows must be whole numbers from 0 to {n_items - 1}; got others.")
        return numbers

    entry = {"type": "integer", "minimum": 0, "maximum": n_items - 1}
    schema = {"type": "array", "items": entry, "minItems": 1, "maxItems": MOST_ROWS}
    return Field(read, schema, is_needed=True, description="Numbers of items.")


def polygon(name: str) -> Field:
    """Return a field of the corners of a polygon on the map, written x,y with blanks between."""

    def read(value: Any) -> list[tuple[int, int]] | None:
        if isinstance(value, str) and not value.strip():
            return None
        corners = [corner.split(",") for corner in value.split()[: _MOST_CORNERS + 1]] if isinstance(value, str) else []
        sound = all(len(c) == 2 and all(re.fullmatch(r"-?\d{1,7}", part, re.ASCII) for part in c) for c in corners)
        if not 3 <= len(corners) <= _MOST_CORNERS or not sound:
            raise BadRequest(
                f"{name} must be 3 to {_MOST_CORNERS} corners such as '0,0 65535,0 0,65535'; got {shown(value)}."
            )
        return [(int(x), int(y)) for x, y in corners]

    schema = {"type": "string", "maxLength": 17 * _MOST_CORNERS}
    description = "Corners of a polygon on the map, of places from 0 to 65535, that items must lie in."
    return Field(read, schema, None, False, description, ["0,0 65535,0 65535,65535 0,65535"])


def item_schema(columns: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an item: values of some columns."""
    value = {
        "description": (
            "A text, a number, a truth value, a list of texts, or null if it is not known. A picture is a text that "
            "begins with data:image/png;base64, or the like."
        ),
        "anyOf": [
            {"type": ["string", "boolean", "null"]},
            {"type": "number", "minimum": -1e15, "maximum": 1e15},
            {"type": "array", "items": {"type": "string"}, "maxItems": 1000},
        ],
    }
    return {
        "type": "object",
        "properties": dict.fromkeys(columns, value),
        "additionalProperties": False,
        "minProperties": 1,
    }


def item(value: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Return an item whose columns are known and whose values can be read."""
    if not isinstance(value, dict) or not value:
        raise BadRequest(f"An item must be an object with values of columns; got {shown(value)}.")
    strange = [name for name in value if name not in columns]
    if strange:
        raise BadRequest(f"An item may have the columns {few_of(columns)}; got {shown(strange[0])}.")
    return {name: _cell(name, content) for name, content in value.items()}


def items(columns: Sequence[str]) -> Field:
    """Return a field of items."""

    def read(value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_ITEMS:
            raise BadRequest(f"items must be a list of 1 to {MOST_ITEMS:,} objects; got {shown(value)}.")
        return [item(entry, columns) for entry in value]

    schema = {"type": "array", "items": {"$ref": "#/components/schemas/Item"}, "minItems": 1, "maxItems": MOST_ITEMS}
    return Field(read, schema, is_needed=True, description="Items, by values of columns; others are missing.")


def query(columns: Sequence[str], most: int) -> Field:
    """Return a field of what is searched for: words, or values of columns."""

    def read(value: Any) -> Any:
        if isinstance(value, dict):
            return item(value, columns)
        if not isinstance(value, str) or len(value) > most:
            raise BadRequest(f"query must be a text of at most {most:,} letters, or an item; got {shown(value)}.")
        return clean(value)

    schema = {"anyOf": [{"type": "string", "maxLength": most}, {"$ref": "#/components/schemas/Item"}]}
    return Field(read, schema, is_needed=True, description="Words, or values of some columns.")


def _cell(name: str, value: Any) -> Any:
    """Return a value of a column as the model reads it."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST_NUMBER:
        return value
    if isinstance(value, list) and len(value) <= 1000 and all(isinstance(entry, str) for entry in value):
        return [clean(entry) for entry in value]
    raise BadRequest(
        f"Column {shown(name)} must have a text, a number up to 1e15, a truth value, a list of up to 1,000 texts, or "
        f"null; got {shown(value)}."
    )


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


def read_fields(given: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the values of all fields; refuse unknown and missing ones."""
    strange = [name for name in given if name not in fields]
    if strange:
        raise BadRequest(f"A request may have {', '.join(fields) or 'no parameters'}; got {shown(strange[0])}.")
    lacking = [name for name, entry in fields.items() if entry.is_needed and name not in given]
    if lacking:
        raise BadRequest(f"A request must have {lacking[0]}; it is missing.")
    return {name: entry.read(given[name]) if name in given else entry.default for name, entry in fields.items()}


def parse_body(body: bytes) -> dict[str, Any]:
    """Return the object that a body holds."""
    try:
        content = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # numbers of thousands of digits are no numbers either
        raise BadRequest("The body must be JSON; it cannot be read.", 400) from None
    if not isinstance(content, dict):
        raise BadRequest(f"The body must be a JSON object; got {shown(content)}.", 422)
    return content


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def clean(value: str) -> str:
    """Return a text without halves of characters, which JSON may hold and nothing can write."""
    return value.encode("utf-8", "replace").decode("utf-8")


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value):,}"
    written = clean(repr(value)) if isinstance(value, str) else repr(value)
    return written if len(written) <= 60 else written[:59] + "…"
