"""The JSON endpoints under requests that schemathesis makes up from their OpenAPI description.

Half of the requests fit the description, half do not. Every answer must be one that is described, and of the described
form, with what does not fit refused; a fault of the server, or an answer that is not described, ends the run with the
request that shows it.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="Made-up requests to the explorer",
    claim="answers of all JSON endpoints to requests made up from their description: as described, no faults",
    minutes=2,
    settings={"examples": 50},
    quick={"examples": 2},
)


def run(options: SimpleNamespace) -> Result:
    """Ask every endpoint, with requests that fit and with such that do not."""
    from harmonium.explore import Settings, make_app
    from tests.cases.explore import fuzzed, small_folder

    with TemporaryDirectory() as place:
        found = fuzzed(make_app(small_folder(Path(place)), Settings(pages=False)), options.examples)
    rows = [
        [f"{method.upper()} {path}", mode.lower(), sum(statuses.values()), _listed(statuses)]
        for (method, path, mode), statuses in found.items()
        if statuses
    ]
    result = Result()
    columns = {"endpoint": None, "kind of request": None, "answers": "{:,.0f}", "by status": None}
    result.table("answers", columns, rows)
    total = sum(row[2] for row in rows)
    result.text(f"{total:,} requests; every answer was as described, and none was a fault of the server.")
    return result


def _listed(statuses: dict[int, int]) -> str:
    return ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
