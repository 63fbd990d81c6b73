"""``harmonium serve``: predictions, search and annotation as a small JSON service."""

from __future__ import annotations

from typing import Annotated

import typer

from harmonium.cli.console import echo
from harmonium.cli.errors import OptionError, one_line_errors
from harmonium.cli.options import EmbedFiles, ModelPath, read_encoders


def command(
    model: ModelPath,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Others than this machine need a token.")
    ] = "127.0.0.1",
    workers: Annotated[int, typer.Option(min=1, max=256, help="Number of processes, each with its own model.")] = 1,
    embed: EmbedFiles = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="HARMONIUM_TOKEN", help="Token that clients must send. Default: a new one if others can reach it."
        ),
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--no-token", help="Let everyone in, as behind a proxy that checks who asks.")
    ] = False,
    rate: Annotated[
        float,
        typer.Option(min=0, help="Requests a second of each client, up to six seconds' worth at once; 0: no limit."),
    ] = 0.0,
) -> None:
    """Serve the JSON endpoints of the explorer, with /healthz, /metrics and /openapi.json, until it is stopped."""
    with one_line_errors():
        if token is not None and open_to_all:
            raise OptionError("--no-token lets everyone in; got a token as well; leave one of them out.")
        from harmonium.explore.server import run, settings_for

        def ready(address: str) -> None:
            echo(f"Serving {model} at {address}")

        settings = settings_for(host, token, pages=False, rate=rate, open_to_all=open_to_all)
        run(model, settings, host, port, workers, ready, read_encoders(embed))
