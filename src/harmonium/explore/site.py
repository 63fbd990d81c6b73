"""A site of files about a model folder, which a browser opens from the disk: map, filters, items, topics, columns."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from harmonium.core.extras import require
from harmonium.explore.addresses import SITE, address
from harmonium.explore.handlers import Handlers
from harmonium.model_folder import ModelFolder
from harmonium.report.page.rendering import environment, style_sheet
from harmonium.storage import in_a_sentence

_HERE = Path(__file__).parent
# items of one file: a click on the map reads as many
_CHUNK = 500
# What browsers are told: scripts, styles and pictures of this folder alone; files of a disk are no "self" to them.
_POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:"
#: the modules of the page in an order in which each knows those that it uses; files of a disk cannot be modules
MODULES = (
    *("source", "palette", "elements", "points", "density", "values", "state", "facets", "map", "panel"),
    *("explorer", "page"),
)
# a statement that imports names, and one that declares a name that others import
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "[^"]+";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async function|function|class|const) (\w+))", re.MULTILINE)


def write_site(folder: ModelFolder, path: Path) -> int:
    """Write a site of files about a model folder, in one step: all of its files or none.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    path : Path
        Where to write: a folder that is not there yet, or is empty.

    Returns
    -------
    int
        Number of files.

    Raises
    ------
    FileExistsError
        If the folder holds anything: nothing is replaced.

    Examples
    --------
    >>> from harmonium import ModelFolder
    >>> write_site(ModelFolder.open("wines"), Path("site"))  # doctest: +SKIP
    41
    """
    require("jinja2", "A site")
    with in_a_sentence(path):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise FileExistsError(
                f"A site needs a folder that is not there yet, or is empty; got {path}; choose another."
            )
        files = _files(Handlers(folder))
        beside = Path(f"{path.absolute()}.{secrets.token_hex(6)}.partial")
        try:
            for name, content in files.items():
                file = beside / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
            os.replace(beside, path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return len(files)


def _files(handlers: Handlers) -> dict[str, str | bytes]:
    """Return the contents of all files by their addresses."""
    static = {"site.js": site_script(), "style.css": style_sheet()}
    static["explore.css"] = (_HERE / "static" / "explore.css").read_text(encoding="utf-8")
    return {
        **_pages(handlers),
        **_data(handlers),
        **{f"static/{name}": content for name, content in static.items()},
        **_pictures(handlers),
    }


def _pages(handlers: Handlers) -> dict[str, str]:
    templates = environment(_HERE / "templates", purpose="A site")
    templates.globals |= {"at": partial(address, SITE), "addresses": SITE, "chunk": _CHUNK, "policy": _POLICY}
    about = {**handlers.about, "colourings": _numbered(handlers)}

    def page(template: str, answer: Any, path: str = "") -> str:
        found = templates.get_template(template)
        return str(found.render(about=about, parameters={}, answer=answer, twin=None, path=path))

    at = partial(address, SITE)
    pages = {
        at("home"): page("index.html", about, "/"),
        at("topics"): page("topics.html", handlers.topics(), "/topics"),
        at("columns"): page("columns.html", handlers.column_list(), "/columns"),
    }
    numbers = [topic["topic"] for topic in handlers.topics()["topics"]]
    pages |= {at("topic", number): page("topic.html", handlers.topic(number)) for number in numbers}
    n_columns = len(handlers.folder.items.columns)
    return pages | {at("column", n): page("column.html", handlers.column(n)) for n in range(n_columns)}


def _numbered(handlers: Handlers) -> list[dict[str, Any]]:
    """Return the colourings with numbers, as names of columns cannot be names of files."""
    return [{**entry, "number": number} for number, entry in enumerate(handlers.values.offered)]


def _data(handlers: Handlers) -> dict[str, str]:
    at = partial(address, SITE)
    data: dict[str, Any] = {at("map"): handlers.map}
    data |= {at("values", entry["number"]): handlers.values.plain(entry["by"]) for entry in _numbered(handlers)}
    n_items = len(handlers.folder)
    for number, first in enumerate(range(0, n_items, _CHUNK)):
        data[at("items", number)] = handlers.items(range(first, min(first + _CHUNK, n_items)))
    return {name: data_script(name, content) for name, content in data.items()}


def _pictures(handlers: Handlers) -> dict[str, bytes]:
    pictures = ((row, handlers.cards.picture(row)) for row in range(len(handlers.folder)))
    return {address(SITE, "picture", row): picture for row, picture in pictures if picture is not None}


def data_script(name: str, content: Any) -> str:
    """Return a script that hands data to the page; texts in it are data, whatever they hold.

    Examples
    --------
    >>> print(data_script("data/map.js", ["</script>"]))
    harmoniumData("data/map.js", ["\\u003c/script\\u003e"]);
    <BLANKLINE>
    """
    written = json.dumps(content, allow_nan=False)  # ASCII alone
    for mark in "<>&":
        written = written.replace(mark, f"\\u{ord(mark):04x}")
    return f"harmoniumData({json.dumps(name)}, {written});\n"


def site_script() -> str:
    """Return the modules of the page as one script that needs no server."""
    modules = [(_HERE / "static" / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    return "".join(['"use strict";\nconst modules = {};\n', *map(_as_function, modules)])


def _as_function(module: str) -> str:
    """Return a module as a function that is called at once: it takes names from `modules`, and puts its own there."""
    names = ", ".join(name for _, name in _EXPORT.findall(module))
    body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules;", module))
    return f"(() => {{\n{body}Object.assign(modules, {{ {names} }});\n}})();\n"
