"""Cases that were once handled otherwise, and such as should stay as they are: answered, or refused in one sentence.

A case is a file in ``tests/corpus/KIND/answered`` or ``…/refused``, see `tests/cases/corpus.py`, and a new one needs no
more than that.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harmonium import ModelFolder
from tests.cases.corpus import CORPUS, KINDS, Place, check, served

CASES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def place(rooms: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served(rooms) as port:
        yield Place(tmp_path_factory.mktemp("corpus"), rooms, port)


@pytest.mark.parametrize("case", CASES)
def test_cases_are_answered_or_refused_in_a_sentence(case: str, place: Place) -> None:
    kind, outcome, name = case.split("/")
    assert check(kind, name, (CORPUS / case).read_bytes(), place) == outcome


def test_every_kind_has_cases_of_both_outcomes() -> None:
    found = {(kind, outcome) for kind, outcome, _ in (case.split("/") for case in CASES)}
    assert found == {(kind, outcome) for kind in KINDS for outcome in ("answered", "refused")}
