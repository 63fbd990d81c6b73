"""Pictures of the displays that a block of an example makes, which pyplot does not know."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from harmonium.report import Display

SHOWN: list[Display] = []  # kept, so that no later display has the identity of an earlier one


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of new displays among the variables of an example, and return the markup that shows them."""
    paths = []
    for value in block_vars["example_globals"].values():
        if isinstance(value, Display) and not any(value is shown for shown in SHOWN):
            SHOWN.append(value)
            paths.append(next(block_vars["image_path_iterator"]))
            value.figure_.savefig(paths[-1], dpi=100, bbox_inches="tight")
    return str(figure_rst(paths, gallery_conf["src_dir"]))


def _get_sg_image_scraper() -> Any:
    return scrape
