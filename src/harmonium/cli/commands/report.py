"""``harmonium report``: one page about a model and its items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.options import AsJson, ModelPath
from harmonium.cli.printing import put_json, say
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write one HTML page that needs nothing else: scores, topics, map, curves, mistakes; or the same as JSON."""
    with in_one_sentence():
        from harmonium.model_folder import ModelFolder
        from harmonium.report.page import write_report
        from harmonium.report.summary import summarise

        summary = summarise(ModelFolder.open(model))
        if as_json:
            put_json(summary)
        else:
            write_report(summary, output)
            say(f"The report is in {output}.")
