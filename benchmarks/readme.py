"""The tables of the READMEs and of the site, made from what the results and the benchmarks say.

``readme_table.toml`` holds the rows of the table of results: text with names in braces, and for each name the place in
a stored result that its number comes from. The site shows all rows, and some of them on other pages; the main README
those that say ``readme = true``, and the scorecard those that name an area of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks import registry, results
from benchmarks.best import Number, clearly_best
from benchmarks.rendering import markdown, table

FOLDER = Path(__file__).parent
ROWS = FOLDER / "readme_table.toml"
README = FOLDER.parent / "README.md"
OWN_README = FOLDER / "README.md"
SITE = FOLDER.parent / "docs"
COLUMNS = ("what", "harmonium", "rivals")
SCORECARD = SITE / "results" / "scorecard.md"
AREAS = (
    "what the papers define",
    "reading",
    "predicting",
    "speed and memory",
    "scale",
    "reliability",
)
KEYS = {
    "benchmark",
    "table",
    "row",
    "column",
    "field",
    "take",
    "minus",
    "times",
    "format",
    "setting",
    "quoted",
    "source",
}
TAKE: dict[str, Callable[[list[Decimal]], list[Decimal]]] = {
    "all": lambda values: values,
    "smallest": lambda values: [min(values)],
    "largest": lambda values: [max(values)],
    "sum": lambda values: [sum(values, Decimal(0))],
    "mean": lambda values: [sum(values, Decimal(0)) / len(values)],
    "range": lambda values: [min(values), max(values)],
}


EXTREMES: dict[str, Callable[..., Number]] = {"smallest": min, "largest": max}


class UnknownPlace(LookupError):
    """A number of the README names a place that no result has."""


def pages() -> dict[Path, str]:
    """Return what every generated page should say."""
    found = {results.FOLDER / f"{name}.md": markdown(results.read(name)) for name in results.names()}
    found[OWN_README] = between(OWN_README.read_text(), "benchmarks", benchmarks_table())
    found[SCORECARD] = between(SCORECARD.read_text(), "results", scorecard())
    for path, rows in tables_of_results().items():
        found[path] = between(path.read_text(), "results", results_table(rows))
    return found


def tables_of_results() -> dict[Path, list[dict[str, Any]]]:
    """Return the pages that have a table of results, and the rows of each."""
    rows = all_rows()
    found = {SITE / "results" / "index.md": rows, README: [row for row in rows if row.get("readme")]}
    for page in dict.fromkeys(row["page"] for row in rows if "page" in row):
        found[SITE / f"{page}.md"] = [row for row in rows if row.get("page") == page]
    return found


def all_rows() -> list[dict[str, Any]]:
    """Return the rows of ``readme_table.toml``."""
    return tomllib.loads(ROWS.read_text())["row"]


def scorecard() -> str:
    """Return the rows of each area, with the commands that measure them, as Markdown."""
    rows, blocks = all_rows(), []
    if unknown := {row["area"] for row in rows if "area" in row} - set(AREAS):
        raise UnknownPlace(f"The scorecard has no area {', '.join(sorted(unknown))}, only {', '.join(AREAS)}.")
    for area in AREAS:
        own = [row for row in rows if row.get("area") == area]
        cells = [[*(_filled(row, column) for column in COLUMNS), _commands(row)] for row in own]
        blocks += [f"## {area.capitalize()}", table([*COLUMNS, "python -m benchmarks run"], cells)]
    return "\n\n".join(blocks)


def _commands(row: Mapping[str, Any]) -> str:
    """Return the names of the benchmarks that the numbers of a row come from."""
    common = row.get("from", {})
    places = [_merged(common, place) for place in row.get("numbers", {}).values()] or [common]
    return ", ".join(dict.fromkeys(f"`{place['benchmark']}`" for place in places if "benchmark" in place))


def between(page: str, marker: str, text: str) -> str:
    """Return a page with new text between ``<!-- marker:begin -->`` and ``<!-- marker:end -->``."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"A page must have {begin} and {end} once each; put them where the table belongs.")
    return page[: page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end) :]


def benchmarks_table() -> str:
    """Return what there is to run, as a Markdown table."""
    rows = []
    for name in registry.names():
        benchmark, _ = registry.load(name)
        rows.append([f"`{name}`", benchmark.claim, benchmark.takes, ", ".join(benchmark.data)])
    return table(["name", "claim", "takes", "data"], rows)


def results_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows of ``readme_table.toml`` as a Markdown table."""
    return table(COLUMNS, ([_filled(row, column) for column in COLUMNS] for row in rows))


def _filled(row: Mapping[str, Any], column: str) -> str:
    if "**" in row[column]:
        raise UnknownPlace(f"The row {row['what']!r} of {ROWS.name} has bold by hand; name what competes instead.")
    bold = _bold(row)

    def number(match: re.Match[str]) -> str:
        text = _number(_place(row, match[1]))
        return f"**{text}**" if match[1] in bold else text

    return re.sub(r"\{(\w+)\}", number, row[column])


def _bold(row: Mapping[str, Any]) -> set[str]:
    """Return the names of the numbers of a row that are clearly the best of those that they compete with."""
    found = set()
    for smaller, groups in ((False, row.get("larger", ())), (True, row.get("smaller", ()))):
        for names in groups:
            places = {name: _place(row, name) for name in names.split()}
            best = clearly_best({name: _compared(place) for name, place in places.items()}, smaller)
            shown = [_number(place) for place in places.values()]
            if best and shown.count(_number(places[best])) == 1:  # seeds may agree to more digits than are shown
                found.add(best)
    return found


def _place(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return where a number of a row comes from."""
    if name not in row.get("numbers", {}):
        raise UnknownPlace(f"The row {row['what']!r} of {ROWS.name} names no place for {{{name}}}.")
    return _merged(row.get("from", {}), row["numbers"][name])


def _compared(place: Mapping[str, Any]) -> Number:
    """Return the number in one cell (of several, the smallest or largest), with its spread and what it sums up."""
    found = [_number_of(place, *one) for one in _cells(place)]
    if len(found) == 1 or place.get("take") in EXTREMES:
        return EXTREMES[place.get("take", "largest")](found, key=lambda number: number.mean)
    raise UnknownPlace(f"{dict(place)} of {ROWS.name} stands for {len(found)} numbers, of which none can be bold.")


def _number_of(place: Mapping[str, Any], record: Mapping[str, Any], column: str, cell: Any) -> Number:
    """Return the number in a cell."""
    (value,) = _cell_values(cell, place)
    each = _each(place["benchmark"]).get((place["table"], results.row_name(record), column), ())
    return Number(float(value), cell.get("spread") if isinstance(cell, dict) else None, tuple(each))


def _merged(common: Mapping[str, Any], own: Any) -> dict[str, Any]:
    """Return a place with what all places of a row have in common; a string is short for a row of the table."""
    place = own if isinstance(own, dict) else {"row": own}
    both = {**common, **place}
    if isinstance(common.get("row"), dict) and isinstance(place.get("row"), dict):
        both["row"] = {**common["row"], **place["row"]}
    return both


def _number(place: Mapping[str, Any]) -> str:
    """Return the number at a place, formatted; ``readme_table.toml`` explains the keys."""
    if unknown := set(place) - KEYS:
        raise UnknownPlace(
            f"A number of {ROWS.name} has no {', '.join(sorted(unknown))}; its keys are explained there."
        )
    if "quoted" in place:
        if not place.get("source"):
            raise UnknownPlace(f"The quoted number {place['quoted']!r} of {ROWS.name} needs a source.")
        return str(place["quoted"])
    values = _settings(place) if "setting" in place else _values(place)
    if "minus" in place:
        (other,) = _values(_merged(place, place["minus"]))
        values = [value - other for value in values]
    values = [value * Decimal(str(place.get("times", 1))) for value in values]
    if "take" not in place and len(values) != 1:
        raise UnknownPlace(f"{dict(place)} of {ROWS.name} stands for {len(values)} numbers; say which to take.")
    take = place.get("take", "all")
    if take not in TAKE:
        raise UnknownPlace(f"A number of {ROWS.name} can take {', '.join(TAKE)} of several numbers, got {take!r}.")
    kept = TAKE[take](values)
    # numbers in results are rounded already: a last digit of 5 is rounded up, as one would by hand
    with localcontext(rounding=ROUND_HALF_UP):
        texts = [format(value, place.get("format", "f")).replace("-", "−") for value in kept]
    return "–".join(dict.fromkeys(texts)) if take == "range" else ", ".join(texts)


def _settings(place: Mapping[str, Any]) -> list[Decimal]:
    settings = _result(place["benchmark"])["settings"]
    if place["setting"] not in settings:
        raise UnknownPlace(f"{place['benchmark']} has no setting {place['setting']!r}, only {', '.join(settings)}.")
    return [Decimal(str(value)) for value in _listed(settings[place["setting"]])]


def _values(place: Mapping[str, Any]) -> list[Decimal]:
    """Return the numbers in the cells of some rows and columns of a table."""
    found = [value for _, _, cell in _cells(place) for value in _cell_values(cell, place)]
    if not found or not all(isinstance(value, int | float) for value in found):
        raise UnknownPlace(f"{dict(place)} of {ROWS.name} stands for {found}; name a row and column with numbers.")
    return [Decimal(str(value)) for value in found]


def _cells(place: Mapping[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Return some cells of a table, each with its row and the name of its column."""
    for key in ("benchmark", "table", "column"):
        if key not in place:
            raise UnknownPlace(f"{dict(place)} of {ROWS.name} names no {key}.")
    tables = results.tables(_result(place["benchmark"]))
    if place["table"] not in tables:
        raise UnknownPlace(f"{place['benchmark']} has no table {place['table']!r}, only {', '.join(tables)}.")
    part = tables[place["table"]]
    first = next(iter(part["columns"]))
    wanted = [one if isinstance(one, dict) else {first: one} for one in _listed(place.get("row", {}))]
    rows = [row for one in wanted for row in part["rows"] if all(row.get(key) == one[key] for key in one)]
    columns = _listed(place["column"])
    if missing := [column for column in columns if column not in part["columns"]]:
        raise UnknownPlace(f"Table {place['table']!r} of {place['benchmark']} has no column {missing[0]!r}.")
    return [(row, column, row[column]) for row in rows for column in columns]


def _cell_values(cell: Any, place: Mapping[str, Any]) -> list[Any]:
    """Return the numbers of a cell; of a record one field."""
    return _listed(cell.get(place.get("field", "mean")) if isinstance(cell, dict) else cell)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@lru_cache
def _each(name: str) -> dict[tuple[str, str, str], list[float]]:
    return results.read_values(_result(name))


@lru_cache
def _result(name: str) -> dict[str, Any]:
    return results.read(name)
