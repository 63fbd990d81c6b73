"""Rules of the house, read off the syntax tree: who may ask which part it is, and how modules introduce themselves.

A part (family, hidden layer, head, objective, driver, …) or an array answers questions itself; code that asks for its
class has to be changed for every new one. Naming a part to make one is fine: recipes and defaults do. The docstring of
a module opens with what the module is or does, by the word that one would search for.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import harmonium
from harmonium.core.parts import Part
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.weak import DissimilarityClassifier, IterativeLatentSVM, LatentSVM

ESTIMATORS = [
    harmonium.Harmonium,
    harmonium.HarmoniumClassifier,
    harmonium.HarmoniumMultiOutput,
    harmonium.HarmoniumRegressor,
    LatentSVM,
    IterativeLatentSVM,
    DissimilarityClassifier,
]
SOURCE = Path(harmonium.__file__).parent

# words that gave away a part without naming it, and the folders that may use them
STAND_INS = {"log_variance": ("families",), "beta": ("hidden", "weak")}  # that of `weak` is another

# no title of a module: an indirect question hides the word that one would search for
QUESTION = re.compile(r"(What|Which|How|Where|Whether|When|Why|Who)\b")


def subclasses(kind: type) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


def guarded() -> dict[type, str]:
    """Classes that nobody else may ask for, and the folder each is at home in; bases that name a role are no parts."""
    parts = [part for part in subclasses(Part) if Part not in part.__bases__]
    homes = {part: part.__module__.split(".") for part in [*parts, SparseRows]}
    return {part: home[1] for part, home in homes.items() if home[0] == "harmonium"}


# a class that names a role is the abstract base of others
CONCRETE = [part for part in guarded() if "role" not in vars(part) and hasattr(part, "settings")]


def is_type_of(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def classes_asked_for(node: ast.AST) -> Iterator[tuple[str, str]]:
    """How classes are asked for, and their names."""
    how, named = "", []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        how, named = node.func.id, node.args[1:]
    elif isinstance(node, ast.Compare) and any(map(is_type_of, [node.left, *node.comparators])):
        how, named = "type() is", [side for side in [node.left, *node.comparators] if not is_type_of(side)]
    elif isinstance(node, ast.MatchClass):
        how, named = "case", [node.cls]
    for leaf in (leaf for expression in named for leaf in ast.walk(expression)):
        if isinstance(leaf, ast.Name):
            yield how, leaf.id
        elif isinstance(leaf, ast.Attribute):
            yield how, leaf.attr


def stand_ins(node: ast.AST, folder: str) -> Iterator[str]:
    """Other ways to find out."""
    if isinstance(node, ast.Compare):
        for side in [node.left, *node.comparators]:
            if isinstance(side, ast.Attribute) and side.attr == "__name__" and is_type_of(side.value):
                yield "type().__name__ compared"
    elif isinstance(node, ast.Attribute) and node.attr == "ordered":
        yield ".ordered"
    elif isinstance(node, ast.Constant) and node.value in STAND_INS and folder not in STAND_INS[node.value]:
        yield f'"{node.value}"'
    elif isinstance(node, ast.Call) and ast.unparse(node).endswith(".endswith('.weights')"):
        yield '.endswith(".weights")'


def violations(code: str, folder: str, meant: Mapping[str, object] = {}) -> Iterator[str]:
    """What a file of a folder asks; ``meant`` are the names it knows, as it may have a class of the same name."""
    classes = guarded()
    names = {kind.__name__: kind for kind in classes} | dict(meant)
    for node in ast.walk(ast.parse(code)):
        for how, name in classes_asked_for(node):
            kind = names.get(name)
            if isinstance(kind, type) and classes.get(kind, folder) != folder:
                yield f"{how} {name}"
        yield from stand_ins(node, folder)


def found() -> set[str]:
    everything = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        dotted = [part for part in place.with_suffix("").parts if part != "__init__"]
        module = importlib.import_module(".".join(["harmonium", *dotted]))
        everything |= {
            f"{place.as_posix()}: {what}" for what in violations(path.read_text(), place.parts[0], vars(module))
        }
    return everything


def test_nobody_asks_which_part_it_is() -> None:
    assert sorted(found()) == []


@pytest.mark.parametrize("kind", [*CONCRETE, *ESTIMATORS], ids=lambda kind: kind.__name__)
def test_every_setting_is_declared_once(kind: type) -> None:
    """What a setting may be is said in one place, and nothing is accepted and ignored."""
    assert set(kind.settings) == set(kind._get_param_names())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("isinstance(family, Bernoulli)", "isinstance Bernoulli"),
        ("isinstance(family, (int, families.Chain))", "isinstance Chain"),
        ("issubclass(kind, int | SparseRows)", "issubclass SparseRows"),
        ("type(layer) is IBP", "type() is IBP"),
        ("type(layer) in (int, IBP)", "type() is IBP"),
        ("match x:\n    case Gaussian():\n        pass", "case Gaussian"),
        ("type(family).__name__ == 'Chain'", "type().__name__ compared"),
        ("family.ordered", ".ordered"),
        ("own['log_variance']", '"log_variance"'),
        ("name.endswith('.weights')", '.endswith(".weights")'),
    ],
)
def test_every_way_of_asking_is_found(code: str, what: str) -> None:
    assert list(violations(code, "report")) == [what]


def test_making_a_part_asking_for_a_role_and_being_at_home_are_fine() -> None:
    asked = "isinstance(family, Family)\nGaussian()\ntype(a) is type(b)\nf'{type(family).__name__}'"
    assert list(violations(asked, "report")) == []
    assert list(violations("isinstance(family, Gaussian), own['log_variance']", "families")) == []


def test_classes_of_the_same_name_are_told_apart() -> None:
    assert list(violations("isinstance(chain, Chain)", "training", {"Chain": int})) == []


# ---- docstrings of modules -------------------------------------------------------------------------------------------
def opening(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def asking() -> dict[str, str]:
    """Modules whose docstrings open with a question, and the questions."""
    files = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".pyi")]
    openings = {path.relative_to(SOURCE).as_posix(): opening(path) for path in files}
    return {name: line for name, line in sorted(openings.items()) if QUESTION.match(line)}


def test_modules_say_what_they_are() -> None:
    assert not asking(), "open with a noun phrase or a verb"


@pytest.mark.parametrize("line", ["What a driver is given.", "Whether chains have converged.", "How recipes are made."])
def test_questions_are_found(line: str) -> None:
    assert QUESTION.match(line) and not QUESTION.match("Whichever way rows lie: an index.")


# names of our own for what the field has a word for; `docs/glossary.md` has the words
BANNED = (
    "brood|cell_by_cell|circumstances|footing|leaning|levelled|level_rows|look_at_all|nursery|optimiser|resemblance"
    "|rewind|tell_of_\\w+|touched|direct path"
)


def test_the_fields_words_are_used() -> None:
    banned = re.compile(rf"\b({BANNED})\b", re.IGNORECASE)
    uses = {
        f"{path.relative_to(SOURCE)}:{number}": line.strip()
        for path in sorted(SOURCE.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if banned.search(line)
    }
    assert not uses


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_estimator_can_be_taken_in_at_a_glance(kind: type) -> None:
    """What is rarely asked is a function in `harmonium.inspection` or `harmonium.report`."""
    assert len([name for name in dir(kind) if not name.startswith("_")]) <= 40
