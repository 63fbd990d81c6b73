"""``harmonium transform``: latent coordinates of the rows of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

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
    with_map: Annotated[
        bool, typer.Option("--map", help="Add the places of the rows on the map of the items: map_x and map_y.")
    ] = False,
    embed: EmbedFiles = None,
    as_json: AsJson = False,
) -> None:
    """Write how much each row has of each topic: its latent coordinates.

    They stand beside the identifier of the row, or beside its number, from 0, if it has none.
    """
    with one_line_errors(), working_on(data, output):
        import pandas as pd

        from harmonium.cli.console import put_frames
        from harmonium.cli.data_blocks import answer_blocks, carried_by, new_blocks
        from harmonium.estimators.input import known_views
        from harmonium.loading import load
        from harmonium.model_folder import ModelFolder

        encoders = read_encoders(embed)
        folder = ModelFolder.open(model, encoders) if with_map else None
        fitted = load(model, encoders) if folder is None else folder.model

        def topics(rows: Any) -> pd.DataFrame:
            views = known_views(fitted, rows)
            table = pd.DataFrame(fitted.transform(views), columns=fitted.get_feature_names_out())
            if folder is not None:
                table[["map_x", "map_y"]] = folder.locate(views)
            return carried.beside(table)

        carried = carried_by(fitted, keep)
        put_frames(answer_blocks(topics, new_blocks(fitted, data, pictures, carried)), output, as_json)
