"""``harmonium info``: summary of a saved model or a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson


def command(
    model: Annotated[Path, typer.Argument(help="A model folder, or a saved model: a .safetensors file or a folder.")],
    features: Annotated[int, typer.Option(min=1, help="Features shown of each topic.")] = 5,
    topics: Annotated[int, typer.Option(min=1, help="Topics shown.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print the views, families, sizes and scores of a saved model, and the top features of each topic."""
    with one_line_errors():
        from harmonium.cli.model_info import print_summary_json, show_model

        if as_json:
            print_summary_json(model, features)
        else:
            show_model(model, features, topics, Console())
