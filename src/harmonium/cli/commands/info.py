"""``harmonium info``: what a saved model or a model folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harmonium.cli.options import AsJson
from harmonium.cli.refusing import in_one_sentence


def command(
    model: Annotated[Path, typer.Argument(help="A model folder, or a saved model: a .safetensors file or a folder.")],
    features: Annotated[int, typer.Option(min=1, help="Features shown of each topic.")] = 5,
    topics: Annotated[int, typer.Option(min=1, help="Topics shown.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print the views, families, sizes and scores of a saved model, and the top features of each topic."""
    with in_one_sentence():
        from harmonium.cli.inside import show_model, summary_json

        if as_json:
            summary_json(model, features)
        else:
            show_model(model, features, topics, Console())
