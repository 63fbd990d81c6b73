"""Summaries of saved models and model folders, for ``harmonium info`` and ``harmonium topics``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harmonium.cli.console import cell, echo, put_json
from harmonium.cli.run_fit import score_table
from harmonium.core.targets import KINDS
from harmonium.exceptions import ModelFileError
from harmonium.hidden.n_units import usual_size
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.contents import FORMAT
from harmonium.model_folder.folder_summary import model_summary, topic_summaries
from harmonium.persist import load_model
from harmonium.queries.explain import output_names
from harmonium.queries.named_views import named_views
from harmonium.queries.topics.shown import of_topics
from harmonium.report import prevalence_table, topic_labels
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.topics import same_topics


def show_model(path: Path, n_features: int, n_topics: int, console: Console) -> None:
    """Print the views, families and sizes of a saved model, and the top features of each topic.

    A model that selected its units also gets their number and the share of training rows that use each, most used
    first.

    Parameters
    ----------
    path : Path
        File or folder of the model.
    n_features : int
        Number of features printed for each topic.
    n_topics : int
        Number of topics printed.
    console : Console
        Where to print.
    """
    model = load_model(path)
    _check_views(path, model)
    layer = escape(repr(model.fitted_.energy.hidden))
    console.print(
        f"[bold]{type(model).__name__}[/bold] with {model.n_topics_} topics of {layer}, {model.n_iter_} epochs"
    )
    meaning = model.fitted_.meaning
    if meaning is not None:
        names = f": {', '.join(meaning.names)}" if meaning.names else ""
        console.print(f"Predicts {KINDS[meaning.kind]}{names}", markup=False, highlight=False)
    if model.fitted_.account is not None:
        console.print(model.fitted_.account, markup=False, highlight=False)
    # only models whose layer selects units know how much each is used
    usage = model.fitted_.usage
    usage = None if usage is None else of_topics(model.fitted_, usage)
    order = np.arange(model.n_topics_) if usage is None else np.argsort(-usage, kind="stable")
    if usage is not None:
        more = "; there may be more to find" if model.fitted_.truncation_reached else ""
        layer, size = model.fitted_.energy.hidden, model.n_components
        truncation = layer.bind(usual_size(layer, None) if size == "auto" else size).n_units_  # some may be gone
        console.print(f"{model.n_components_} of truncation {truncation} units in use{more}")
    views = Table(title="Views", title_justify="left")
    for column in ("view", "family", "columns", "features"):
        views.add_column(column, justify="right" if column in ("columns", "features") else "left")
    for name, family in model.families_.items():
        views.add_row(escape(name), escape(repr(family)), str(family.codec.n_columns), str(family.n_features_))
    console.print(views)
    if is_model_folder(path):
        _print_items(path, console)
    unread = set(model.fitted_.input_names) - set(named_views(model.fitted_))
    for name in (view for view in model.families_ if view not in unread):
        if name not in model.fitted_.feature_names:
            console.print(f"View {name!r} was saved without names of its features.", markup=False)
            continue
        shown = Table(title=f"Top features of view {escape(name)}", title_justify="left")
        shown.add_column("topic", justify="right")
        if usage is not None:
            shown.add_column("usage", justify="right")
        shown.add_column("features, strongest first")
        table = model.topics(name, n_features)
        for place in order[:n_topics]:
            used = [] if usage is None else [f"{usage[place]:.0%}"]
            shown.add_row(escape(str(table.index[place])), *used, escape(", ".join(map(str, table.iloc[place]))))
        if model.n_topics_ > n_topics:
            shown.caption = f"{n_topics} of {model.n_topics_} topics; ask for more with --topics."
        console.print(shown)


def _print_items(path: Path, console: Console) -> None:
    """Print what a folder holds beside the model: items and scores."""
    folder = ModelFolder.open(path)
    console.print(f"{len(folder):,} items with the columns {', '.join(folder.items.columns)}", markup=False)
    if folder.scores is not None and folder.scores["measures"]:
        console.print(score_table(folder.scores))


def _check_views(path: Path, model: Any) -> None:
    """Refuse a model that has no views to show."""
    if not hasattr(model, "families_"):
        raise ModelFileError(
            f"{path}: a model that is shown must have views; this one is {type(model).__name__}; use harmonium.load."
        )


def is_model_folder(path: Path) -> bool:
    """Tell whether a path is a model with its items, and not a model alone; whatever cannot be read is neither."""
    try:
        return bool(json.loads((path / "model.json").read_text())["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def print_summary_json(path: Path, n_features: int) -> None:
    """Print what a model, or a model with its items, holds as JSON.

    Parameters
    ----------
    path : Path
        File or folder.
    n_features : int
        Number of features of each topic.
    """
    if is_model_folder(path):
        put_json(ModelFolder.open(path).summary(n_features))
        return
    model = load_model(path)
    _check_views(path, model)
    put_json(model_summary(model))


def print_topics(folder: ModelFolder, n_features: int, n_items: int, n_topics: int, as_json: bool) -> None:
    """Print what each topic is about.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    n_features : int
        Number of features of each view.
    n_items : int
        Number of typical items.
    n_topics : int
        Number of topics, those that differ most between items first; people see those that say the same once.
    as_json : bool
        Whether to print JSON.
    """
    topics = topic_summaries(folder, n_features, n_items)
    order = sorted(range(len(topics)), key=lambda number: -topics[number]["spread"])
    numbers = {place: topic["topic"] for place, topic in enumerate(topics)} | {None: None}
    same_as = same_topics(folder.topic_coordinates, order)
    if as_json:
        put_json([{**topics[place], "same_as": numbers[same_as[place]]} for place in order[:n_topics]])
        return
    outputs = output_names(folder.model.fitted_) if folder.model.fitted_.meaning is not None else []
    different = [number for number in order if same_as[number] is None]
    cards, lowered = Cards(folder), _lowered(folder)
    for number in different[:n_topics]:
        others = [str(numbers[other]) for other in order if same_as[other] == number]
        lines = _topic_lines(topics[number], outputs, cards, lowered.get(str(topics[number]["topic"]), {}))
        if others:
            lines += f"\n  [dim]{len(others)} more say the same: {', '.join(others)}[/dim]"
        Console().print(lines, soft_wrap=True, highlight=False)
    if len(different) > n_topics:
        echo(f"{n_topics} of {len(different)} topics, those that differ most between items; ask for more with -n.")
    if folder.stability is not None:
        echo("Stability says how well a topic comes again from resampled items: 1 is always, 0 never.")


def prevalence(folder: ModelFolder, by: str, freq: str | None) -> pd.DataFrame:
    """Return the mean of each topic by a column of the items.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    by : str
        Name of the column; texts that are dates are taken for dates.
    freq : str, optional
        Length of the periods that dates are cut into.

    Returns
    -------
    DataFrame
        Topics by period or group, with labels.
    """
    items = folder.items
    if by in items and not pd.api.types.is_numeric_dtype(items[by]):
        dates = pd.to_datetime(items[by], errors="coerce", format="mixed")
        if (dates.notna() | items[by].isna()).all():
            items = items.assign(**{by: dates})
    table = prevalence_table(folder.model, items, by, freq)
    table.insert(1, "label", table["topic"].map(topic_labels(folder.model)))
    return table


def _topic_lines(topic: dict[str, Any], outputs: list[str], cards: Cards, lowered: dict[str, set[str]]) -> str:
    """Return a topic in a few lines, without the features that it lowers."""
    stable = "" if topic["stability"] is None else f", stability {topic['stability']:.2f}"
    heading = f"[bold]topic {topic['topic']}: {cell(topic['label'])}[/bold]"
    lines = [f"{heading}{_speaks_for(topic['effects'], outputs)}{stable}"]
    several = len(topic["features"]) > 1
    for view, names in topic["features"].items():
        raised = [name for name in names if name not in lowered.get(view, ())]
        if raised:
            listed = cell(", ".join(raised), 200)
            lines.append(f"  {escape(view)}: {listed}" if several else f"  {listed}")
    lines += [f"  [dim]{cell(_named(item, cards.card(item)['title']), 110)}[/dim]" for item in topic["items"]]
    return "\n".join(lines)


def _named(item: int, title: str) -> str:
    """Return number and title of an item; the title of one without texts is its number."""
    number = f"item {item}"
    return number if title == number else f"{number}: {title}"


def _lowered(folder: ModelFolder) -> dict[str, dict[str, set[str]]]:
    """Return the features that each topic makes rarer or smaller, by topic and view."""
    found: dict[str, dict[str, set[str]]] = {}
    for view in folder.model.families_:
        if view in folder.model.fitted_.feature_names:
            table = folder.model.topics(view, n=None, by="relevance") < 0
            for topic in table.columns if table.columns.nlevels == 1 else ():
                found.setdefault(str(topic), {})[view] = set(table.index[table[topic]].astype(str))
    return found


def _speaks_for(effects: list[float] | None, outputs: list[str]) -> str:
    """Return which score a topic moves most, and which way."""
    if not effects or len(effects) != len(outputs):
        return ""
    most = max(range(len(effects)), key=lambda number: abs(effects[number]))
    if not effects[most]:  # topics have no say
        return ""
    return f", {'for' if effects[most] > 0 else 'against'} {escape(outputs[most])} ({effects[most]:+.2g})"
