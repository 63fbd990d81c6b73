"""``harmonium show``: what a model file holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harmonium.exceptions import ModelFileError
from harmonium.persist import load_model


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
    if not hasattr(model, "families_"):
        raise ModelFileError(
            f"{path}: a model that is shown must have views; this one is {type(model).__name__}; use harmonium.load."
        )
    layer = escape(repr(model.energy_.hidden))
    console.print(
        f"[bold]{type(model).__name__}[/bold] with {model.n_components_} topics of {layer}, {model.n_iter_} epochs"
    )
    # only models whose layer selects units know how much each is used
    usage = getattr(model, "unit_usage_", None)
    order = range(model.n_components_) if usage is None else np.argsort(-usage, kind="stable")
    if usage is not None:
        more = "; there may be more to find" if model.truncation_reached_ else ""
        asked = model.energy_.hidden.bind(model.n_components).n_units_  # some may have been removed
        console.print(f"{model.n_components_} of truncation {asked} units in use{more}")
    views = Table(title="Views", title_justify="left")
    for column in ("view", "family", "columns", "features"):
        views.add_column(column, justify="right" if column in ("columns", "features") else "left")
    for name, family in model.families_.items():
        views.add_row(escape(name), escape(repr(family)), str(family.n_columns), str(family.n_features_))
    console.print(views)
    for name in model.families_:
        if name not in model.feature_names_:
            console.print(f"View {name!r} was saved without names of its features.", markup=False)
            continue
        shown = Table(title=f"Top features of view {escape(name)}", title_justify="left")
        shown.add_column("topic", justify="right")
        if usage is not None:
            shown.add_column("usage", justify="right")
        shown.add_column("features, strongest first")
        for topic, features in list(model.topics(name, n_features).loc[order].iterrows())[:n_topics]:
            used = [] if usage is None else [f"{usage[topic]:.0%}"]
            shown.add_row(str(topic), *used, escape(", ".join(map(str, features))))
        if model.n_components_ > n_topics:
            shown.caption = f"{n_topics} of {model.n_components_} topics; ask for more with --topics."
        console.print(shown)
