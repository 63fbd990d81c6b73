"""``harmonium explore``: a local page about a model and its items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.console import echo
from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import EmbedFiles, ModelPath, read_encoders

# requests a second of one client: more than a person makes, and less than keeps a laptop from its work
_RATE = 100.0


def command(
    model: ModelPath,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8765,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Others than this machine need the token that is shown.")
    ] = "127.0.0.1",
    embed: EmbedFiles = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Write a site of files to this folder instead, which needs no server: open its index.html."),
    ] = None,
) -> None:
    """Serve a page with the map, table, topics, search and explanations of a model, until Ctrl-C."""
    with one_line_errors():
        if export is not None:
            from harmonium.explore.site import write_site
            from harmonium.model_folder import ModelFolder

            n_files = write_site(ModelFolder.open(model), export)
            echo(f"The site is in {export} ({n_files:,} files); open {export / 'index.html'} in a browser.")
            return
        from harmonium.explore.server import run, settings_for

        def ready(address: str) -> None:
            echo(f"Explore {model} at {address} (Ctrl-C ends it).")
            if browser:
                typer.launch(address)

        settings = settings_for(host, None, pages=True, rate=_RATE)
        run(model, settings, host, port, ready=ready, encoders=read_encoders(embed))
