"""Stored results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

HISTORY = "How the protocol came about"


def markdown(result: Mapping[str, Any]) -> str:
    """Return a stored result as the text of ``results/NAME.md``."""
    blocks = [f"# {result['title']}", f"`python -m benchmarks run {result['benchmark']}`", _made(result)]
    blocks += result["remarks"]
    blocks += [_part(part) for part in result["parts"]]
    if result["values"]:
        blocks.append(f"The values of single repetitions are lines of [{result['values']}]({result['values']}).")
    if result["history"]:
        blocks += [f"## {HISTORY}", *result["history"]]
    return "\n\n".join(blocks) + "\n"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(header)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def shown(cell: Any, form: str | None = None) -> str:
    """Return a cell of a table as text."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, list):
        return ", ".join(shown(item, form) for item in cell)
    if isinstance(cell, dict):
        if set(cell) == {"mean", "spread"}:
            return f"{shown(cell['mean'], form)} ± {shown(cell['spread'], form)}"
        return str(form).format(**cell)
    return form.format(cell) if form else _number(cell)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if abs(value) < 0.01 or abs(value) >= 1000:
        return f"{value:.3g}"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _made(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB"
    seconds = result["seconds"]
    of = f" of commit {result['commit']}" * bool(result["commit"])
    took = f", {seconds / 60:.0f} min" if seconds and seconds >= 60 else ""
    seeds = f", {result['seeds']} seeds or splits" if result["seeds"] else ""
    peak = f", at most {result['peak_mb']:,.0f} MB" if result["peak_mb"] else ""
    return f"{result['date']}{of}{seeds}{took}{peak}; {where}; {versions}"


def _part(part: Mapping[str, Any]) -> str:
    if part["kind"] == "heading":
        return f"## {part['text']}"
    if part["kind"] == "figure":
        return f"![{part['caption']}]({part['file']})"
    if part["kind"] == "table":
        columns = part["columns"]
        return table(columns, ([shown(row[name], form) for name, form in columns.items()] for row in part["rows"]))
    return str(part["text"])
