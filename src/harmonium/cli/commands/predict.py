"""``harmonium predict``: what a model predicts for the rows of a file."""

from __future__ import annotations

from harmonium.cli.options import AsJson, DataPath, ModelPath, OutputPath, PicturesPath
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath, data: DataPath, output: OutputPath = None, pictures: PicturesPath = None, as_json: AsJson = False
) -> None:
    """Predict the target of new rows, with intervals or probabilities."""
    with in_one_sentence():
        from harmonium.cli.asking import answered, new_blocks
        from harmonium.cli.printing import put_frames
        from harmonium.model_folder.predictions import prediction_table
        from harmonium.persist import load_model

        fitted = load_model(model)
        blocks = new_blocks(fitted, data, pictures)
        put_frames(answered(lambda rows: prediction_table(fitted, rows), blocks), output, as_json)
