"""Bars of the features of topics, and of the classes that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.metrics import topic_distribution
from harmonium.queries.topics.features import By
from harmonium.report.displays.display import COLOURS, Display, divisible_cell, require_matplotlib, shortened
from harmonium.report.tables.latent import check_model, topic_means
from harmonium.report.tables.topics import class_means, class_profiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# topics that are shown by default, and classes of a topic at most: as many as one can read
_N_TOPICS = 6
_MOST_CLASSES = 20
# width of a letter of the labels, in inches
_INCHES_A_LETTER = 0.06
_POSITIVE, _NEGATIVE, _CLASSES = COLOURS[0], COLOURS[3], COLOURS[2]


@dataclass(eq=False, kw_only=True)
class TopicsDisplay(Display):
    """Bars of the features that say most about some topics.

    Beside them, if classes are given, bars show how the classes share each topic.

    Parameters
    ----------
    features : DataFrame
        Columns topic, feature and value: what ranks first in each topic, on both of its sides if hidden units may be
        negative.
    by : {"relevance", "effect", "weight"}, default="relevance"
        What the values are; see ``model.topics``.
    share : Series, optional
        Mean of each topic in the items' topic distributions.
    profiles : DataFrame, optional
        Classes by topics; columns sum to 1.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : ndarray of Axes of shape (rows, columns)
        The axes of that figure.

    See Also
    --------
    topic_table : The same as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> display = TopicsDisplay.from_estimator(model, words, ["space", "cars", "cars"] * 4, n_features=2)
    >>> display.features.shape, display.profiles.shape
    ((4, 3), (2, 2))
    """

    features: pd.DataFrame
    by: By = "relevance"
    share: pd.Series | None = None
    profiles: pd.DataFrame | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Harmonium,
        X: Any = None,
        y: Any = None,
        *,
        view: str | None = None,
        topics: Sequence[int] | None = None,
        n_features: int = 10,
        by: By = "relevance",
        ax: Axes | None = None,
    ) -> Self:
        """Compute the topics of a model, and draw them.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …, optional
            Items, for the shares of the topics.
        y : array-like of shape (n_items,) or (n_items, n_labels), optional
            Classes, labels or numbers of the items, for the profiles, as for `topic_table`.
        view : str, optional
            View whose features are shown; needed if there are several.
        topics : list of int, optional
            Numbers of the topics. By default it is the six with the largest shares, or with the largest values if
            there is no X.
        n_features : int, default=10
            Number of features of each topic.
        by : {"relevance", "effect", "weight"}, default="relevance"
            What features are ranked by; see ``model.topics``.
        ax : Axes, optional
            Axes whose place is divided, made by ``subplots``. By default it is a new figure.

        Returns
        -------
        TopicsDisplay
            The display, already drawn.
        """
        require_matplotlib()
        check_model(model)
        check_whole("TopicsDisplay", "n_features", n_features, remedy="10 is usual")
        if y is not None and X is None:
            raise ValueError("y says something about the rows of X; got no X; pass X as well.")
        ranking = model.topics(view, None, by)
        share = profiles = None
        if X is not None:
            latent = topic_means(model, X)
            share = pd.Series(topic_distribution(latent).mean(axis=0), index=ranking.columns, name="share")
            profiles = None if y is None else class_profiles(class_means(X, y, latent))
            profiles = None if profiles is None else profiles.set_axis(ranking.columns, axis=1)
        importance = pd.Series(np.linalg.norm(ranking, axis=0), index=ranking.columns) if share is None else share
        chosen = _chosen(topics, importance)
        size = ranking if model.fitted_.energy.hidden.support.bounded else ranking.abs()
        features = []
        for topic in chosen:
            rows = np.argsort(-size[topic].to_numpy(), kind="stable")[:n_features]
            first = ranking[topic].iloc[rows].sort_values(ascending=False, kind="stable")
            features.append(pd.DataFrame({"topic": topic, "feature": first.index, "value": first.to_numpy()}))
        display = cls(
            features=pd.concat(features, ignore_index=True),
            by=by,
            share=None if share is None else share[chosen],
            profiles=None if profiles is None else profiles[chosen],
        )
        display.plot(ax)
        return display

    def _layout(self) -> tuple[int, int]:
        """Return the number of rows and of columns of topics."""
        n_topics = self.features["topic"].nunique()
        columns = min(n_topics, 3 if self.profiles is None else 2)
        return -(-n_topics // columns), columns

    def _size(self) -> tuple[float, float]:
        rows, columns = self._layout()
        bars = int(self.features["topic"].value_counts().max())
        if self.profiles is not None:
            bars = max(bars, min(len(self.profiles), _MOST_CLASSES))
        return columns * (2.8 if self.profiles is None else 5.6), 0.3 + rows * (0.7 + 0.16 * bars)

    def _draw(self, ax: Axes) -> np.ndarray:
        cell = divisible_cell(ax)
        rows, columns = self._layout()
        panels = 1 if self.profiles is None else 2
        axes = cell.subgridspec(rows, columns * panels, **self._gaps(ax, columns * panels)).subplots(squeeze=False)
        low, high = min(0.0, self.features["value"].min()), max(0.0, self.features["value"].max())
        for number, (topic, rows_of_topic) in enumerate(self.features.groupby("topic", sort=False)):
            row, column = divmod(number, columns)
            self._draw_features(axes[row, column * panels], topic, rows_of_topic)
            axes[row, column * panels].set_xlim(1.05 * low, 1.05 * high)
            if self.profiles is not None:
                self._draw_classes(axes[row, column * panels + 1], self.profiles[topic])
        for empty in axes.flat[(number + 1) * panels :]:
            empty.set_axis_off()
        return axes

    def _gaps(self, ax: Axes, columns: int) -> dict[str, float]:
        """Return gaps between panels, as shares of a panel, that hold the names if no layout engine makes room."""
        figure = ax.figure.figure
        if columns == 1 or figure.get_layout_engine() is not None:
            return {}
        names = [*self.features["feature"], *([] if self.profiles is None else self.profiles.index)]
        gap = 0.2 + _INCHES_A_LETTER * max(len(shortened(name)) for name in names)
        width = ax.get_window_extent().width / figure.dpi
        panel = max((width - (columns - 1) * gap) / columns, 0.05 * width)
        return {"wspace": gap / panel, "hspace": 0.5}

    def _draw_features(self, ax: Axes, topic: Any, rows: pd.DataFrame) -> None:
        colours = np.where(rows["value"] >= 0, _POSITIVE, _NEGATIVE)
        _horizontal_bars(ax, rows["feature"], rows["value"], colours)
        ax.axvline(0, color="black", linewidth=0.8)
        share = "" if self.share is None else f" ({self.share[topic]:.1%} of X)"
        ax.set_title(f"topic {topic}{share}", fontsize=9)
        ax.set_xlabel(self.by, fontsize=8)

    def _draw_classes(self, ax: Axes, profile: pd.Series) -> None:
        if len(profile) > _MOST_CLASSES:
            profile = profile.nlargest(_MOST_CLASSES)
        _horizontal_bars(ax, profile.index, profile, _CLASSES)
        assert self.profiles is not None
        ax.set_xlim(0, 1.05 * max(float(self.profiles.to_numpy().max()), 1e-12))
        ax.set_xlabel("share of class", fontsize=8)


def _horizontal_bars(ax: Axes, names: Any, values: Any, colours: Any) -> None:
    positions = np.arange(len(values))
    ax.barh(positions, values, color=colours, height=0.75)
    ax.set_yticks(positions, [shortened(name) for name in names])
    ax.set_ylim(len(values) - 0.5, -0.5)
    ax.tick_params(labelsize=7)
    ax.locator_params(axis="x", nbins=3)
    ax.spines[["top", "right"]].set_visible(False)


def _chosen(topics: Sequence[int | str] | None, importance: pd.Series) -> list[int | str]:
    if topics is None:
        return importance.sort_values(ascending=False, kind="stable").index[:_N_TOPICS].tolist()
    chosen, known = list(topics), importance.index.tolist()
    if not chosen or len(set(chosen)) < len(chosen) or not all(topic in known for topic in chosen):
        raise ValueError(
            f"topics must be different ones of {', '.join(map(str, known))}; got {chosen}; leave it out for the "
            "largest ones."
        )
    return chosen
