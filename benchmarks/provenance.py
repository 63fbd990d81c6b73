"""Code that a stored result was made by: the commit, and digests of the sources that the benchmark imports.

Imports are read from the syntax trees, so what only a function imports counts as well, and so do code that stands in a
string, what ``-m`` starts in another process, and all modules of a package of which one is imported by name. A digest
is of the syntax tree without docstrings, titles and expected times, so wording and formatting make no result stale.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = {"harmonium": ROOT / "src" / "harmonium", "benchmarks": ROOT / "benchmarks", "tests": ROOT / "tests"}
DIGITS = 12  # of a digest
# what runs benchmarks and stores results shapes no number, nor does the version that a release sets
RUNNER = {*(f"benchmarks.{name}" for name in ("registry", "results", "environment")), "harmonium._version"}
TOLD = {"title", "claim", "minutes", "first_minutes", "quick"}  # what a benchmark says of itself that shapes no number
SHOWN = 3  # changed packages that a sentence names


def commit() -> str:
    """Return the commit of this checkout, with "+" behind it if sources differ from it; "" outside a checkout."""
    changes = _git("status", "--porcelain", "--", "src", ":(glob)benchmarks/**/*.py")
    return _git("rev-parse", "--short=12", "HEAD") + "+" * bool(changes)


def sources(benchmark: str) -> dict[str, str]:
    """Return a digest of the code that a benchmark imports, for each package of the project."""
    packages: dict[str, list[str]] = {}
    for module in sorted(imported(f"benchmarks.{benchmark}")):
        packages.setdefault(".".join(module.split(".")[:2]), []).append(module)
    return {
        package: _hash("".join(f"{module} {_digest(module)}\n" for module in modules))
        for package, modules in packages.items()
    }


def state(result: Mapping[str, Any]) -> str:
    """Return "current", or why a stored result is not, in a few words."""
    if not result["sources"]:
        return "made before sources were recorded"
    now = sources(result["benchmark"])
    changed = sorted(name for name, digest in result["sources"].items() | now.items() if now.get(name) != digest)
    if not changed:
        return "current"
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return f"older than {', '.join(changed[:SHOWN])}{more}"


def lacking(benchmark: str) -> list[str]:
    """Return the packages that a benchmark imports, in functions too, and that are not installed."""
    modules = [module for module in imported(f"benchmarks.{benchmark}") if module.startswith("benchmarks.")]
    roots = {name.partition(".")[0] for module in modules for name in _foreign(module)}
    return sorted(name for name in roots if importlib.util.find_spec(name) is None)


def imported(module: str) -> set[str]:
    """Return a module of the project and all modules of the project that it imports, in functions too."""
    found, waiting = set[str](), [module]
    while waiting:
        if (name := waiting.pop()) not in found and name not in RUNNER:
            found.add(name)
            waiting += _imports(name)
    return found


def _imports(module: str) -> list[str]:
    """Return the modules of the project that one module imports, and the packages around it."""
    around = [module.rpartition(".")[0]] if "." in module else []
    return [name for name in (*around, *_named(module)) if _path(name)]


def _foreign(module: str) -> list[str]:
    """Return the modules that one module imports and that are not of the project."""
    return [name for name in _named(module) if name.partition(".")[0] not in PACKAGES]


@cache
def _named(module: str) -> list[str]:
    """Return the modules that the imports of one module name."""
    found = []
    for node in _nodes(_tree(module)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = _absolute(module, node)
            found += [_home(home, alias.name) for alias in node.names]
        elif isinstance(node, ast.List | ast.Tuple):
            words = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
            found += [f"{name}.__main__" for option, name in pairwise(words) if option == "-m"]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found += _modules_in(node.args[0])
    return found


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, and those of strings in it that are code with imports."""
    for node in ast.walk(tree):
        yield node
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            with suppress(SyntaxError):
                yield from ast.walk(ast.parse(node.value))


def _modules_in(name: ast.expr) -> list[str]:
    """Return the modules of the package that a name in parts, such as ``f"package.{name}"``, begins with."""
    first = name.values[0] if isinstance(name, ast.JoinedStr) else None
    package = str(first.value).rstrip(".") if isinstance(first, ast.Constant) else ""
    path = _path(package)
    return [f"{package}.{each.stem}" for each in sorted(path.parent.glob("*.py"))] if path else []


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """Return the module that a ``from`` names, whose dots begin at the one that imports."""
    path = _path(module)
    around = module.split(".") + ["__init__"] * (path is not None and path.stem == "__init__")
    above = around[: -node.level] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _home(module: str, name: str) -> str:
    """Return the module that ``from module import name`` reads, beside the packages around it."""
    if _path(f"{module}.{name}"):
        return f"{module}.{name}"
    return _public().get(name, module) if module == "harmonium" else module


@cache
def _public() -> dict[str, str]:
    """Return the module of each name that ``harmonium`` imports when it is asked for."""
    stub = ast.parse((PACKAGES["harmonium"] / "__init__.pyi").read_text())
    froms = (node for node in ast.walk(stub) if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in froms for alias in node.names}


@cache
def _digest(module: str) -> str:
    """Return the digest of a module's code."""
    tree = _tree(module)
    for body in _bodies(tree):
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body[0].value.value = ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Benchmark":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in TOLD]
    return _hash(ast.dump(tree))


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Return the bodies that may begin with a docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield node.body


@cache
def _tree(module: str) -> ast.Module:
    path = _path(module)
    return ast.parse(path.read_text() if path else "")


def _path(module: str) -> Path | None:
    """Return the file of a module of the project, or None."""
    package, *names = module.split(".")
    if package not in PACKAGES:
        return None
    stem = PACKAGES[package].joinpath(*names)
    paths = (stem / "__init__.py", stem.with_name(f"{stem.name}.py"))
    return next((path for path in paths if path.exists()), None)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _git(*arguments: str) -> str:
    try:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()
