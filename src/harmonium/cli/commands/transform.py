"""``harmonium transform``: how much the rows of a file have of each topic."""

from __future__ import annotations

from typing import Any

from harmonium.cli.options import AsJson, DataPath, ModelPath, OutputPath, PicturesPath
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath, data: DataPath, output: OutputPath = None, pictures: PicturesPath = None, as_json: AsJson = False
) -> None:
    """Write how much each row has of each topic: its latent coordinates."""
    with in_one_sentence():
        import pandas as pd

        from harmonium.cli.asking import answered, new_blocks
        from harmonium.cli.printing import put_frames
        from harmonium.persist import load_model

        fitted = load_model(model)

        def topics(rows: Any) -> pd.DataFrame:
            latent = fitted.transform(fitted.as_views(rows))
            return pd.DataFrame(latent, columns=fitted.get_feature_names_out())

        put_frames(answered(topics, new_blocks(fitted, data, pictures)), output, as_json)
