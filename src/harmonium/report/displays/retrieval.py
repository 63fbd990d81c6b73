"""Curves of precision over recall in retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import pandas as pd

from harmonium.metrics import RetrievalReport
from harmonium.report.displays.display import LINES, MARKERS, Display, require_matplotlib, shortened, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class RetrievalDisplay(Display):
    """Curves of precision over recall, for the retrieval of several models.

    The legend gives their mean average precisions.

    Parameters
    ----------
    curves : DataFrame
        Columns name, cutoff, recall and precision.
    scores : Series
        Mean average precision by name.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    harmonium.metrics.retrieval_report : The numbers that are drawn.

    Examples
    --------
    >>> from harmonium.metrics import retrieval_report
    >>> report = retrieval_report([[1.0, 0.1]], [[1.0, 0.0], [1.0, 0.5], [0.0, 1.0]], [0], [0, 1, 0])
    >>> display = RetrievalDisplay.from_reports({"two topics": report})
    >>> display.curves["cutoff"].tolist(), display.scores.round(2).tolist()
    ([1, 2, 3], [0.83])
    """

    curves: pd.DataFrame
    scores: pd.Series

    @classmethod
    def from_reports(cls, reports: Mapping[str, RetrievalReport], ax: Axes | None = None) -> Self:
        """Draw the curves of named reports.

        Parameters
        ----------
        reports : mapping of str to RetrievalReport
            Reports by name, as `harmonium.metrics.retrieval_report` returns them.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        RetrievalDisplay
            The display, already drawn.
        """
        require_matplotlib()
        if not isinstance(reports, Mapping) or not reports:
            raise TypeError(f"reports must be a mapping of name to RetrievalReport; got {reports!r}; give it a name.")
        for name, report in reports.items():
            if not isinstance(report, RetrievalReport):
                raise TypeError(
                    f"reports[{name!r}] must be a RetrievalReport; got {type(report).__name__}; pass what "
                    "retrieval_report gives."
                )
        curves = [
            pd.DataFrame({"name": name, "cutoff": one.cutoffs, "recall": one.recall, "precision": one.precision})
            for name, one in reports.items()
        ]
        scores = pd.Series({name: one.average_precision for name, one in reports.items()}, name="average_precision")
        display = cls(curves=pd.concat(curves, ignore_index=True), scores=scores)
        display.plot(ax)
        return display

    def _draw(self, ax: Axes) -> Axes:
        for number, (name, curve) in enumerate(self.curves.groupby("name", sort=False)):
            colour, line = style(number, LINES)
            marker = MARKERS[number % len(MARKERS)]
            label = f"{shortened(name)} (AP {self.scores[name]:.3f})"
            ax.plot(
                curve["recall"],
                curve["precision"],
                color=colour,
                linestyle=line,
                marker=marker,
                markersize=4,
                label=label,
            )
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.grid(color="0.92")
        ax.legend(frameon=False)
        return ax
