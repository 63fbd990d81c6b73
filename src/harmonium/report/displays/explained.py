"""Heat map of how much of each view each topic explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.report.displays.display import Display, heat_map, heat_map_size, require_matplotlib, shortened
from harmonium.report.tables.explained import explained_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class ExplainedDisplay(Display):
    """Heat map of how much of each view each topic explains.

    The label of a view says how much all topics explain together.

    Parameters
    ----------
    table : DataFrame
        Views by topics and "all", as `explained_table` returns it.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    explained_table : The numbers that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> views = {"words": np.tile(np.eye(3), (4, 1)), "colour": np.random.default_rng(0).normal(size=(12, 2))}
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(views)
    >>> ExplainedDisplay.from_estimator(model, views).table.index.tolist()
    ['words', 'colour']
    """

    table: pd.DataFrame

    @classmethod
    def from_estimator(cls, model: Harmonium, X: Any, ax: Axes | None = None) -> Self:
        """Compute how much the topics of a model explain, and draw it.

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
        ExplainedDisplay
            The display, already drawn.
        """
        require_matplotlib()
        display = cls(table=explained_table(model, X))
        display.plot(ax)
        return display

    def _size(self) -> tuple[float, float]:
        width, height = heat_map_size(self.table)
        return width, height + 0.4

    def _draw(self, ax: Axes) -> Axes:
        # beside the share of all topics, the shares of single ones would hardly show
        heat_map(ax, 100 * self.table.drop(columns="all"), "per cent of deviance explained", ".1f")
        labels = [f"{shortened(view)}\n(all: {share:.0%})" for view, share in self.table["all"].items()]
        ax.set_yticks(range(len(labels)), labels)
        ax.set_title("What single topics explain of each view")
        return ax
