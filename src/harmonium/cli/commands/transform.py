"""``harmonium transform``: how much the rows of a file have of each topic."""

from __future__ import annotations

from harmonium.cli.options import AsJson, DataPath, ModelPath, OutputPath, PicturesPath
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath, data: DataPath, output: OutputPath = None, pictures: PicturesPath = None, as_json: AsJson = False
) -> None:
    """Write how much each row has of each topic: its latent coordinates."""
    with in_one_sentence():
        import pandas as pd

        from harmonium.cli.asking import new_rows
        from harmonium.cli.printing import put_frame
        from harmonium.persist import load_model

        fitted = load_model(model)
        latent = fitted.transform(fitted.as_views(new_rows(fitted, data, pictures)))
        columns = [f"topic_{number}" for number in range(latent.shape[1])]
        put_frame(pd.DataFrame(latent, columns=columns), output, as_json)
