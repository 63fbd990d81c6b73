"""The template of the report, filled with a summary."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from harmonium.core.extras import require
from harmonium.storage.replacing import in_a_sentence, replace_file

_TEMPLATES = Path(__file__).parent / "templates"
# steps of the scale of colours in the style sheet
_STEPS = 9
# least strength of a feature that is marked in texts: a convention
_TELLING = 0.1
# names of features that are colours
_COLOUR = re.compile("#[0-9a-f]{6}")


def environment(*folders: Path, purpose: str = "A report") -> Any:
    """Return what fills templates; whatever is put into them is escaped.

    Parameters
    ----------
    *folders : Path
        Folders of templates, searched before those of reports.
    purpose : str, default="A report"
        What needs the templates, for the sentence that says that jinja2 is missing.

    Returns
    -------
    jinja2.Environment
        With the filters that reports and the explorer share.
    """
    jinja2 = require("jinja2", purpose)
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= {
        "score": _score,
        "signed": lambda value: "–" if value is None else f"{value:+z.3f}",
        "short": _short,
        "percent": _percent,
        "listed": lambda value: ", ".join(map(str, value)) if isinstance(value, list) else _short(value),
        "colour_class": _colour_class,
        "named": _named,
        "marked": _marked,
        "telling": _telling,
    }
    made.globals["ticks"] = ticks
    return made


def style_sheet() -> str:
    """Return the style sheet that reports and the explorer share."""
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


def render_report(summary: Mapping[str, Any]) -> str:
    """Return the page of a report.

    Parameters
    ----------
    summary : mapping
        What `harmonium.report.summarise` returns, or the same read from JSON.

    Returns
    -------
    str
        An HTML file that holds everything it needs: no scripts, nothing loaded from elsewhere.

    Examples
    --------
    >>> import json
    >>> with open("summary.json") as file:  # doctest: +SKIP
    ...     page = render_report(json.load(file))
    """
    template = environment().get_template("report.html")
    shares = [topic["share"] for topic in summary["topics"]]
    measures = (summary["scores"] or {}).get("measures", [])
    top_share = max(shares, default=1.0) or 1.0
    return str(template.render(**summary, measures=measures, style=style_sheet(), top_share=top_share))


def write_report(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page of a report, in one step.

    Parameters
    ----------
    summary : mapping
        What `harmonium.report.summarise` returns.
    path : str or path
        The HTML file; one that is there is replaced once the new one is written.

    Examples
    --------
    >>> from harmonium import ModelFolder
    >>> from harmonium.report import summarise
    >>> write_report(summarise(ModelFolder.open("wines")), "report.html")  # doctest: +SKIP
    """
    with in_a_sentence(path):
        replace_file(Path(path), [render_report(summary).encode("utf-8")])


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:z.3f}"  # no minus before 0.000


def _short(value: Any) -> str:
    """Return a number with as many digits as one reads; anything else as it is."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def _named(features: Any) -> Any:
    """Return the name of a feature, or several with commas between, as HTML; colours are shown as they are."""
    from markupsafe import Markup  # late, as it comes with jinja2

    names = [features] if isinstance(features, str) else list(features)
    parts = [_swatch(name) if _COLOUR.fullmatch(name) else _breakable(name) for name in names]
    # colours stand side by side
    commas = [", " if not (_COLOUR.fullmatch(a) and _COLOUR.fullmatch(b)) else " " for a, b in pairwise(names)]
    return Markup("").join(piece for pair in zip(parts, [*commas, ""], strict=True) for piece in pair)


def _breakable(text: str) -> Any:
    """Return a text as HTML whose long names may break where their parts meet: date_weekday=Thursday, dry|red."""
    from markupsafe import Markup, escape

    return Markup(re.sub("(?<=[=_|])", "<wbr/>", str(escape(text))))


def _telling(topic: Mapping[str, Any]) -> list[str]:
    """Return the features of a topic that are worth marking in texts: those that are not weak beside the strongest."""
    return [
        name
        for view, names in topic["features"].items()
        for name, strength in zip(names, topic["strengths"].get(view, []), strict=False)
        if strength >= _TELLING
    ]


def _marked(text: str | None, words: Sequence[str]) -> Any:
    """Return a text as HTML in which some words are marked, whatever their case."""
    from markupsafe import Markup

    text = text or ""
    if not words:
        return _breakable(text)
    pattern = re.compile(rf"\b({'|'.join(re.escape(word) for word in words)})\b", re.IGNORECASE)
    # every second part is a word
    parts = (
        Markup("<mark>{}</mark>").format(part) if n % 2 else _breakable(part)
        for n, part in enumerate(pattern.split(text))
    )
    return Markup("").join(parts)


def ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Return about so many round numbers between two ends, as an axis shows them.

    Examples
    --------
    >>> ticks(0.3, 4.1)
    [1.0, 2.0, 3.0, 4.0]
    >>> ticks(0.55, 0.66)
    [0.56, 0.58, 0.6, 0.62, 0.64, 0.66]
    """
    if not high > low:
        return [low]
    rough = (high - low) / n
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - rough))
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _swatch(colour: str) -> Any:
    """Return a small square of a colour; attributes and no styles, which pages do not allow inline."""
    from markupsafe import Markup

    return Markup(
        '<svg class="swatch" viewBox="0 0 10 10" role="img" aria-label="{0}"><title>{0}</title>'
        '<rect width="10" height="10" rx="2" fill="{0}"/></svg>'
    ).format(colour)


def _colour_class(value: float | None, colour: Mapping[str, Any] | None) -> str:
    """Return the class of the style sheet that colours a point."""
    if value is None or colour is None:
        return "c-none"
    return f"c{value}" if colour["kind"] == "class" else f"s{min(int(value * _STEPS), _STEPS - 1)}"
