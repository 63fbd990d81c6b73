"""``harmonium search``: items of a model folder, by words or by some columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.errors import OptionError, one_line_errors
from harmonium.cli.options import AsJson, EmbedFiles, ModelPath, read_encoders


def command(
    model: ModelPath,
    words: Annotated[str | None, typer.Argument(help="Words to search for.", show_default=False)] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", "-w", help="COLUMN=VALUE to search for, beside words or alone.")
    ] = None,
    like: Annotated[int | None, typer.Option(min=0, help="Number of an item, to find others like it.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of items.")] = 10,
    columns: Annotated[str | None, typer.Option(help="Columns to show, separated by commas.")] = None,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Find the items that go best with some words, with values of columns, or with another item."""
    with one_line_errors():
        from harmonium.cli.console import put_items
        from harmonium.cli.item_search import score_in_words, search_items
        from harmonium.model_folder import ModelFolder

        if words is not None and not model.exists() and Path(words).is_dir():
            raise OptionError(f"The model must come before the words; got {str(model)!r} and then {words}; swap them.")
        folder = ModelFolder.open(model, read_encoders(embed))
        items = search_items(folder, words, where or [], like, n, columns)
        texts = folder.text_columns if columns is None and "passage" in items else []
        put_items(items, as_json, passage_of=texts, note=score_in_words(folder, words, like))
