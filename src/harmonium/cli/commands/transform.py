"""``harmonium transform``: how much the rows of a file have of each topic."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from harmonium.cli.options import AsJson, DataPath, ModelPath, OutputPath, PicturesPath
from harmonium.cli.refusing import in_one_sentence


def command(
    model: ModelPath,
    data: DataPath,
    output: OutputPath = None,
    pictures: PicturesPath = None,
    with_map: Annotated[
        bool, typer.Option("--map", help="Add the places of the rows on the map of the items: map_x and map_y.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write how much each row has of each topic: its latent coordinates."""
    with in_one_sentence():
        import pandas as pd

        from harmonium.cli.asking import answered, new_blocks
        from harmonium.cli.printing import put_frames
        from harmonium.model_folder import ModelFolder
        from harmonium.persist import load_model

        folder = ModelFolder.open(model) if with_map else None
        fitted = load_model(model) if folder is None else folder.model

        def topics(rows: Any) -> pd.DataFrame:
            views = fitted.as_views(rows)
            found = pd.DataFrame(fitted.transform(views), columns=fitted.get_feature_names_out())
            if folder is not None:
                found[["map_x", "map_y"]] = folder.locate(views)
            return found

        put_frames(answered(topics, new_blocks(fitted, data, pictures)), output, as_json)
