"""Small drawings whose content is known, with tags."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from harmonium.datasets._base import checked_generator

_SIDE = 32
_DAY, _NIGHT = ("#9fd0f5", "#c9e6ff", "#f7e3b0"), ("#0c1445", "#1b1b3a", "#2a1a4a")
# Tags of each kind of drawing; a few others go with day and night.
_TAGS = {
    "sun": ("sun", "sky", "warm", "round"),
    "moon": ("moon", "sky", "crescent", "round"),
    "tree": ("tree", "plant", "forest", "green"),
    "house": ("house", "building", "home", "roof"),
    "boat": ("boat", "water", "vehicle", "sail"),
    "flower": ("flower", "plant", "garden", "petals"),
    "fish": ("fish", "water", "animal", "sea"),
    "cloud": ("cloud", "sky", "weather", "rain"),
    "car": ("car", "vehicle", "wheels", "street"),
    "mountain": ("mountain", "landscape", "snow", "hiking"),
}
_KEPT = 0.8  # how often somebody thought of a tag


class _Canvas:
    """A square picture that shapes are painted on; places go from -1 to 1, y upwards."""

    def __init__(self, rng: np.random.Generator, colour: str) -> None:
        self.rng = rng
        y, x = np.mgrid[1 : -1 : _SIDE * 1j, -1 : 1 : _SIDE * 1j]
        # everything is drawn a little to the side, and larger or smaller
        shift, scale = rng.uniform(-0.2, 0.2, size=2), rng.uniform(0.75, 1.1)
        self.x, self.y = (x - shift[0]) / scale, (y - shift[1]) / scale
        self.pixels = np.empty((_SIDE, _SIDE, 3))
        self.paint(np.ones_like(x, dtype=bool), colour)

    def paint(self, where: np.ndarray, colour: str) -> None:
        """Paint some pixels in a shade of a colour."""
        shade = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)])
        self.pixels[where] = np.clip(shade + self.rng.normal(0, 12, size=3), 0, 255)

    def disc(self, x: float, y: float, radius: float, colour: str) -> None:
        """Paint a disc."""
        self.paint(np.hypot(self.x - x, self.y - y) < radius, colour)

    def box(self, left: float, right: float, bottom: float, top: float, colour: str) -> None:
        """Paint a rectangle."""
        self.paint((self.x > left) & (self.x < right) & (self.y > bottom) & (self.y < top), colour)

    def triangle(self, x: float, half: float, bottom: float, top: float, colour: str) -> None:
        """Paint a triangle that stands on its base."""
        height = (self.y - bottom) / (top - bottom)
        self.paint((height > 0) & (np.abs(self.x - x) < half * (1 - height)), colour)


def _sun(canvas: _Canvas) -> None:
    angle = np.arctan2(canvas.y, canvas.x)
    canvas.paint((np.cos(8 * angle) > 0.6) & (np.hypot(canvas.x, canvas.y) < 0.85), "#f9c22e")
    canvas.disc(0, 0, 0.5, "#fdb813")


def _moon(canvas: _Canvas) -> None:
    bite = np.hypot(canvas.x - 0.3, canvas.y - 0.15) > 0.5
    canvas.paint((np.hypot(canvas.x, canvas.y) < 0.65) & bite, "#f4f1c9")


def _tree(canvas: _Canvas) -> None:
    canvas.box(-0.12, 0.12, -0.8, 0.0, "#7a4a21")
    canvas.disc(0, 0.25, 0.5, "#2e8b3d")


def _house(canvas: _Canvas) -> None:
    canvas.box(-0.55, 0.55, -0.7, 0.1, "#d9b48f")
    canvas.triangle(0, 0.75, 0.1, 0.75, "#a8322d")
    canvas.box(-0.12, 0.12, -0.7, -0.25, "#5a3a22")


def _boat(canvas: _Canvas) -> None:
    canvas.box(-9, 9, -9, -0.45, "#1f6fb2")
    canvas.box(-0.6, 0.6, -0.55, -0.25, "#8a4b2a")
    canvas.triangle(0.05, 0.5, -0.2, 0.8, "#fbfbf5")


def _flower(canvas: _Canvas) -> None:
    canvas.box(-0.06, 0.06, -0.9, 0.1, "#3a9440")
    for turn in np.arange(6) * np.pi / 3:
        canvas.disc(0.35 * np.cos(turn), 0.25 + 0.35 * np.sin(turn), 0.24, "#e0559a")
    canvas.disc(0, 0.25, 0.2, "#f7d24a")


def _fish(canvas: _Canvas) -> None:
    canvas.box(-9, 9, -9, 9, "#2b86c5")
    canvas.paint((canvas.x / 0.6) ** 2 + (canvas.y / 0.35) ** 2 < 1, "#f28c38")
    canvas.paint((canvas.x > 0.45) & (canvas.x < 0.9) & (np.abs(canvas.y) < canvas.x - 0.45), "#f28c38")
    canvas.disc(-0.3, 0.1, 0.08, "#101010")


def _cloud(canvas: _Canvas) -> None:
    for x, y, radius in ((-0.4, 0, 0.3), (0.4, 0, 0.3), (0, 0.2, 0.42), (0, -0.05, 0.35)):
        canvas.disc(x, y, radius, "#eef1f5")


def _car(canvas: _Canvas) -> None:
    canvas.box(-9, 9, -9, -0.5, "#6d6d72")
    canvas.box(-0.8, 0.8, -0.35, 0.05, "#c62f38")
    canvas.box(-0.45, 0.4, 0.0, 0.4, "#d9463f")
    for x in (-0.45, 0.45):
        canvas.disc(x, -0.4, 0.2, "#151515")


def _mountain(canvas: _Canvas) -> None:
    canvas.triangle(-0.35, 0.8, -0.8, 0.6, "#77808c")
    canvas.triangle(0.4, 0.7, -0.8, 0.35, "#8d949e")
    canvas.triangle(-0.35, 0.22, 0.22, 0.6, "#fafcff")


_DRAW: dict[str, Callable[[_Canvas], None]] = {
    "sun": _sun,
    "moon": _moon,
    "tree": _tree,
    "house": _house,
    "boat": _boat,
    "flower": _flower,
    "fish": _fish,
    "cloud": _cloud,
    "car": _car,
    "mountain": _mountain,
}


def make_pictures(n_rows: int = 600, *, missing_views: float = 0.0, random_state: int = 0) -> Bunch:
    """Make drawings of ten things, such as boats and trees, with tags.

    Parameters
    ----------
    n_rows : int, default=600
        Number of drawings.
    missing_views : float, default=0.0
        Share of the drawings that lose their tags.
    random_state : int, default=0
        Seed. Equal seeds make equal drawings.

    Returns
    -------
    Bunch
        ``pictures``, uint8 of shape (n_rows, 32, 32, 3), red, green and blue; ``tags``, a float32 DataFrame of which
        drawing has which tag, 0 or 1, NaN throughout where a drawing has lost them. The truth: ``complete``, the tags
        before some were taken away; ``target``, the number of the thing that is drawn; ``target_names``, the things.
        ``DESCR`` says the same in a sentence.

    See Also
    --------
    load_emoji : Pictures that people have drawn and tagged.
    harmonium.features.images.colour_histogram : Colours of a picture, as a view.

    Examples
    --------
    >>> drawings = make_pictures(50)
    >>> drawings.pictures.shape, drawings.target_names[:3]
    ((50, 32, 32, 3), ['sun', 'moon', 'tree'])
    """
    rng = checked_generator("make_pictures", n_rows, random_state, missing_views=missing_views)
    names = list(_DRAW)
    things, dark = rng.integers(len(names), size=n_rows), rng.random(n_rows) < 0.3
    dark = np.where(things == names.index("moon"), True, dark & (things != names.index("sun")))
    vocabulary = sorted({tag for own in _TAGS.values() for tag in own} | {"day", "night"})
    complete = pd.DataFrame(np.zeros((n_rows, len(vocabulary)), dtype=np.float32), columns=vocabulary)
    pictures = np.empty((n_rows, _SIDE, _SIDE, 3), dtype=np.uint8)
    for row, (thing, is_dark) in enumerate(zip(things, dark, strict=True)):
        canvas = _Canvas(rng, str(rng.choice(_NIGHT if is_dark else _DAY)))
        _DRAW[names[thing]](canvas)
        pictures[row] = canvas.pixels
        own = (*_TAGS[names[thing]], "night" if is_dark else "day")
        complete.loc[row, [tag for tag in own if rng.random() < _KEPT]] = 1.0
    tags = complete.copy()
    tags.iloc[rng.permutation(n_rows)[: round(missing_views * n_rows)]] = np.nan
    return Bunch(
        pictures=pictures,
        tags=tags,
        complete=complete,
        target=things,
        target_names=names,
        DESCR="Made-up drawings of ten things by day or night, with the tags that somebody thought of.",
    )
