"""``harmonium report``: one page about a model and its items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.console import echo, put_json
from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, ModelPath


def command(
    model: ModelPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write one HTML page that needs nothing else: scores, topics, map, curves, mistakes; or the same as JSON."""
    with one_line_errors():
        from harmonium.model_folder import ModelFolder
        from harmonium.report.page import write_report
        from harmonium.report.summary import summarise

        summary = summarise(ModelFolder.open(model))
        if as_json:
            put_json(summary)
        else:
            write_report(summary, output)
            echo(f"The report is in {output}.")
