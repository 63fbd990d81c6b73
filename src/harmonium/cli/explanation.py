"""Explanations of predictions, printed as tables with bars."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harmonium.cli.console import cell, put_json
from harmonium.cli.data_blocks import new_row
from harmonium.cli.errors import OptionError
from harmonium.loading import load
from harmonium.model_folder import ModelFolder

# letters of the longest bar on each side of the line
_BAR = 8


def print_explanation(
    model: Path,
    data: Path | None,
    row: int,
    output: str | None,
    n: int,
    pictures: Path | None,
    as_json: bool,
    encoders: dict[str, str] | str | None = None,
) -> None:
    """Print what moved the prediction of a row.

    Parameters
    ----------
    model : Path
        The model folder.
    data : Path or None
        File with new rows; None for the items of the folder.
    row : int
        Number of the row.
    output : str or None
        Class, label or number to explain; None for what is predicted.
    n : int
        Number of topics and features shown.
    pictures : Path or None
        Where pictures lie.
    as_json : bool
        Whether to print JSON.
    encoders : dict of str to str, or str, optional
        Files of encoders, by column or for all that have an embedding.
    """
    if data is None:
        folder = ModelFolder.open(model, encoders)
        why, estimator = folder.explain(row), folder.model
    else:
        estimator = load(model, encoders)
        if not hasattr(estimator, "explain"):
            raise OptionError(
                "An explanation needs a model with a target; this one was fitted without; fit it with one."
            )
        why = estimator.explain(new_row(estimator, data, row, pictures))[0]
    if as_json:
        put_json(why.to_dict(output, n))
        return
    console = Console()
    number = why.number_of(output)
    console.print(
        f"Score of [bold]{escape(why.outputs[number])}[/bold]: {why.scores[number]:.4g}. The average item has "
        f"{why.base[number]:.4g}; what follows adds the rest, {why.scores[number] - why.base[number]:+.4g}.",
        highlight=False,
    )
    end = why.stops_at(output)
    if end is not None:
        console.print(f"The scale ends at {end:g}, which is predicted.", highlight=False)
    if why.scale_of(output) != "linear":
        console.print(
            f"All of it is on the scale {why.scale_of(output)}: what adds 0.1 multiplies by 1.105.", highlight=False
        )
    views, features, units = (why.table(output, by) for by in ("view", "feature", "topic"))
    if len(views) > 1:
        console.print(bars("By column", views.rename(columns={"view": "column"}), ["column"], n))
    shown = ["column", "feature"] if len(views) > 1 else ["feature"]
    console.print(bars("By feature", features.rename(columns={"view": "column"}), shown, n))
    units = units[units["total"] != 0].rename(columns={"label": "topic"})
    units["through"] = [_words(why.table(output, unit=unit)) for unit in units["unit"]]
    units["present"] = units["unit"].str.startswith("topic_")  # other units come last, as what a row has not does
    console.print(bars("By topic", units, ["topic", "through"], n))


def _words(table: pd.DataFrame) -> str:
    """Return the first features of a table with what they add."""
    pairs = zip(table["feature"][:5], table["total"][:5], strict=True)
    return ", ".join(f"{feature} {total:+.3f}" for feature, total in pairs)


def bars(title: str, parts: pd.DataFrame, names: list[str], n: int) -> Table:
    """Return a table of what some parts add, with bars to the left of a line if it is negative, else to the right.

    The first n parts that are present stand before all others of them, and those that are not after these.
    """
    present, absent = parts[parts["present"]], parts[~parts["present"]]
    listed = [*present[:n][[*names, "total"]].to_numpy(), *absent[:n][[*names, "total"]].to_numpy()]
    left = [*present["total"][n:], *absent["total"][n:]]
    if left:
        listed.insert(min(n, len(present)), [f"{len(left)} others", *[""] * (len(names) - 1), sum(left)])
    most = max((abs(row[-1]) for row in listed), default=0.0) or 1.0
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name)
    table.add_column("adds", justify="right")
    table.add_column("", no_wrap=True)
    for *own, total in listed:
        bar = "█" * round(_BAR * abs(total) / most)
        drawn = f"{bar if total < 0 else '':>{_BAR}}│{bar if total > 0 else '':<{_BAR}}"
        table.add_row(*(cell(name, 90) for name in own), f"{total:+.4f}", drawn)
    return table
