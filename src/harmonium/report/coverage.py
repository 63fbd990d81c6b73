"""Which items have which views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.report.drawing import COLOURS, Display, require_matplotlib, shortened
from harmonium.report.latent import check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# rows that are looked at together; it decides about memory alone
_BLOCK_ROWS = 1000


def coverage_table(model: Harmonium, X: Any) -> pd.DataFrame:
    """Return how many items have which views.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.

    Returns
    -------
    DataFrame
        A row for each combination of views that occurs, the most frequent first: True for the views that these items
        have, in part at least, and ``"items"``, how many they are.

    Examples
    --------
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> views = {"rna": rng.normal(size=(20, 4)), "drugs": rng.normal(size=(20, 3))}
    >>> views["drugs"][:5] = np.nan
    >>> model = Harmonium(2, hidden="factor", random_state=0).fit(views)
    >>> coverage_table(model, views).to_numpy().tolist()
    [[True, True, 15], [True, False, 5]]
    """
    check_model(model)
    views = model.as_views(X)
    names = [name for name in model.input_names_ if name in views.names]
    families = {name: model.families_[name] for name in names}
    parts = []
    for items in np.array_split(np.arange(len(views)), -(-len(views) // _BLOCK_ROWS)):
        batch = views.batch(items, families).views
        parts.append([batch[name].observed_rows for name in names])
    has = pd.DataFrame(np.concatenate(parts, axis=1).T, columns=names)
    counts = has.groupby(names, sort=False).size().sort_values(ascending=False, kind="stable")
    table = counts.index.to_frame(index=False)
    table.insert(len(names), "items", counts.to_numpy(), allow_duplicates=True)  # a view may have any name
    return table


@dataclass(eq=False, kw_only=True)
class CoverageDisplay(Display):
    """Tiles that show which items have which views.

    A column is as wide as the share of the items that have the same views.

    Parameters
    ----------
    table : DataFrame
        Combinations of views and numbers of items, as `coverage_table` returns it.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    coverage_table : The numbers that are drawn.

    Examples
    --------
    >>> table = pd.DataFrame({"rna": [True, True], "drugs": [True, False], "items": [15, 5]})
    >>> display = CoverageDisplay(table=table)
    >>> type(display.plot()).__name__, display.ax_.get_xlabel()
    ('Figure', 'items')
    """

    table: pd.DataFrame

    @classmethod
    def from_estimator(cls, model: Harmonium, X: Any, ax: Axes | None = None) -> Self:
        """Count which items have which views of a model, and draw it.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …
            Items, with any subset of the views.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        CoverageDisplay
            The display, already drawn.
        """
        require_matplotlib()
        display = cls(table=coverage_table(model, X))
        display.plot(ax)
        return display

    def _size(self) -> tuple[float, float]:
        return 7.0, 1.4 + 0.4 * (self.table.shape[1] - 1)

    def _draw(self, ax: Axes) -> Axes:
        # the last column counts; views may have any name
        counts, has = self.table.iloc[:, -1].to_numpy(), self.table.iloc[:, :-1]
        begins = np.cumsum(counts) - counts
        for place, name in enumerate(has):
            there = has[name].to_numpy(dtype=bool)
            ax.barh(place, counts[there], 0.8, left=begins[there], color=COLOURS[0], edgecolor="white")
        labels = [f"{shortened(name)} ({counts[has[name].to_numpy(dtype=bool)].sum()})" for name in has]
        ax.set_yticks(range(has.shape[1]), labels)
        ax.invert_yaxis()
        ax.set_xlim(0, counts.sum())
        ax.set_xlabel("items")
        ax.set_title("Which items have which views")
        ax.spines[["top", "right"]].set_visible(False)
        return ax
