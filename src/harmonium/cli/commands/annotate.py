"""``harmonium annotate``: the classes, labels, tags or words that go best with the rows of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, DataPath, EmbedFiles, ModelPath, OutputPath, PicturesPath, read_encoders
from harmonium.cli.progress import working_on


def command(
    model: ModelPath,
    data: DataPath,
    view: Annotated[
        str | None, typer.Option(help="View to annotate with. Default: the target's classes, or tags.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Annotations for each row.")] = 5,
    output: OutputPath = None,
    pictures: PicturesPath = None,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Find the classes, labels, tags or words that go best with each row."""
    with one_line_errors(), working_on(data, output):
        from harmonium.cli.console import put_frames
        from harmonium.cli.data_blocks import answer_blocks, new_blocks
        from harmonium.loading import load
        from harmonium.model_folder.predictions import annotation_table

        fitted = load(model, read_encoders(embed))
        blocks = new_blocks(fitted, data, pictures)
        put_frames(answer_blocks(lambda rows: annotation_table(fitted, rows, view, top), blocks), output, as_json)
