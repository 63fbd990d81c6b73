"""``harmonium predict``: predictions for the rows of a file."""

from __future__ import annotations

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, DataPath, EmbedFiles, ModelPath, OutputPath, PicturesPath, read_encoders


def command(
    model: ModelPath,
    data: DataPath,
    output: OutputPath = None,
    pictures: PicturesPath = None,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Predict the target of new rows, with intervals or probabilities."""
    with one_line_errors():
        from harmonium.cli.console import put_frames
        from harmonium.cli.data_blocks import answer_blocks, new_blocks
        from harmonium.loading import load
        from harmonium.model_folder.predictions import prediction_table

        fitted = load(model, read_encoders(embed))
        blocks = new_blocks(fitted, data, pictures)
        put_frames(answer_blocks(lambda rows: prediction_table(fitted, rows), blocks), output, as_json)
