"""Heat map of how each class uses the topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.metrics import average_divergence
from harmonium.report.displays.display import Display, heat_map, heat_map_size, require_matplotlib
from harmonium.report.tables.topics import class_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class ClassTopicsDisplay(Display):
    """Heat map of how each class uses the topics.

    The title says how far the classes are apart.

    Parameters
    ----------
    table : DataFrame
        Classes by topics, as `class_table` returns it.
    divergence : float
        The `harmonium.metrics.average_divergence` of the classes; NaN if there is only one.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    class_table : The numbers that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> display = ClassTopicsDisplay.from_estimator(model, words, ["space", "cars", "cars"] * 4)
    >>> display.table.shape, display.ax_.get_title().startswith("average KL")
    ((2, 2), True)
    """

    table: pd.DataFrame
    divergence: float

    @classmethod
    def from_estimator(cls, model: Harmonium, X: Any, y: Any, ax: Axes | None = None) -> Self:
        """Compute how each class uses the topics of a model, and draw it.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …
            Items.
        y : array-like of shape (n_items,) or (n_items, n_labels)
            Class, labels or number of each item, as for `class_table`.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        ClassTopicsDisplay
            The display, already drawn.
        """
        require_matplotlib()
        table = class_table(model, X, y)
        display = cls(table=table, divergence=average_divergence(table) if len(table) > 1 else float("nan"))
        display.plot(ax)
        return display

    def _size(self) -> tuple[float, float]:
        return heat_map_size(self.table)

    def _draw(self, ax: Axes) -> Axes:
        heat_map(ax, self.table, "mean share of the topic", ".2f")
        ax.set_title("one class" if np.isnan(self.divergence) else f"average KL {self.divergence:.2f}")
        return ax
