"""Accessibility of pages and reports, as axe-core judges them, in light and dark.

Skipped where no browser starts, or axe is missing (`axe-playwright-python`, which brings axe-core).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from harmonium import ModelFolder
from harmonium.explore import make_app
from harmonium.report import render_report, summarise

axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
ADDRESS = "http://explorer"
# what WCAG 2.2 demands at its second level
_RUN = """async (tags) => (await axe.run({runOnly: tags})).violations.flatMap((found) =>
    found.nodes.map((node) => `${found.id}: ${node.target} ${node.failureSummary}`))"""
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(scope="module")
def answers(rooms: ModelFolder) -> Any:
    """Something that answers requests of a browser: the explorer, and a report, without a server."""
    client = TestClient(make_app(rooms), base_url=ADDRESS)
    report = render_report(summarise(rooms))

    def answer(route: Any) -> None:
        if route.request.url == f"{ADDRESS}/report.html":
            route.fulfill(body=report, content_type="text/html; charset=utf-8")
        else:
            found = client.get(route.request.url)
            route.fulfill(status=found.status_code, body=found.content, content_type=found.headers["content-type"])

    return answer


@pytest.mark.parametrize(
    ("scheme", "paths"),
    [
        ("light", ["/#column:kind=good", "/topics", "/topics/0", "/columns/2", "/table?q=clean", "/items/1"]),
        ("light", ["/search?q=dirty", "/annotate?column.review=clean", "/report.html"]),
        ("dark", ["/#column:kind=good", "/report.html"]),
    ],
)
def test_axe_finds_nothing(browser: Any, answers: Any, scheme: str, paths: list[str]) -> None:
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    found = []
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    context.route("**/*", answers)
    page = context.new_page()
    for path in paths:
        page.goto(ADDRESS + path)
        if path.startswith("/#"):
            page.wait_for_selector("#map[data-ready]")
        page.evaluate(script)
        found += [f"{path}: {violation}" for violation in page.evaluate(_RUN, _TAGS)]
    context.close()
    assert found == []
