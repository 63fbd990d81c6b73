"""The command line: from a table to a model folder, and questions to it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.commands import COMMANDS
from harmonium.cli.errors import one_line_errors, stand_in_for_closed_output

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for name in COMMANDS:
    app.command(name)(import_module(f"harmonium.cli.commands.{name}").command)


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
    """Learn from a table of texts, tags, numbers and pictures: predict, read its topics, search it, map it.

    Begin with "harmonium demo", or with "harmonium fit TABLE.csv --target COLUMN".
    """


def main() -> None:
    """Run the ``harmonium`` command."""
    stand_in_for_closed_output()
    with one_line_errors():
        try:
            app()
        finally:
            sys.stdout.flush()
