"""The explorer in a real browser: search, open a topic, annotate, lasso; by mouse and by keyboard.

Skipped where no browser starts (see ``conftest.py``).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harmonium import ModelFolder
from harmonium.explore import Settings, make_app
from harmonium.explore.site import write_site
from tests.cases.explore import SCRIPT


@pytest.fixture(scope="module")
def address(rooms: ModelFolder) -> Iterator[str]:
    import socket

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(rooms, Settings()), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on which every complaint of the browser is an error: a script that fails, what the policy forbids."""
    opened = browser.new_page(viewport={"width": 1100, "height": 800})
    opened.set_default_timeout(60_000)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield opened
    opened.close()
    assert complaints == []


def test_search_by_words_shows_items_and_marks_them(page: Any, address: str) -> None:
    page.goto(address)
    page.get_by_role("searchbox").fill("dirty rude")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=dirty+rude")
    found = page.locator("#results li")
    assert found.count() == 20
    assert found.first.locator(".tag").inner_text() == "kind bad"
    found.first.get_by_role("link").click()
    page.wait_for_url("**/items/*")
    assert page.get_by_role("heading", name="Why this prediction").is_visible()


def test_a_topic_opens_and_colours_the_map(page: Any, address: str) -> None:
    page.goto(f"{address}/topics")
    page.locator("article h3 a").first.click()
    page.wait_for_url("**/topics/*")
    assert page.get_by_role("heading", name="Typical items").is_visible()
    page.get_by_role("link", name="Colour the map by this topic").click()
    page.wait_for_selector("#map[data-ready]")
    assert page.locator("#colour").input_value().startswith("topic:")
    assert page.locator("#legend .scale").is_visible()


def test_annotate_predicts_and_shows_tags(page: Any, address: str) -> None:
    page.goto(f"{address}/annotate")
    page.get_by_label("review").fill("clean quiet view")
    page.get_by_role("button", name="Annotate").click()
    assert page.locator("#prediction b").inner_text() == "good"
    assert page.get_by_role("cell", name="dear", exact=True).first.is_visible()


def test_lasso_selects_what_it_is_drawn_around(page: Any, address: str, rooms: ModelFolder) -> None:
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")
    page.get_by_role("button", name="Lasso").click()
    good = [row for row, kind in enumerate(rooms.items["kind"]) if kind == "good"]
    corners = page.evaluate(
        """(rows) => {
            const map = window.harmoniumMap, box = map.canvas.getBoundingClientRect();
            const places = rows.map((row) => map.pixelOf(row).map((value) => value / map.ratio));
            const [xs, ys] = [0, 1].map((side) => places.map((place) => place[side]));
            const ends = [Math.min(...xs) - 6, Math.min(...ys) - 6, Math.max(...xs) + 6, Math.max(...ys) + 6];
            return ends.map((value, side) => value + (side % 2 ? box.top : box.left));
        }""",
        good,
    )
    left, top, right, bottom = corners
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 1)):
        page.mouse.move(x, y, steps=3)
    page.mouse.up()
    page.get_by_text("items selected").wait_for()
    page.get_by_text("good: 100 %").wait_for()
    picked = page.evaluate("Array.from(window.harmoniumMap.cloud.picked)")
    # both kinds lie apart on the map, so that a box around one of them holds nothing else
    assert [row for row, chosen in enumerate(picked) if chosen] == good
    assert page.locator(".differences").get_by_text("clean").is_visible()
    with page.expect_download() as download:
        page.locator("#selection").get_by_role("link", name="CSV").click()
    assert pd.read_csv(download.value.path())["row"].tolist() == good


def test_a_view_is_kept_in_the_address(page: Any, browser: Any, address: str, rooms: ModelFolder) -> None:
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")
    page.locator("#filter").select_option("column:price")
    page.get_by_label("price to").fill("60")
    page.get_by_label("price to").press("Enter")
    cheap = int((rooms.items["price"] <= 60).sum())
    page.get_by_text(f"{cheap} items selected").wait_for()
    page.get_by_role("button", name="bad").click()
    page.locator("#map").focus()
    page.keyboard.press("+")
    page.wait_for_url("**/#*view=*")
    picked, look = "Array.from(window.harmoniumMap.cloud.picked)", "window.harmoniumMap.looksAt()"
    here = page.evaluate(picked), page.evaluate(look)
    assert here[0] == [int(price <= 60 and kind == "bad") for price, kind in rooms.items[["price", "kind"]].to_numpy()]
    other = browser.new_page(viewport={"width": 1100, "height": 800})
    other.goto(page.url)
    other.get_by_text("items selected").wait_for()
    assert other.evaluate(picked) == here[0]
    assert other.evaluate(look) == pytest.approx(here[1], rel=1e-3)
    other.get_by_role("link", name="Table").last.click()  # the table of the selection
    other.wait_for_url("**/table?*")
    assert other.locator("tbody tr").count() == sum(here[0])
    other.close()


def test_both_ends_of_a_range_are_typed_one_after_the_other(page: Any, address: str, rooms: ModelFolder) -> None:
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")
    page.locator("#filter").select_option("column:price")
    page.get_by_label("price from").focus()
    for keys in ("3", "0", "Tab"):
        page.keyboard.press(keys)
    page.get_by_text(f"{int((rooms.items['price'] >= 30).sum())} items selected").wait_for()
    for keys in ("6", "0", "Enter"):
        page.keyboard.press(keys)
    between = int(rooms.items["price"].between(30, 60).sum())
    page.get_by_text(f"{between} items selected").wait_for()
    assert [page.get_by_label(f"price {end}").input_value() for end in ("from", "to")] == ["30", "60"]
    # the focus stays where it is while the filter is drawn anew
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "price to"


def test_a_density_is_drawn(page: Any, address: str) -> None:
    page.goto(f"{address}/#density=yes")
    page.wait_for_selector("#map[data-ready]")
    assert page.get_by_role("button", name="Density").get_attribute("aria-pressed") == "true"
    page.wait_for_function("new Set(window.harmoniumMap.pixels).size > 50")  # shades, where points have ten colours


def test_a_site_needs_no_server(page: Any, rooms: ModelFolder, tmp_path: Path) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a review could open a dialog: {dialog.message}"))
    write_site(rooms, tmp_path / "site")
    page.goto(f"file://{tmp_path}/site/index.html")
    page.wait_for_selector("#map[data-ready]")
    page.get_by_role("button", name="good").click()
    page.get_by_text("40 items selected").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    found = json.loads(Path(download.value.path()).read_text())
    assert [entry["row"] for entry in found] == np.flatnonzero(rooms.items["kind"] == "good").tolist()
    page.get_by_role("button", name="Clear").click()
    page.evaluate("window.harmoniumMap.tell('open', 0)")
    page.get_by_text(SCRIPT).first.wait_for()  # as text
    page.get_by_role("link", name="Topics").click()
    page.locator("article h3 a").first.click()
    page.get_by_role("link", name="Colour the map by this topic").click()
    page.wait_for_selector("#map[data-ready]")
    assert page.locator("#colour").input_value().startswith("topic:")


def test_the_map_is_used_by_keyboard(page: Any, address: str, rooms: ModelFolder) -> None:
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")
    before = page.evaluate("window.harmoniumMap.view.scale")
    page.locator("#map").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("window.harmoniumMap.view.scale") == pytest.approx(1.4 * before)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    page.get_by_text(f"{len(rooms)} items selected").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("items selected").wait_for(state="detached")


def test_pages_fit_a_small_screen(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    for path in (
        "/",
        "/topics",
        "/topics/0",
        "/items/1",
        "/search?q=dirty",
        "/columns",
        "/columns/2",
        "/table",
        "/annotate?column.review=clean",
    ):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_a_script_in_a_review_is_not_run(page: Any, address: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a review could open a dialog: {dialog.message}"))
    for path in ("/items/0", "/search?like=2", "/topics"):
        page.goto(address + path)
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")
    page.get_by_role("button", name="bad").click()
    page.get_by_text("Most typical").wait_for()
    page.evaluate("location.href = '/#item=0'")
