"""The same as `weak_pasted` on candidates that know nothing of objects: some 200 proposals of merged segments.

The proposals are those of `features/proposals.py`, after selective search. Methods, features, beginning, development
part, losses and tests are those of `weak_pasted`.
"""

from __future__ import annotations

from types import SimpleNamespace

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.weak_pasted import PROPOSALS, compared

BENCHMARK = Benchmark(
    title="Weakly supervised detection among proposals",
    claim="the same among 200 proposals of merged segments",
    minutes=15,
    first_minutes=8,
    data=("shapes", "caltech4"),
    settings={"splits": 5, "beginnings": 2, "processes": 2, "resume": False},
)


def run(options: SimpleNamespace) -> Result:
    """Compare the methods on proposals."""
    return compared([PROPOSALS], options)
