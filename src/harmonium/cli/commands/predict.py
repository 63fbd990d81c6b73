"""``harmonium predict``: predictions for the rows of a file."""

from __future__ import annotations

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import (
    AsJson,
    DataPath,
    EmbedFiles,
    KeepColumns,
    ModelPath,
    OutputPath,
    PicturesPath,
    read_encoders,
)
from harmonium.cli.progress import working_on


def command(
    model: ModelPath,
    data: DataPath,
    output: OutputPath = None,
    keep: KeepColumns = None,
    pictures: PicturesPath = None,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Predict the target of new rows, with intervals or probabilities.

    Each prediction stands beside the identifier of its row, or beside its number, from 0, if it has none.
    """
    with one_line_errors(), working_on(data, output):
        from harmonium.cli.console import put_frames
        from harmonium.cli.data_blocks import answer_blocks, carried_by, new_blocks
        from harmonium.loading import load
        from harmonium.model_folder.predictions import prediction_table

        fitted = load(model, read_encoders(embed))
        carried = carried_by(fitted, keep)
        blocks = new_blocks(fitted, data, pictures, carried)
        predicted = answer_blocks(lambda rows: carried.beside(prediction_table(fitted, rows)), blocks)
        put_frames(predicted, output, as_json)
