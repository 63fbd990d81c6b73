"""Options that several commands share."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from harmonium.cli.refusing import Refusal, in_one_sentence

ModelPath = Annotated[Path, typer.Argument(help="Model folder, as fit wrote it.", show_default=False)]
DataPath = Annotated[
    Path, typer.Argument(help="Data file: .csv, .jsonl, .parquet, .npz, .mtx, .svmlight, .ldac, .h5ad, .h5mu, …")
]
OutputPath = Annotated[
    Path | None, typer.Option("--output", "-o", help="File for the result: .csv, .jsonl or .parquet. Default: stdout.")
]
PicturesPath = Annotated[
    Path | None, typer.Option(help="Folder or .zip of the pictures. Default: the folder of the data.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Let a TOML file give the values of options that are not on the command line: a callback of typer.

    Parameters
    ----------
    context : typer.Context
        The command.
    path : Path or None
        The file.

    Returns
    -------
    Path or None
        The same path.
    """
    if path is None:
        return None
    with in_one_sentence():
        try:
            with path.open("rb") as file:
                given = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Refusal(f"--config must be a TOML file; {path} is none ({error}); correct it.") from error
        options = {param.name for param in context.command.params if param.param_type_name == "option"}
        known = options - {"config", "help"}
        values = {key.replace("-", "_"): _listed(context, key, value) for key, value in given.items()}
        unknown = sorted(set(values) - known)
        if unknown:
            raise Refusal(
                f"--config may name options of the command ({', '.join(sorted(map(str, known)))}); {path} has "
                f"{unknown[0]!r}; correct it."
            )
        context.default_map = {**(context.default_map or {}), **values}
    return path


def _listed(context: typer.Context, key: str, value: Any) -> Any:
    """Return a value as its option takes it: options that may be repeated take lists, and roles tables."""
    name = key.replace("-", "_")
    option = next((param for param in context.command.params if param.name == name), None)
    if isinstance(value, dict):
        return [f"{column}={role}" for column, role in value.items()]
    if option is not None and option.multiple and not isinstance(value, list):
        return [value]
    return value


Config = Annotated[
    Path | None,
    typer.Option(callback=read_config, is_eager=True, help="TOML file with values of these options, by their names."),
]
