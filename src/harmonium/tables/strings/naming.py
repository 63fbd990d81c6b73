"""Names of columns, and what they say about the role of a column."""

from __future__ import annotations

import re

_ID = re.compile(r"(?:^|[\W_])(?:id|uuid|guid)(?:$|[\W_])|^(?:key|index|row|unnamed)(?:$|\W)", re.IGNORECASE)
# at the end: a class_size is no class
_CODE = re.compile(
    r"(?:^|[\W_])(?:id|code|zip|zipcode|postcode|postal|type|category|class|group|cluster|label|sku)$", re.IGNORECASE
)

_TEXT = re.compile(
    r"(?:^|[\W_])(?:texts?|reviews?|comments?|descriptions?|messages?|documents?|abstracts?|feedback)$", re.IGNORECASE
)


def is_id_name(name: str) -> bool:
    """Tell whether a name is that of an identifier.

    Examples
    --------
    >>> [is_id_name(name) for name in ("customer_id", "userId", "Unnamed: 0", "width")]
    [True, True, True, False]
    """
    return _ID.search(_spaced(name)) is not None


def is_code_name(name: str) -> bool:
    """Tell whether a name is that of codes, which are categories even if they are whole numbers.

    Examples
    --------
    >>> [is_code_name(name) for name in ("zip_code", "storeType", "Store ID", "price")]
    [True, True, True, False]
    """
    return _CODE.search(_spaced(name)) is not None


def is_text_name(name: str) -> bool:
    """Tell whether a name is that of texts, which are read by their words even if they are short or repeat.

    Examples
    --------
    >>> [is_text_name(name) for name in ("text", "customer_review", "Description", "context", "title")]
    [True, True, True, False, False]
    """
    return _TEXT.search(_spaced(name)) is not None


def _spaced(name: str) -> str:
    """Return a name with capitals inside it set apart: user_Id for userId."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
