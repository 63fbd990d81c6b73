"""The explorer's map in a real browser: frames a second while panning and zooming, and the time of a lasso.

Our script writes points into the pixels of a canvas. Rivals are the two libraries whose scripts come in a PyPI package:
plotly's ``scattergl`` and bokeh's scatter, by WebGL and by canvas. Every frame moves or scales the picture; the next
begins when the browser has shown it, so no more than 60 a second are possible.
"""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.internals import Contents
from benchmarks.measuring import median
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, ModelFolder, Stochastic

BENCHMARK = Benchmark(
    title="The map of the explorer with many points",
    claim="frames a second of the explorer's map with 100,000 points against plotly and bokeh; the time of a lasso",
    minutes=4,
    settings={"points": 100_000, "frames": 20, "rounds": 2},
    quick={"points": 2000, "frames": 5, "rounds": 1},
)
WIDTH, HEIGHT = 1100, 800

_LOOP = """async ([frames, step]) => {
    const move = eval(step), shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    await shown();
    const begin = performance.now();
    for (let frame = 0; frame < frames; frame++) { await move(frame); await shown(); }
    return frames / (performance.now() - begin) * 1000;
}"""
_OURS = "(frame) => frame % 3 ? window.harmoniumMap.pan(5, 3) : window.harmoniumMap.zoom(1.03)"
_PLOTLY = """(frame) => { const by = 0.01 * frame;
    return Plotly.relayout('plot', {'xaxis.range': [-1 + by, 1 + by], 'yaxis.range': [-1 + by, 1 - by]}); }"""
_BOKEH = """(frame) => { const [plot] = Bokeh.documents[0].roots(), by = 0.01 * frame;
    plot.x_range.setv({start: -1 + by, end: 1 + by}); plot.y_range.setv({start: -1 + by, end: 1 - by}); }"""
_LASSO = """() => { const map = window.harmoniumMap;
    const turn = Array.from({length: 200}, (_, step) => step / 100 * Math.PI);
    const corners = turn.map((angle) => [32768 + 25000 * Math.cos(angle), 32768 + 25000 * Math.sin(angle)]);
    const begin = performance.now(), found = map.cloud.inside(corners);
    return [performance.now() - begin, found.length]; }"""


def run(options: SimpleNamespace) -> Result:
    """Open all pages in one browser, and let them move in turns."""
    from playwright.sync_api import sync_playwright

    places, kinds = _points(options.points)
    pages = {"bokeh, WebGL": _bokeh_page(places, kinds, "webgl"), "bokeh, canvas": _bokeh_page(places, kinds, "canvas")}
    pages["plotly, scattergl"] = _plotly_page(places, kinds)
    steps = {"explorer": _OURS, "plotly, scattergl": _PLOTLY, "bokeh, WebGL": _BOKEH, "bokeh, canvas": _BOKEH}
    frames: dict[str, list[float]] = {name: [] for name in steps}
    with _served(_folder(places, kinds)) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = {name: _opened(chromium, html) for name, html in pages.items()}
        ours = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        ours.goto(f"{address}#density=no")
        ours.wait_for_selector("#map[data-ready]", timeout=600_000)
        opened["explorer"] = ours
        for _ in range(options.rounds):
            for name, step in steps.items():
                opened[name].bring_to_front()
                frames[name].append(opened[name].evaluate(_LOOP, [options.frames, step]))
        ours.bring_to_front()
        lasso = [ours.evaluate(_LASSO) for _ in range(options.rounds)]
        drawing = median(ours.evaluate("window.harmoniumMap.frames"))
        chromium.close()
    result = Result()
    result.table(
        "frames",
        {"drawn by": None, "frames a second": "{:.1f}"},
        [[name, median(values)] for name, values in frames.items()],
    )
    result.text(
        f"Of {options.points:,} points; median of {options.rounds} rounds of {options.frames} frames in turns, in "
        f"headless chromium of {WIDTH} × {HEIGHT} pixels without a graphics card, where WebGL runs on the processor. A "
        f"frame of the explorer takes {drawing:.1f} ms to draw. A lasso of 200 corners around {lasso[0][1]:,} points "
        f"takes {median([seconds for seconds, _ in lasso]):.0f} ms."
    )
    return result


def _points(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 8, n)
    centres = rng.uniform(-0.7, 0.7, size=(8, 2))
    return np.clip(centres[kinds] + 0.12 * rng.normal(size=(n, 2)), -1, 1).astype(np.float32), kinds


def _folder(places: np.ndarray, kinds: np.ndarray) -> ModelFolder:
    """Return a folder with a map that is given, which costs nothing to draw."""
    items = pd.DataFrame({"x": places[:, 0], "y": places[:, 1], "kind": [f"kind {number}" for number in kinds]})
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=1), random_state=0).fit(items[:500], "kind")
    coordinates = np.random.default_rng(1).random((len(items), 2), dtype=np.float32)
    return ModelFolder("points", Contents(model, items, coordinates, coordinates, places, ["kind"]))


@contextmanager
def _served(folder: ModelFolder) -> Iterator[str]:
    import uvicorn

    from harmonium.explore import make_app

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(make_app(folder), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def _opened(chromium: Any, html: str) -> Any:
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(html, timeout=600_000)
    page.wait_for_timeout(3000)
    return page


def _plotly_page(places: np.ndarray, kinds: np.ndarray) -> str:
    import plotly.graph_objects as go

    marks = {"size": 3, "color": kinds.tolist(), "colorscale": "Viridis"}
    figure = go.Figure(go.Scattergl(x=places[:, 0].tolist(), y=places[:, 1].tolist(), mode="markers", marker=marks))
    figure.update_layout(width=900, height=700, hovermode=False)
    return str(figure.to_html(include_plotlyjs=True, div_id="plot"))


def _bokeh_page(places: np.ndarray, kinds: np.ndarray, backend: str) -> str:
    from bokeh.embed import file_html
    from bokeh.palettes import Category10
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    plot = figure(width=900, height=700, output_backend=backend, x_range=(-1, 1), y_range=(-1, 1))
    colours = np.array(Category10[8])[kinds]
    plot.scatter(places[:, 0], places[:, 1], size=3, color=colours, line_color=None)
    return str(file_html(plot, INLINE, "points"))
