"""Pictures of how classes, features and views use the topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.metrics import average_divergence
from harmonium.report.drawing import (
    HATCHES,
    Display,
    heat_map,
    heat_map_size,
    require_matplotlib,
    shortened,
    sparse_ticks,
    style,
)
from harmonium.report.explained import explained_table
from harmonium.report.tables import class_table, feature_table

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
            Names of features, as in ``model.feature_names_``.
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
            places = np.arange(n_topics) + (number - (n_features - 1) / 2) * width
            ax.bar(places, weights, width, color=colour, hatch=hatch, edgecolor="white", label=shortened(feature))
        ax.axhline(0, color="black", linewidth=0.8)
        for boundary in np.arange(1, n_topics) - 0.5:
            ax.axvline(boundary, color="0.9", linewidth=0.6, zorder=0)
        sparse_ticks(ax, self.table.columns)
        ax.set_xlim(-0.6, n_topics - 0.4)
        ax.set_xlabel("topic")
        ax.set_ylabel("weight")
        ax.legend(title=self.table.index.name, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


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
