"""Addresses of pages and data, on a server and in a site of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

#: addresses of a server, with ``{n}`` for the number or name of what they show
SERVER: Mapping[str, str] = {
    "home": "/",
    "map": "/map.json",
    "values": "/values.json?by={n}",
    "item": "/items/{n}",
    "card": "/cards/{n}.json",
    "topics": "/topics",
    "topic": "/topics/{n}",
    "columns": "/columns",
    "column": "/columns/{n}",
    "table": "/table",
    "picture": "/pictures/{n}.png",
    "selection": "/selection.json",
    "static": "/static/{n}",
}
#: addresses of a site of files, which a browser opens from the disk; it has no table, and no comparisons
SITE: Mapping[str, str] = {
    "home": "index.html",
    "map": "data/map.js",
    "values": "data/values_{n}.js",
    "item": "index.html#item={n}",
    "items": "data/items_{n}.js",
    "topics": "topics.html",
    "topic": "topic_{n}.html",
    "columns": "columns.html",
    "column": "column_{n}.html",
    "picture": "pictures/{n}.png",
    "static": "static/{n}",
}


def address(addresses: Mapping[str, str], name: str, n: Any = "") -> str:
    """Return the address of something.

    Parameters
    ----------
    addresses : mapping of str to str
        `SERVER` or `SITE`.
    name : str
        What it is.
    n : object, default=""
        Its number or name.

    Returns
    -------
    str
        The address.

    Examples
    --------
    >>> address(SERVER, "topic", 3), address(SITE, "topic", 3)
    ('/topics/3', 'topic_3.html')
    """
    return addresses[name].replace("{n}", quote(str(n), safe=""))
