"""The JSON endpoints under requests made up from their own description: all are answered as described, none is a fault.

It is a short run; the benchmark `fuzz` is the long one.
"""

from __future__ import annotations

import pytest

from harmonium import ModelFolder
from harmonium.explore import Settings, make_app
from tests.cases.explore import fuzzed

pytest.importorskip("schemathesis", reason="schemathesis is not installed")


def test_made_up_requests_are_answered_as_described(rooms: ModelFolder) -> None:
    found = fuzzed(make_app(rooms, Settings(pages=False)), n_examples=4)
    assert len(found) == len({(method, path) for method, path, _ in found}) * 2
    assert sum(sum(statuses.values()) for statuses in found.values()) > 60
    assert {status for statuses in found.values() for status in statuses} <= {200, 400, 404, 405, 414, 422}
