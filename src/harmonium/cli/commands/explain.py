"""``harmonium explain``: topics and features that moved a prediction, and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, EmbedFiles, ModelPath, PicturesPath, read_encoders


def command(
    model: ModelPath,
    data: Annotated[
        Path | None, typer.Argument(help="Data file with new rows. Default: the items of the folder.")
    ] = None,
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="Number of the row; the first is 0.")] = 0,
    output: Annotated[
        str | None, typer.Option("--of", help="Class, label or number to explain. Default: what is predicted.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Topics and features shown.")] = 10,
    pictures: PicturesPath = None,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Tell which topics, and which words or columns, moved the prediction of a row, and by how much."""
    with one_line_errors():
        from harmonium.cli.explanation import print_explanation

        print_explanation(model, data, row, output, n, pictures, as_json, read_encoders(embed))
