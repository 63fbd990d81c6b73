"""``harmonium demo``: a table of reviews with gaps, from raw columns to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.errors import one_line_errors
from harmonium.cli.progress import Steps


def command(
    output: Annotated[Path, typer.Option(help="Folder for everything that is written.")] = Path("harmonium-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the reviews and of the training.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few reviews and epochs, to see that it runs.")] = False,
) -> None:
    """Learn from made-up reviews with gaps: columns, scores, topics, a filled-in view, a search, a report, a map."""
    with one_line_errors():
        steps = Steps(silent=False)
        steps("Making up reviews of places to stay")
        with steps.shown():
            from harmonium.cli.demo import run_demo

            run_demo(output, seed, quick, Console(), steps)
