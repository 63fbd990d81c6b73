"""Options that several commands share, and roles of columns as options give them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harmonium.cli.errors import OptionError, one_line_errors


def check_is_model(path: Path) -> Path:
    """Refuse a data file in the place of a model: a callback of typer.

    Parameters
    ----------
    path : Path
        What stands where a model is expected.

    Returns
    -------
    Path
        The same path.
    """
    with one_line_errors():
        if path.is_file() and path.suffix != ".safetensors":
            raise OptionError(
                f"The first name after the command must be that of a model; got the file {path}; name a folder that "
                "harmonium fit wrote, and data after it."
            )
    return path


ModelPath = Annotated[
    Path, typer.Argument(help="Model folder, as fit wrote it.", show_default=False, callback=check_is_model)
]
DataPath = Annotated[
    Path, typer.Argument(help="Data file: .csv, .jsonl, .parquet, .npz, .mtx, .svmlight, .ldac, .h5ad, .h5mu, …")
]
OutputPath = Annotated[
    Path | None, typer.Option("--output", "-o", help="File for the result: .csv, .jsonl or .parquet. Default: stdout.")
]
PicturesPath = Annotated[
    Path | None, typer.Option(help="Folder or .zip of the pictures. Default: the folder of the data.")
]
EmbedFiles = Annotated[
    list[str] | None,
    typer.Option("--embed", help="ONNX file of the encoder of texts that the model was fitted with, or COLUMN=FILE."),
]
KeepColumns = Annotated[
    str | None, typer.Option("--keep", help="Columns of the data to write beside the result, separated by commas.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

#: options that give columns a role, and the role in the words of `harmonium.tables`
ROLE_OPTIONS = {
    "text": "words",
    "tags": "tags",
    "number": "number",
    "category": "category",
    "image": "image",
    "sequence": "sequence",
    "drop": "drop",
}


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
    with one_line_errors():
        try:
            with path.open("rb") as file:
                settings = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise OptionError(f"--config must be a TOML file; {path} is none ({error}); correct it.") from error
        options = {param.name for param in context.command.params if param.param_type_name == "option"}
        allowed = options - {"config", "help"}
        values = {key.replace("-", "_"): _listed(context, key, value) for key, value in settings.items()}
        unknown = sorted(set(values) - allowed)
        if unknown:
            raise OptionError(
                f"--config may name options of the command ({', '.join(sorted(map(str, allowed)))}); {path} has "
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


def read_encoders(entries: Iterable[str] | None) -> dict[str, str] | str | None:
    """Return the files of encoders: one for all columns of texts, or by column.

    Parameters
    ----------
    entries : iterable of str or None
        What ``--embed`` was given: FILE or COLUMN=FILE.

    Returns
    -------
    dict of str to str, str or None
        Absolute paths by column, one path, or None if nothing was given.

    Examples
    --------
    >>> read_encoders(["review=/models/a.onnx"]), read_encoders(["/models/a.onnx"])
    ({'review': '/models/a.onnx'}, '/models/a.onnx')
    """
    pairs = [entry.rpartition("=") for entry in entries or ()]
    if not pairs:
        return None
    by_column = {column: os.path.abspath(path) for column, _, path in pairs}
    if "" not in by_column:
        return by_column
    if len(pairs) > 1:
        raise OptionError(
            "--embed takes one FILE for all columns of texts, or COLUMN=FILE several times; got both; give one of them."
        )
    return by_column[""]


def read_roles(by_option: Mapping[str, Iterable[str] | None], pairs: Iterable[str] | None) -> dict[str, str]:
    """Return the role of each column that is given one.

    Parameters
    ----------
    by_option : mapping of str to iterable of str
        Columns of each option of `ROLE_OPTIONS`; an entry may name several, separated by commas.
    pairs : iterable of str
        What ``--role column=role`` was given.

    Returns
    -------
    dict of str to str
        Roles by column, in order.

    Examples
    --------
    >>> read_roles({"number": ["price,area"], "text": ["review"]}, ["year=category"])
    {'price': 'number', 'area': 'number', 'review': 'words', 'year': 'category'}
    """
    roles: dict[str, str] = {}
    column_roles = [
        (column.strip(), ROLE_OPTIONS[option])
        for option, entries in by_option.items()
        for entry in entries or ()
        for column in entry.split(",")
    ]
    for pair in pairs or ():
        column, mark, role = pair.rpartition("=")
        if not mark or not column or not role:
            raise OptionError(f"--role takes COLUMN=ROLE, as in year=category; got {pair!r}; correct it.")
        column_roles.append((column, role))
    for column, role in column_roles:
        if roles.setdefault(column, role) != role:
            raise OptionError(
                f"A column has one role; {column!r} is given {roles[column]} and {role}; choose one of them."
            )
    return roles
