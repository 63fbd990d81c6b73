"""Sentences of the library in the words of commands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harmonium
from harmonium.cli.sentences import _REMEDIES, for_commands, names_python

SOURCE = Path(harmonium.__file__).parent
LIBRARY = [path for path in SOURCE.rglob("*.py") if path.parent.name != "cli" and "weak" not in path.parts]
# what an f-string puts into a sentence
VALUE = "3"


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or VALUE for part in node.values)
    return None


def sentences() -> Iterator[str]:
    """Yield what the library says when it raises or gives a notice."""
    for path in LIBRARY:
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and (name.endswith("Error") or name == "notice") and node.args:
                text = _text(node.args[0])
                if text is not None and "; " in text:
                    yield text


def test_no_command_tells_to_write_python() -> None:
    found = list(sentences())
    assert len(found) > 300 and sum(names_python(one.rsplit("; ", 1)[-1]) for one in found) > 100
    for sentence in found:
        said = for_commands(sentence)
        assert not names_python(said.rsplit("; ", 1)[-1]), said
        assert said[-1] == sentence[-1] or said.endswith("or see --help."), said


@pytest.mark.parametrize("remedy", _REMEDIES)
def test_remedies_are_those_of_the_library(remedy: str) -> None:
    assert not names_python(_REMEDIES[remedy])
    said = (_text(node) for path in LIBRARY for node in ast.walk(ast.parse(path.read_text())))
    assert any(text is not None and remedy in text for text in said), "the library no longer says so"


def test_what_names_no_python_stays() -> None:
    for sentence in (
        "--role takes COLUMN=ROLE, as in year=category; got 'x'; correct it.",
        "A data file must have an ending; got 'a_b'; rename or convert it.",
        "y has 60 classes in 60 rows; is 'sample_weight' a name?",
    ):
        assert for_commands(sentence) == sentence
