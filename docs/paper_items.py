"""The table "paper → here", item by item: made from `docs/papers/items.toml`.

    python docs/paper_items.py

It stands in `docs/papers/items.md` between two comments, which `tests/pages/test_paper_items.py` compares.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIST = HERE / "papers" / "items.toml"
PAGE = HERE / "papers" / "items.md"
TABLE = re.compile(r"(?<=<!-- items:begin -->\n).*?(?=<!-- items:end -->)", re.DOTALL)
TITLES = {
    "multiview": "Large-margin predictive latent subspaces",
    "infinite": "Harmoniums with infinite latent features",
    "bayesian": "Bayesian exponential family harmoniums",
    "rap": "The rate adapting Poisson model",
    "weak": "Latent variable uncertainty for loss-based learning",
}


def items() -> list[dict[str, Any]]:
    """Return the items of all papers."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))["item"]


def tables() -> str:
    """Return a heading and a table for each paper."""
    parts = []
    for paper, title in TITLES.items():
        rows = [_row(item) for item in items() if item["paper"] == paper]
        head = ["| in the paper | item | here | held by |", "|---|---|---|---|"]
        parts.append("\n".join([f"\n## [{title}]({paper}.md)\n", *head, *rows]))
    return "\n".join(parts) + "\n\n"


def _row(item: dict[str, Any]) -> str:
    held = [f"`{test}`" for test in item.get("tests", ())]
    held += [f"[{name}](../results/stored/{name}.md)" for name in item.get("results", ())]
    return f"| {item['place']} | {item['item']} | {item['here']} | {', '.join(held) or '–'} |"


def page() -> str:
    """Return the page with its tables as the list has them."""
    return TABLE.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
