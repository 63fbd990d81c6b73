"""Curves of scores over the values of a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.report.displays.display import COLOURS, LINES, MARKERS, Display, require_matplotlib, shortened
from harmonium.report.tables.sensitivity import sensitivity_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# values that span more than this factor are drawn on a logarithmic axis; a convention, as the next one
_WIDE = 20
_MOST_TICKS = 12


@dataclass(eq=False, kw_only=True)
class SensitivityDisplay(Display):
    """Curves of the cross-validated score over the values of a parameter.

    Bands show the standard deviation over folds.

    Parameters
    ----------
    table : DataFrame
        Columns value, train_mean, train_std, test_mean and test_std, as `sensitivity_table` returns them.
    parameter : str
        Name of the parameter.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    sensitivity_table : The numbers that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier, Hinge, Stochastic
    >>> words, y = np.tile(np.eye(3), (6, 1)), np.tile([0, 1, 1], 6)
    >>> driver = Stochastic(max_iter=2)
    >>> model = HarmoniumClassifier(2, head=Hinge(C=1.0), driver=driver, validation_fraction=0)
    >>> display = SensitivityDisplay.from_estimator(model, words, y, parameter="head__C", values=[0.1, 1.0, 10.0])
    >>> display.ax_.get_xscale()
    'log'
    """

    table: pd.DataFrame
    parameter: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        parameter: str = "head__C",
        values: Sequence[Any] = (0.01, 0.1, 1.0, 10.0, 100.0),
        cv: Any = 3,
        n_jobs: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Cross-validate an estimator, and draw its scores.

        Parameters
        ----------
        estimator : estimator
            An estimator or pipeline with a score; it stays as it is.
        X : dict, Views, matrix, …
            Items.
        y : array-like or None
            What is to be predicted.
        parameter : str, default="head__C"
            Name of the parameter.
        values : sequence, default=(0.01, 0.1, 1.0, 10.0, 100.0)
            Values to try.
        cv : int or splitter, default=3
            Number of folds, or how to split.
        n_jobs : int, optional
            Number of fits at the same time.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        SensitivityDisplay
            The display, already drawn.
        """
        require_matplotlib()
        display = cls(table=sensitivity_table(estimator, X, y, parameter, values, cv, n_jobs), parameter=parameter)
        display.plot(ax)
        return display

    def _draw(self, ax: Axes) -> Axes:
        table = self.table
        numeric = table["value"].dtype.kind in "iuf"
        if numeric:
            table = table.sort_values("value")
        positions = table["value"].to_numpy() if numeric else np.arange(len(table))
        if numeric and positions.min() > 0 and positions.max() > _WIDE * positions.min():
            ax.set_xscale("log")
        if len(table) <= _MOST_TICKS or not numeric:
            names = [f"{value:g}" if numeric else shortened(value) for value in table["value"]]
            ax.set_xticks(positions, names)
            ax.set_xticks([], minor=True)
        for number, (part, name) in enumerate((("test", "held-out folds"), ("train", "training folds"))):
            mean, spread = table[f"{part}_mean"], table[f"{part}_std"]
            ax.plot(positions, mean, color=COLOURS[number], marker=MARKERS[number], linestyle=LINES[number], label=name)
            ax.fill_between(positions, mean - spread, mean + spread, color=COLOURS[number], alpha=0.2, linewidth=0)
        ax.set_xlabel(self.parameter)
        ax.set_ylabel("score (band: one standard deviation)")
        ax.grid(color="0.92")
        ax.legend(frameon=False)
        return ax
