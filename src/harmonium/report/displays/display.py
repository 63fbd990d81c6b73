"""The base of all displays: a figure to draw in, colours that everyone can tell apart, heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harmonium.core.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

# chosen by Okabe and Ito (2008) to be told apart by colour-blind people too; yellow is hard to see on white
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P")
LINES = ("-", "--", ":", "-.")
HATCHES = ("", "///", "...", "xxx")
# cells that show their number, ticks and letters of a name, at most: what is still readable at the sizes used here
_MOST_NUMBERS = 160
_MOST_TICKS = 30
_LONGEST_NAME = 26


class Display:
    """Base of the displays: data, and a way to draw them.

    A notebook shows a display as its picture. A subclass is a data class with a method ``_draw(ax)``, which draws its
    data and returns the axes it drew in.

    Attributes
    ----------
    figure_ : Figure
        The figure that was drawn last.
    ax_ : Axes or ndarray of Axes
        The axes of that figure.

    Examples
    --------
    >>> class Line(Display):
    ...     def _draw(self, ax):
    ...         ax.plot([0, 1], [0, 1])
    ...         return ax
    >>> type(Line().plot()).__name__
    'Figure'
    """

    figure_: Figure
    ax_: Any

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the display.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw in. By default it is a new figure, which no window shows; save it with its ``savefig``.

        Returns
        -------
        Figure
            The figure, also kept in ``figure_``.
        """
        require_matplotlib()
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure

        if ax is None:
            ax = Figure(figsize=self._size(), layout="constrained").subplots()
        elif not isinstance(ax, Axes):
            raise TypeError(f"ax must be matplotlib Axes; got {type(ax).__name__}; pass one of those subplots() gave.")
        self.ax_ = self._draw(ax)
        # the outer one of a figure within a figure
        self.figure_ = ax.figure.figure
        return self.figure_

    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure, in inches."""
        return 6.4, 4.4

    def _draw(self, ax: Axes) -> Any:
        """Draw, and return the axes that were drawn in."""
        raise NotImplementedError

    def _repr_png_(self) -> bytes:
        from io import BytesIO

        content = BytesIO()
        (self.figure_ if hasattr(self, "figure_") else self.plot()).savefig(content, format="png")
        return content.getvalue()


def require_matplotlib() -> None:
    """Refuse to continue without matplotlib, before anything long is computed."""
    require("matplotlib", "A display")


def shortened(name: Any, longest: int = _LONGEST_NAME) -> str:
    """Return a name that leaves room for the picture.

    Examples
    --------
    >>> shortened("talk.politics.guns", longest=10)
    'talk.poli…'
    """
    text = str(name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def style(number: int, kinds: tuple[str, ...]) -> tuple[str, str]:
    """Return a colour and one of other marks; the mark changes when all colours have been used.

    Examples
    --------
    >>> style(0, MARKERS), style(7, MARKERS)
    (('#0072B2', 'o'), ('#0072B2', '^'))
    """
    return COLOURS[number % len(COLOURS)], kinds[number // len(COLOURS) % len(kinds)]


def heat_map_size(table: pd.DataFrame) -> tuple[float, float]:
    """Return the size of a figure for a heat map."""
    rows, columns = table.shape
    cell = 0.45 if table.size <= _MOST_NUMBERS else 0.2
    return float(np.clip(3.2 + cell * columns, 5, 14)), float(np.clip(1.6 + 0.3 * rows, 2.6, 14))


def divisible_cell(ax: Axes) -> SubplotSpec:
    """Return the cell of some axes, whose panel is taken away, to be divided into several."""
    cell = ax.get_subplotspec()
    if cell is None:
        raise ValueError("ax must have a place that can be divided; got free axes; pass one that subplots() gave.")
    ax.set_axis_off()
    return cell


def sparse_ticks(ax: Axes, names: pd.Index, most: int = _MOST_TICKS) -> None:
    """Name the positions 0, 1, 2, … of the horizontal axis, but only as many of them as there is room for."""
    step = -(-len(names) // most)
    ax.set_xticks(range(0, len(names), step), [str(name) for name in names[::step]])


def heat_map(ax: Axes, table: pd.DataFrame, label: str, form: str, signed: bool = False) -> None:
    """Draw a table as colours, with numbers in the cells if they are few; the darkest cell is the largest.

    Parameters
    ----------
    ax : Axes
        Axes to draw in.
    table : DataFrame
        Numbers. Negative ones have the colour of 0 unless ``signed``.
    label : str
        What the numbers are.
    form : str
        Format of the numbers, such as ".2f".
    signed : bool, default=False
        Whether negative numbers have another colour, as dark as that of positive ones of the same size.
    """
    values = table.to_numpy(dtype=float)
    top = max(float(np.nanmax(np.abs(values) if signed else values, initial=0.0)), 1e-12)
    picture = ax.imshow(
        values,
        cmap="RdBu" if signed else "Blues",
        vmin=-top if signed else 0,
        vmax=top,
        aspect="auto",
        interpolation="nearest",
    )
    sparse_ticks(ax, table.columns)
    ax.set_yticks(range(table.shape[0]), [shortened(name) for name in table.index])
    ax.tick_params(labelsize=8, length=0)
    ax.set_xlabel(str(table.columns.name))
    ax.set_ylabel(str(table.index.name))
    if table.size <= _MOST_NUMBERS:
        for (row, column), value in np.ndenumerate(values):
            colour = "white" if (abs(value) if signed else value) > 0.6 * top else "black"
            text = "" if np.isnan(value) else format(value, form)
            ax.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    ax.figure.colorbar(picture, ax=ax, label=label)
