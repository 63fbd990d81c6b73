"""Scatter plots of items: the map, and two factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.metrics import average_divergence, class_topic_distribution
from harmonium.model_folder import ItemMap
from harmonium.report.displays.display import MARKERS, Display, require_matplotlib, shortened, style
from harmonium.report.tables.groups import is_scale, read_labels
from harmonium.report.tables.latent import latent_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# names of more letters would cover the points
_LONGEST_LABEL = 3


@dataclass(eq=False, kw_only=True)
class MapDisplay(Display):
    """Map of items, coloured by class.

    It is the map that a model folder of the same items has in its report and in the explorer. The title says how far
    the classes are apart.

    Parameters
    ----------
    map : DataFrame
        Columns x, y and label (None if it is unknown) of the items that are shown, by row number.
    divergence : float, default=nan
        The `harmonium.metrics.average_divergence` of the classes over all items; NaN without classes.
    label_name : str, default="y"
        What the numbers are that items are coloured by, said beside the scale.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    harmonium.model_folder.ItemMap : How the map is drawn, and where new items lie on it.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> MapDisplay.from_estimator(model, words, ["space", "cars", "cars"] * 4).map.columns.tolist()
    ['x', 'y', 'label']
    """

    map: pd.DataFrame
    divergence: float = float("nan")
    label_name: str = "y"

    @classmethod
    def from_estimator(
        cls,
        model: Harmonium,
        X: Any,
        y: Any = None,
        *,
        max_items: int = 2000,
        random_state: Any = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the map of some items, and draw it.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …
            Items.
        y : array-like of shape (n_items,), optional
            Class of each item (-1, NaN or None where it is unknown), or numbers that are not whole or more than 100
            different ones, for a scale of colours.
        max_items : int, default=2000
            Largest number of items to show, evenly spaced among the rows; all of them shape the map.
        random_state : int or RandomState, default=0
            Source of randomness of t-SNE.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        MapDisplay
            The display, already drawn.
        """
        require_matplotlib()
        check_whole("MapDisplay", "max_items", max_items, remedy="2000 is usual")
        latent = latent_means(model, X)
        labels = read_labels(X, y, len(latent))
        rows = np.linspace(0, len(latent) - 1, min(max_items, len(latent))).astype(int)
        embedding = ItemMap(random_state).fit_transform(model.search_coordinates(X))
        locations = pd.DataFrame(embedding[rows], columns=["x", "y"], index=rows)
        divergence = _divergence(latent, labels.to_numpy(dtype=object))
        display = cls(map=locations.assign(label=labels.iloc[rows]), divergence=divergence, label_name=_name_of(y))
        display.plot(ax)
        return display

    def _size(self) -> tuple[float, float]:
        return 7.6, 5.4

    def _draw(self, ax: Axes) -> Axes:
        self._draw_points(ax)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_title("Map of the items" + ("" if np.isnan(self.divergence) else f", average KL {self.divergence:.2f}"))
        return ax

    def _draw_points(self, ax: Axes) -> None:
        labels = self.map["label"].to_numpy(dtype=object)
        size = float(np.clip(12_000 / len(labels), 9, 36))
        unknown = pd.isna(labels)
        name = None if unknown.all() else "unlabelled"
        if unknown.any():
            ax.scatter("x", "y", s=size, data=self.map[unknown], color="0.75", label=name, linewidths=0)
        if is_scale(labels):
            labelled = self.map[~unknown].astype({"label": float})
            points = ax.scatter("x", "y", s=size, c="label", data=labelled, cmap="cividis", linewidths=0)
            ax.figure.colorbar(points, ax=ax, label=self.label_name)
        elif not unknown.all():
            self._draw_classes(ax, labels, size)

    def _draw_classes(self, ax: Axes, labels: np.ndarray, size: float) -> None:
        from matplotlib.patheffects import withStroke

        classes = pd.factorize(self.map["label"], sort=True)[1]  # ordered categories in their order
        for number, label in enumerate(classes):
            colour, marker = style(number, MARKERS)
            points = self.map.loc[labels == label, ["x", "y"]].to_numpy()
            x, y = points.T
            ax.scatter(x, y, s=size, color=colour, marker=marker, label=shortened(label), linewidths=0)
            if len(str(label)) <= _LONGEST_LABEL:
                # at the item nearest to the median, as the median of a class in two clusters may lie in neither
                x, y = points[np.argmin(np.abs(points - np.median(points, axis=0)).sum(axis=1))]
                text = ax.text(x, y, str(label), fontsize=14, weight="bold", ha="center", va="center")
                text.set_path_effects([withStroke(linewidth=3, foreground="white")])
        columns = -(-(len(classes) + 1) // 22)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=2, fontsize=8, ncols=columns, frameon=False)


@dataclass(eq=False, kw_only=True)
class FactorsDisplay(MapDisplay):
    """Scatter plot of two factors, coloured by class or by a number.

    Parameters
    ----------
    map : DataFrame
        Columns x, y and label (None if it is unknown) of the items, by row number.
    divergence : float, default=nan
        The `harmonium.metrics.average_divergence` of the classes; not drawn.
    label_name : str, default="y"
        What the numbers are that items are coloured by, said beside the scale.
    factors : tuple of int, default=(0, 1)
        Numbers of the two factors.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes
        The axes of that figure.

    See Also
    --------
    covariate_table : Which factors go with which covariates.

    Examples
    --------
    >>> from harmonium import Harmonium
    >>> from harmonium.training import Spectral
    >>> X = np.random.default_rng(0).normal(size=(30, 8))
    >>> model = Harmonium(3, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(X)
    >>> FactorsDisplay.from_estimator(model, X, ["a", "b"] * 15, factors=(0, 2)).ax_.get_ylabel()
    'factor 2'
    """

    factors: tuple[int, int] = (0, 1)

    @classmethod
    def from_estimator(  # type: ignore[override]
        cls, model: Harmonium, X: Any, y: Any = None, *, factors: tuple[int, int] = (0, 1), ax: Axes | None = None
    ) -> Self:
        """Compute two factors of all items, and draw them.

        Parameters
        ----------
        model : Harmonium
            A fitted model of any kind.
        X : dict, Views, matrix, …
            Items.
        y : array-like of shape (n_items,), optional
            Class of each item (-1, NaN or None where it is unknown), or numbers that are not whole or more than 100
            different ones, for a scale of colours.
        factors : tuple of int, default=(0, 1)
            Numbers of the two factors.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        FactorsDisplay
            The display, already drawn.
        """
        require_matplotlib()
        latent = latent_means(model, X)
        chosen = list(factors)
        if len(chosen) != 2 or any(number not in range(latent.shape[1]) for number in chosen):
            raise ValueError(
                f"factors must be two numbers from 0 to {latent.shape[1] - 1}; got {factors!r}; pass such as (0, 1)."
            )
        locations = pd.DataFrame(latent[:, chosen], columns=["x", "y"])
        places = locations.assign(label=read_labels(X, y, len(latent)))
        display = cls(map=places, factors=(chosen[0], chosen[1]), label_name=_name_of(y))
        display.plot(ax)
        return display

    def _draw(self, ax: Axes) -> Axes:
        self._draw_points(ax)
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.set_xlabel(f"factor {self.factors[0]}")
        ax.set_ylabel(f"factor {self.factors[1]}")
        return ax


def _name_of(y: Any) -> str:
    """Return the name of a column or series, "y" for what has none."""
    return str(y if isinstance(y, str) else getattr(y, "name", None) or "y")


def _divergence(latent: np.ndarray, labels: np.ndarray) -> float:
    """Return how far the classes are apart; NaN if there are not at least two."""
    if is_scale(labels) or len(set(labels[~pd.isna(labels)])) < 2:
        return float("nan")
    return average_divergence(class_topic_distribution(latent, labels))
