"""The command line: ``harmonium demo`` and ``harmonium show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.refusing import in_one_sentence

app = typer.Typer(
    help="One predictive, readable latent space from several kinds of data at once.",
    no_args_is_help=True,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from harmonium._version import __version__

        Console().print(f"harmonium {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """One predictive, readable latent space from several kinds of data at once."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the pictures and the model.")] = Path("harmonium-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the split and of the training.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A few epochs only, to see that it runs.")] = False,
) -> None:
    """Train a two-view model on scikit-learn's digits, compare it with baselines, and draw what it learned."""
    with in_one_sentence():
        from harmonium.cli.demo import run_demo

        run_demo(output, seed, quick, Console())


@app.command()
def show(
    model: Annotated[Path, typer.Argument(help="A saved model: a .safetensors file or a folder.")],
    features: Annotated[int, typer.Option(min=1, help="Features shown of each topic.")] = 5,
    topics: Annotated[int, typer.Option(min=1, help="Topics shown.")] = 20,
) -> None:
    """Print the views, families and sizes of a saved model, and the top features of each topic."""
    with in_one_sentence():
        from harmonium.cli.show import show_model

        show_model(model, features, topics, Console())


def main() -> None:
    """Run the ``harmonium`` command."""
    with in_one_sentence():
        try:
            app()
        finally:
            sys.stdout.flush()
