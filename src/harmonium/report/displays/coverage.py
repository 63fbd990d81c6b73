"""Tiles that show which items have which views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.report.displays.display import COLOURS, Display, require_matplotlib, shortened
from harmonium.report.tables.coverage import coverage_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        for position, name in enumerate(has):
            there = has[name].to_numpy(dtype=bool)
            ax.barh(position, counts[there], 0.8, left=begins[there], color=COLOURS[0], edgecolor="white")
        labels = [f"{shortened(name)} ({counts[has[name].to_numpy(dtype=bool)].sum()})" for name in has]
        ax.set_yticks(range(has.shape[1]), labels)
        ax.invert_yaxis()
        ax.set_xlim(0, counts.sum())
        ax.set_xlabel("items")
        ax.set_title("Which items have which views")
        ax.spines[["top", "right"]].set_visible(False)
        return ax
