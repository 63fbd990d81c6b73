"""The fit behind ``harmonium fit``: read, show what columns are taken for, fit, and print the scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.base import clone

from harmonium.cli.console import echo, put_json, shown
from harmonium.cli.errors import OptionError
from harmonium.cli.model_names import check_model_name, make_model
from harmonium.cli.progress import Steps
from harmonium.cli.target_column import Target, read_target
from harmonium.core.notices import notice
from harmonium.estimators.harmonium import driver_for
from harmonium.exceptions import HarmoniumWarning
from harmonium.features.encoders import as_encoder
from harmonium.files import Loaded, endings, is_large, is_streamable, read_data
from harmonium.model_folder import ModelFolder, Thumbnails, fit_folder
from harmonium.model_folder.embeddings import recall_embeddings
from harmonium.model_folder.fit import unfinished_path
from harmonium.model_folder.streaming import StreamedTable
from harmonium.tables import TableViews
from harmonium.tables.base import lacking_rows
from harmonium.tables.column import Column
from harmonium.tables.pictures import pictures_of

# labelled rows below which `split_rows` would hold out too few to judge a model by, at the usual share
_FEW_ROWS = 100
_ENDS = ("value", "lower", "upper")
_NAMES = {"harmonium": "this model", "linear": "linear model", "trivial": "without looking"}


@dataclass(frozen=True)
class FitOptions:
    """The options of ``harmonium fit``."""

    data: Path
    output: Path | None
    target: str | None
    task: str | None
    roles: dict[str, str]
    others: str | None
    pictures: Path | None
    model: str
    topics: int | None
    epochs: int | None
    holdout: float
    refit: bool
    seed: int
    stream: bool | None = None
    resamples: int | None = None
    embed: dict[str, str] | str | None = None


@dataclass(frozen=True, eq=False)
class FitInput:
    """The input of a fit: rows as a model takes them, when they are asked for, and what the folder keeps of them."""

    rows: Callable[[], Any]
    views: Any
    target: Target | None
    items: pd.DataFrame
    kept: np.ndarray | None = None
    thumbnails: Thumbnails | None = None
    notes: dict[str, Any] = field(default_factory=dict)


def run_fit(options: FitOptions, as_json: bool, steps: Steps) -> None:
    """Fit as the options say, and print the scores.

    Parameters
    ----------
    options : FitOptions
        The options.
    as_json : bool
        Whether to print the summary as JSON, and nothing else.
    steps : Steps
        Is told what is done next.
    """
    if (options.data / "model.json").exists():
        raise OptionError(f"A fit needs a data file; {options.data} is a model folder; name the file of the data.")
    output = _output(options)
    if not 0 <= options.seed < 2**32:
        raise OptionError(f"--seed must be a whole number from 0 to {2**32 - 1}; got {options.seed}; 0 is usual.")
    check_model_name(options.model)
    data = _streamed(options, output, steps) if _streams(options) else _in_memory(options, output, steps)
    task = None if data.target is None else data.target.task
    # a matrix is of the family that the model is about; the columns of a table have theirs by their roles
    read = {} if data.views is None else {"views": data.views}
    model = make_model(options.model, task, options.topics, options.seed, **read)
    if options.epochs is not None:
        if "max_iter" not in driver_for(model, None).get_params():
            raise OptionError(
                f"--epochs is a number of passes over the data; {options.model} takes none; leave it out."
            )
        model.set_params(driver__max_iter=options.epochs)
    with warnings.catch_warnings():
        # said by _question, once and with the name of the column
        warnings.filterwarnings("ignore", r"Only \d+ rows? ha\w+ a target|y has \d+ classes", HarmoniumWarning)
        folder = fit_folder(
            output,
            model,
            data.rows(),
            None if data.target is None else data.target.y,
            items=data.items,
            kept=data.kept,
            target=options.target if options.target in data.items.columns else None,
            holdout=options.holdout,
            refit=options.refit,
            n_resamples=options.resamples,
            thumbnails=data.thumbnails,
            notes={
                "source": options.data.name,
                "model": options.model,
                "task": task,
                "seed": options.seed,
                **data.notes,
            },
            callback=steps,
        )
    if as_json:
        put_json({"folder": str(folder.path), **folder.summary()})
    else:
        _print_result(folder, options)


def _in_memory(options: FitOptions, output: Path, steps: Steps) -> FitInput:
    """Return the data of a file that is read whole."""
    loaded = read_data(options.data)
    target = _target(loaded.items, options)
    frame, thumbnails = _with_pictures(loaded, options, steps)
    views: Any = None
    if not loaded.is_table and (options.roles or options.others or options.pictures or options.embed):
        raise OptionError(
            f"Roles are those of the columns of a table; {options.data.name} holds views; leave them out."
        )
    if loaded.is_table:
        frame = frame.drop(columns=[options.target] if options.target else [])
        frame, views = _shown_before(frame, _reader(options, output), steps)
    return FitInput(lambda: frame, views, target, loaded.items, thumbnails=thumbnails)


def _streams(options: FitOptions) -> bool:
    """Tell whether the table stays in its file; refuse what cannot be done so."""
    has_pictures = "image" in options.roles.values()
    if options.stream is None:
        return is_large(options.data) and not has_pictures
    if options.stream and not is_streamable(options.data):
        raise OptionError(
            f"--stream takes .csv, .jsonl and .parquet, or a folder of .parquet files; {options.data} is none of them; "
            "leave it out."
        )
    if options.stream and has_pictures:
        raise OptionError("--stream leaves a table in its file; columns of pictures are read whole; leave it out.")
    return options.stream


def _streamed(options: FitOptions, output: Path, steps: Steps) -> FitInput:
    """Return the data of a file that stays where it is: a sample in memory, and all rows in blocks on the disk."""
    table = StreamedTable.opened(options.data, options.target)
    n_rows, n_kept = table.file.n_rows, len(table.rows)
    if not steps.silent:
        echo(
            f"Streaming {options.data.name}: {n_rows:,} rows in blocks of {table.file.rows:,}; roles and words are "
            f"learned from {n_kept:,} spread rows, which the folder keeps."
        )
    target = None if table.target is None else _target(table.target, options)
    frame = table.sample.drop(columns=[options.target] if options.target else [])
    frame, reader = _shown_before(frame, _reader(options, output), steps)
    learned = clone(reader).fit(frame).table_
    return FitInput(
        lambda: table.views(learned, output),
        reader,
        target,
        table.items,
        table.rows,
        notes={"streamed": {"rows": n_rows, "kept": n_kept}},
    )


def _output(options: FitOptions) -> Path:
    """Return where the folder goes; refuse a path where something else is, before anything long is computed."""
    if options.output is None:
        ending, packed = endings(options.data)
        name = options.data.name[: len(options.data.name) - len(ending) - len(packed)].replace(".", "-")
        output = Path(name or "model")
    else:
        output = options.output
    if output.suffix[1:2].isalpha():
        raise OptionError(f"--output must be a folder, whose name has no ending; got {output.name!r}; leave it out.")
    if output.exists() and not (output / "model.json").exists() and (not output.is_dir() or any(output.iterdir())):
        raise OptionError(f"--output must be new or a model folder; {output} is something else; choose another.")
    if not output.absolute().parent.is_dir():
        raise OptionError(
            f"--output must lie in a folder that exists; {output.absolute().parent} does not; make it first."
        )
    return output


def _target(items: pd.DataFrame, options: FitOptions) -> Target | None:
    role = options.roles.get(options.target or "", "drop")
    if role != "drop":
        raise OptionError(
            f"A column must be read or predicted, not both; {options.target!r} is the target and has the role {role}; "
            "leave one of them out."
        )
    if options.target is None:
        if options.task is not None:
            raise OptionError("--task says what the target is; no --target is given; name a column.")
        return None
    target = read_target(items, options.target, options.task)
    _question(target, options.target)
    return target


def _question(target: Target, name: str) -> None:
    """Warn of targets that little can be learned from."""
    y = pd.DataFrame(target.y).dropna(how="all")
    if len(y) < _FEW_ROWS:
        notice(
            f"Only {len(y)} {'row has' if len(y) == 1 else 'rows have'} a value of {name!r}, too few to hold some out, "
            f"so that no score can be given; {_FEW_ROWS} and more make a fit that can be judged."
        )
    if target.task == "class" and len(y) > 1 and y.iloc[:, 0].nunique() > len(y) / 2:
        notice(
            f"The target {name!r} has {y.iloc[:, 0].nunique()} classes in {len(y)} rows, most of them once, so that "
            "there is nothing to learn of them; is it a name or a text that should be an input, or another column?"
        )


def _with_pictures(loaded: Loaded, options: FitOptions, steps: Steps) -> tuple[Any, Thumbnails | None]:
    """Return the data with pictures in place of the names of their files, and thumbnails of the first such column."""
    columns = [column for column, role in options.roles.items() if role == "image"]
    if not columns or not loaded.is_table:
        return loaded.X, None
    frame, thumbnails = loaded.X.copy(), None
    for column in columns:
        if column not in frame.columns:
            raise OptionError(f"--image must name a column; {column!r} is none; correct the name.")
        steps(f"Reading the pictures of {column}")
        images = pictures_of(frame[column], options.pictures or options.data.absolute().parent)
        frame[column] = pd.Series(images, dtype=object)
        thumbnails = thumbnails or Thumbnails.of(images)
    return frame, thumbnails


def _reader(options: FitOptions, output: Path) -> TableViews:
    if options.others not in (None, "infer", "drop"):
        raise OptionError(f"--others must be infer or drop; got {options.others!r}; choose one of them.")
    has_roles = any(role != "drop" for role in options.roles.values())
    remainder: Any = options.others or ("drop" if has_roles else "infer")
    reader = TableViews(options.roles, remainder, _encoders(options.embed))
    for place in (output, unfinished_path(output)):
        recall_embeddings(place, reader)
    return reader


def _encoders(embed: dict[str, str] | str | None) -> Any:
    """Return the encoders of files, each of which is opened once."""
    if isinstance(embed, dict):
        opened = {path: as_encoder(path) for path in embed.values()}
        return {column: opened[path] for column, path in embed.items()}
    return None if embed is None else as_encoder(embed)


def _shown_before(frame: pd.DataFrame, reader: TableViews, steps: Steps) -> tuple[pd.DataFrame, TableViews]:
    """Show what each column is taken for, before anything long is computed.

    Return the columns that are used, and what reads them: in the roles that were shown, as other rows might suggest
    others.
    """
    steps(f"Looking at {len(frame):,} rows and {frame.shape[1]} columns")
    with warnings.catch_warnings():
        if not steps.silent:  # said below, with options in place of Python
            warnings.filterwarnings("ignore", "Columns left out of the model", HarmoniumWarning)
        learned = reader.fit(frame).columns_
    left_out = [name for name in learned.index if learned["role"][name] == "drop"]
    if not steps.silent:
        used = learned.drop(index=left_out).reset_index().drop(columns="view")
        used["missing"] = [f"{share:.0%}" for share in used["missing"]]
        Console(stderr=True).print(shown(used, "Columns", most=100))
        if left_out:
            reasons = [f"{name} ({note})" if note else name for name, note in learned["note"][left_out[:12]].items()]
            names = ", ".join(reasons) + (", …" if len(left_out) > 12 else "")
            echo(f"Not used: {names}. Give a column a role (--text, --number, …), or --others infer, to use it.")
    roles = {name: role for name, role in learned["role"].items() if name not in left_out}
    return _without_unread(frame.drop(columns=left_out), reader), TableViews(roles, reader.remainder, reader.embed)


def _without_unread(frame: pd.DataFrame, reader: TableViews) -> pd.DataFrame:
    """Return a frame without the texts that their role reads nothing from.

    A few of them are forgiven, as "see note" among numbers, and count as missing. Fewer rows may have a larger share of
    them, and would be refused in that role.
    """
    emptied = {}
    for learned in reader.table_.columns:
        if learned.reader.forgives_texts and learned.missing:
            column = Column(learned.name, nw.from_native(frame[learned.name], series_only=True))
            if column.kind == "text":
                emptied[learned.name] = frame[learned.name].mask(lacking_rows(column, learned.reader.read(column)))
    return frame.assign(**emptied)


def _print_result(folder: ModelFolder, options: FitOptions) -> None:
    """Print the scores of a fit, and what to do next."""
    console, model = Console(stderr=True), folder.model
    console.print()
    if folder.scores is not None:
        console.print(score_table(folder.scores))
        if "n_linear" in folder.scores:
            echo(
                f"The linear model learned from {folder.scores['n_linear']:,} of {folder.scores['n_learned']:,} rows, "
                "as it takes all of them into memory."
            )
    if model.fitted_.account is not None:
        echo(model.fitted_.account)
    topics = "1 topic" if model.n_topics_ == 1 else f"{model.n_topics_} topics"
    echo(f"{folder.path} holds {topics} of {len(folder):,} items. Go on with:")
    embed = "" if options.embed is None else " --embed …"
    commands = [f"predict {folder.path} NEW_DATA{embed}"] if options.target is not None else []
    commands.append(f"topics {folder.path}")
    commands.append(f'search {folder.path} "…"{embed}' if folder.has_words else f"search {folder.path} --like 0")
    commands += [f"report {folder.path}", f"explore {folder.path}"]
    for command in commands:
        echo(f"  harmonium {command}")


def score_table(scores: dict[str, Any]) -> Table:
    """Return a table of the scores on held-out rows, each with its interval."""
    title = f"Scores on {scores['n_rows']:,} rows that were held out (95 % intervals)"
    table = Table(title=title, title_justify="left")
    table.add_column("model")
    for measure in scores["measures"]:
        table.add_column(
            measure["measure"] + ("" if measure["higher_is_better"] else " (less is better)"), justify="right"
        )
    for number, entry in enumerate(scores["measures"][0]["models"]):
        cells = [measure["models"][number] for measure in scores["measures"]]
        values = ["{:z.3f}  ({:z.3f} to {:z.3f})".format(*(cell[end] for end in _ENDS)) for cell in cells]  # no -0.000
        table.add_row(_NAMES.get(entry["name"], entry["name"]), *values)
    return table
