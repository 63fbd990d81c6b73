"""``harmonium topics``: the topics of a model folder."""

from __future__ import annotations

from typing import Annotated

import typer

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, ModelPath


def command(
    model: ModelPath,
    features: Annotated[int, typer.Option(min=1, help="Words, tags or columns shown of each topic.")] = 8,
    items: Annotated[int, typer.Option(min=1, help="Typical items shown of each topic.")] = 1,
    topics: Annotated[int, typer.Option("--topics", "-n", min=1, help="Topics shown, the most varied first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Print what each topic is about: its words, tags and columns, what it speaks for, and typical items."""
    with one_line_errors():
        from harmonium.cli.model_info import print_topics
        from harmonium.model_folder import ModelFolder

        print_topics(ModelFolder.open(model), features, items, topics, as_json)
