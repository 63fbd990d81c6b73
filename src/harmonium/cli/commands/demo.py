"""``harmonium demo``: from two views of handwritten digits to numbers and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.errors import one_line_errors


def command(
    output: Annotated[Path, typer.Option(help="Folder for the pictures and the model.")] = Path("harmonium-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the split and of the training.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few epochs and a small map, to see that it runs.")] = False,
) -> None:
    """Train a two-view model on scikit-learn's digits, compare it with baselines, and draw what it learned."""
    with one_line_errors():
        from harmonium.cli.demo import run_demo

        run_demo(output, seed, quick, Console())
