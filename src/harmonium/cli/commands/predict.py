"""``harmonium predict``: what a model predicts for the rows of a file."""

from __future__ import annotations

from harmonium.cli.options import AsJson, DataPath, ModelPath, OutputPath, PicturesPath
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath, data: DataPath, output: OutputPath = None, pictures: PicturesPath = None, as_json: AsJson = False
) -> None:
    """Predict the target of new rows, with intervals or probabilities."""
    with in_one_sentence():
        from harmonium.cli.asking import new_rows
        from harmonium.cli.printing import put_frame
        from harmonium.collection.answers import predictions
        from harmonium.persist import load_model

        fitted = load_model(model)
        put_frame(predictions(fitted, new_rows(fitted, data, pictures)), output, as_json)
