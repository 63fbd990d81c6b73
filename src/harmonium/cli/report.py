"""``harmonium report``: one page about a model and its items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.refusing import in_one_sentence


def report(
    model: Annotated[Path, typer.Argument(help="A model folder, as fit writes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON in place of writing a page.")
    ] = False,
) -> None:
    """Write one self-contained HTML page: data, held-out scores, topics, map, curves and mistakes."""
    with in_one_sentence():
        from harmonium.collection import ModelFolder
        from harmonium.report.page import write_report
        from harmonium.report.summary import summarise

        summary = summarise(ModelFolder.open(model))
        console = Console()
        if as_json:
            console.file.write(json.dumps(summary, allow_nan=False) + "\n")
            return
        write_report(summary, output)
        console.print(f"The report is in {output}.", markup=False, highlight=False, soft_wrap=True)
