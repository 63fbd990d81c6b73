"""``harmonium fit``: a table to a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import ROLE_OPTIONS, AsJson, Config, DataPath, read_encoders, read_roles

_AGAIN = "the same command goes on where it was"


def _role(help: str) -> typer.models.OptionInfo:
    return typer.Option(show_default=False, rich_help_panel="Roles of columns", help=help)


def command(
    data: DataPath,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model folder. Default: the name of the data, here.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict. Without one, topics are found.")] = None,
    task: Annotated[
        str | None, typer.Option(help="What the target is: number, class or labels. Default: inferred.")
    ] = None,
    text: Annotated[list[str] | None, _role("Columns of free text.")] = None,
    tags: Annotated[list[str] | None, _role("Columns of tags: lists, or separated by | ; or ,")] = None,
    number: Annotated[list[str] | None, _role("Columns of numbers.")] = None,
    category: Annotated[list[str] | None, _role("Columns of categories.")] = None,
    image: Annotated[list[str] | None, _role("Columns of picture files.")] = None,
    sequence: Annotated[list[str] | None, _role("Columns of texts whose paragraphs count in order.")] = None,
    drop: Annotated[list[str] | None, _role("Columns to leave out.")] = None,
    role: Annotated[list[str] | None, _role("COLUMN=ROLE, for any role.")] = None,
    embed: Annotated[
        list[str] | None,
        _role("ONNX file of an encoder, its tokenizer.json beside it, for all columns of texts; or COLUMN=FILE."),
    ] = None,
    others: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Roles of columns",
            help="Columns without a role: infer or drop. Default: drop if any other has one, else infer.",
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder or .zip of the pictures. Default: the folder of the data.")
    ] = None,
    model: Annotated[str, typer.Option(help="auto, or a recipe: mmh, immh, twh, dwh, rap, topics, …")] = "auto",
    topics: Annotated[int | None, typer.Option(min=1, help="Number of topics. Default: by the number of rows.")] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Largest number of passes over the data. Default: that of the model.")
    ] = None,
    holdout: Annotated[float, typer.Option(min=0.0, max=0.9, help="Share of rows held out for the scores.")] = 0.2,
    refit: Annotated[
        bool, typer.Option(help="Fit on all rows once the scores are known; takes twice the time.")
    ] = True,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            show_default=False,
            help="Times topics are learned again, to see which are stable. Default: 3 for auto with a target, else 0.",
        ),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            show_default=False,
            help="Leave the table in its file and read it in blocks. Default: if it is larger than 256 MB.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of split and training. Equal seeds give equal models.")] = 0,
    config: Config = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Fit a model to a table, and keep it with its items in a folder."""
    with one_line_errors(_AGAIN):
        options = locals()
        roles = read_roles({name: options[name] for name in ROLE_OPTIONS}, role)
        from harmonium.cli.progress import Steps

        steps = Steps(silent=quiet or as_json)
        if data.exists():
            steps(f"Reading {data.name}")  # before what takes seconds to import
        with steps.shown():
            from harmonium.cli.run_fit import FitOptions, run_fit

            kinds = (data, output, target, task, roles, others, pictures)
            encoders = read_encoders(embed)
            fit = FitOptions(*kinds, model, topics, epochs, holdout, refit, seed, stream, resamples, encoders)
            run_fit(fit, as_json, steps)
