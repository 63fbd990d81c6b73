"""Bars of the weights of features on all topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.report.displays.display import HATCHES, Display, require_matplotlib, shortened, sparse_ticks, style
from harmonium.report.tables.topics import feature_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True)
class FeatureWeightsDisplay(Display):
    """Bars of the weights that some features have on all topics.

    Parameters
    ----------
    table : DataFrame
        Features by topics, as `feature_table` returns it.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    feature_table : The numbers that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": np.tile(np.eye(3), (4, 1))})
    >>> FeatureWeightsDisplay.from_estimator(model, ["words_2", "words_0"]).ax_.get_xlabel()
    'topic'
    """

    table: pd.DataFrame

    @classmethod
    def from_estimator(
        cls, model: Harmonium, features: Sequence[str] | str, view: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Look up the weights of a model, and draw them.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        features : str or list of str
            Names of features, as in ``model.fitted_.feature_names``.
        view : str, optional
            View that they belong to; needed if there are several.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        FeatureWeightsDisplay
            The display, already drawn.
        """
        require_matplotlib()
        display = cls(table=feature_table(model, features, view))
        display.plot(ax)
        return display

    def _size(self) -> tuple[float, float]:
        n_features, n_topics = self.table.shape
        return float(np.clip(2.5 + 0.14 * n_topics * (n_features + 1), 6, 16)), 3.6

    def _draw(self, ax: Axes) -> Axes:
        n_features, n_topics = self.table.shape
        width = 0.8 / n_features
        for number, (feature, weights) in enumerate(self.table.iterrows()):
            colour, hatch = style(number, HATCHES)
            positions = np.arange(n_topics) + (number - (n_features - 1) / 2) * width
            ax.bar(positions, weights, width, color=colour, hatch=hatch, edgecolor="white", label=shortened(feature))
        ax.axhline(0, color="black", linewidth=0.8)
        for boundary in np.arange(1, n_topics) - 0.5:
            ax.axvline(boundary, color="0.9", linewidth=0.6, zorder=0)
        sparse_ticks(ax, self.table.columns)
        ax.set_xlim(-0.6, n_topics - 0.4)
        ax.set_xlabel("topic")
        ax.set_ylabel("weight")
        ax.legend(title=self.table.index.name, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax
