"""Bars of how much the data use each unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.report.displays.display import (
    COLOURS,
    Display,
    divisible_cell,
    heat_map,
    heat_map_size,
    require_matplotlib,
    sparse_ticks,
)
from harmonium.report.tables.usage import usage_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# more than in other pictures, as sorted units do not show which numbers are left out
_MOST_TICKS = 60
_BARS_HEIGHT = 3.0


@dataclass(eq=False, kw_only=True)
class UsageDisplay(Display):
    """Bars of the mean of every unit over the items.

    Lines on the bars show how far the means of the classes spread.

    Parameters
    ----------
    table : DataFrame
        Units that are shown, in the order from left to right, as `usage_table` returns them.
    by_class : bool, default=False
        Whether a heat map below the bars shows the mean of every class.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes, or ndarray of two Axes if ``by_class``
        The axes of that figure.

    See Also
    --------
    usage_table : The numbers that are drawn.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, Fig. 5-7.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> display = UsageDisplay.from_estimator(model, words, ["space", "cars", "cars"] * 4, by_class=True)
    >>> display.table.shape, display.ax_.shape
    ((2, 6), (2,))
    """

    table: pd.DataFrame
    by_class: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: Harmonium,
        X: Any,
        y: Any = None,
        *,
        n_units: int | None = None,
        by_class: bool = False,
        sort: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Compute how items use the units of a model, and draw it.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …
            Items.
        y : array-like of shape (n_items,) or (n_items, n_labels), optional
            Class, labels or number of each item, as for `usage_table`.
        n_units : int, optional
            Number of units to show, the most used ones. By default it is all of them.
        by_class : bool, default=False
            Whether to draw the mean of every class below the bars, which needs y.
        sort : bool, default=True
            Whether the most used units come first; otherwise units are in the order of their numbers.
        ax : Axes, optional
            Axes to draw in, made by ``subplots`` if ``by_class``, as their place is divided. By default it is a new
            figure.

        Returns
        -------
        UsageDisplay
            The display, already drawn.
        """
        require_matplotlib()
        if n_units is not None:
            check_whole("UsageDisplay", "n_units", n_units, remedy="None shows all")
        if by_class and y is None:
            raise ValueError("by_class=True shows means of classes; got no y; pass the class of each row of X.")
        table = usage_table(model, X, y).iloc[:n_units]
        display = cls(table=table if sort else table.sort_index(), by_class=by_class)
        display.plot(ax)
        return display

    @property
    def _classes(self) -> pd.DataFrame:
        """Classes by units; their columns lie between two others on each side, as a class may have any name."""
        return self.table.iloc[:, 2:-2].T.rename_axis(index="class", columns="topic")

    def _size(self) -> tuple[float, float]:
        if self.by_class:
            width, height = heat_map_size(self._classes)
            return width, _BARS_HEIGHT + height
        return float(np.clip(2.5 + 0.2 * len(self.table), 5, 14)), _BARS_HEIGHT

    def _draw(self, ax: Axes) -> Any:
        if not self.by_class:
            self._draw_bars(ax)
            return ax
        classes = self._classes
        heights = [_BARS_HEIGHT, heat_map_size(classes)[1]]
        axes = divisible_cell(ax).subgridspec(2, 1, height_ratios=heights).subplots(squeeze=False)[:, 0]
        self._draw_bars(axes[0])
        heat_map(axes[1], classes, "mean of class", "z.2f", signed=bool((classes < 0).any(axis=None)))
        # the same positions as the bars above, whose axis needs no name
        sparse_ticks(axes[1], self.table.index, _MOST_TICKS)
        axes[1].set_xlim(axes[0].get_xlim())
        axes[0].set_xlabel("")
        return axes

    def _draw_bars(self, ax: Axes) -> None:
        usage, mean = (self.table.iloc[:, column] for column in (0, 1))
        spread = self.table.iloc[:, -2] if self.table.shape[1] > 2 else None
        positions = np.arange(len(mean))
        lines = {"elinewidth": 1, "capsize": 2, "ecolor": "0.25"}
        ax.bar(positions, mean, 0.75, yerr=spread, color=COLOURS[0], error_kw=lines)
        if not np.allclose(usage, mean):
            # the mean of values of both signs does not tell how many items have the unit
            ax.plot(positions, usage, "o", color=COLOURS[1], markersize=4, label="share of items that have it")
            ax.legend(frameon=False, fontsize=8)
        ax.axhline(0, color="black", linewidth=0.8)
        if (mean >= 0).all():
            ax.set_ylim(bottom=0)
        sparse_ticks(ax, self.table.index, _MOST_TICKS)
        ax.tick_params(labelsize=8)
        ax.set_xlim(-0.6, len(mean) - 0.4)
        ax.set_xlabel("topic")
        ax.set_ylabel("mean" if spread is None else "mean (line: spread of classes)")
        ax.spines[["top", "right"]].set_visible(False)
