"""Command line: ``python -m benchmarks list``, ``run NAME``, ``all``, ``check`` and ``render [--check] [--fresh]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import provenance, readme, registry, results, runner


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks, render their results.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what there is, with claim, expected time and data")
    run = commands.add_parser("run", help="run one benchmark; its settings are options", add_help=False)
    run.add_argument("name")
    every = commands.add_parser("all", help="run all benchmarks whose result is older than the code")
    _add_common(every)
    every.add_argument("--again", action="store_true", help="run those with a current result as well")
    every.add_argument("--plan", action="store_true", help="only print what would run, and for how long")
    commands.add_parser("check", help="say which results are older than the code they depend on")
    render = commands.add_parser("render", help="make the Markdown of all results and the tables of the READMEs")
    render.add_argument("--check", action="store_true", help="only say whether they are as they should be")
    render.add_argument("--fresh", action="store_true", help="refuse results that are older than their sources")
    given, rest = parser.parse_known_args(arguments)
    if given.command != "run" and rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        if given.command == "list":
            return show_all()
        if given.command == "run":
            return run_one(given.name, rest)
        if given.command == "all":
            return run_all(given.quick, given.output, again=given.again, only_plan=given.plan)
        if given.command == "check":
            return check_sources()
        if given.fresh and (stale := check_sources(only_stale=True)):
            return stale
        return check() if given.check else write_all()
    except (registry.UnknownBenchmark, runner.PlaceNeeded, results.InvalidResult, readme.UnknownPlace) as error:
        print(error, file=sys.stderr)
        return 1


def show_all() -> int:
    """Print name, expected time, data and claim of every benchmark."""
    found = {name: registry.load(name)[0] for name in registry.names()}
    rows = [("name", "takes", "data", "claim")]
    rows += [(name, one.takes, ", ".join(one.data) or "–", one.claim) for name, one in found.items()]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    for row in rows:
        print(*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1], sep="  ")
    return 0


def run_one(name: str, arguments: list[str]) -> int:
    """Run a benchmark with the settings that were given."""
    benchmark, _ = registry.load(name)
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks run {name}", description=benchmark.claim)
    _add_common(parser)
    if benchmark.long is not None:
        parser.add_argument("--long", action="store_true", help=f"hours, on demand: {dict(benchmark.long)}")
    for setting, standard in benchmark.settings.items():
        _add_setting(parser, setting, standard)
    given = vars(parser.parse_args(arguments))
    quick, output, long = given.pop("quick"), given.pop("output"), given.pop("long", False)
    if quick and benchmark.quick is None:
        parser.error("this benchmark has no quick mode")
    settings = dict((benchmark.quick if quick else benchmark.long if long else None) or {})
    settings |= {setting: value for setting, value in given.items() if value is not None}
    runner.run(name, settings, output)
    return 0


def run_all(quick: bool, output: Path | None, *, again: bool, only_plan: bool) -> int:
    """Run every benchmark that is due (with ``quick`` those that have a quick mode), and say which failed.

    Each has a process of its own, whose memory is its own. A result is stored as soon as it is there and is current
    from then on, so what was interrupted goes on where it was.
    """
    if quick and not output:
        raise runner.PlaceNeeded("These are not the standard settings; name a folder for the result with --output.")
    found = {name: registry.load(name)[0] for name in registry.names()}
    due = [name for name in found if (again or not is_current(name, output)) and not (quick and not found[name].quick)]
    minutes = {name: runner.expected_minutes(name) for name in due}
    failed = []
    for place, name in enumerate(due):
        left = round(sum(minutes[later] for later in due[place:]))
        print(f"{name}: {minutes[name]:.0f} min; from here on {left // 60} h {left % 60} min", flush=True)
        if lacks := provenance.lacking(name):
            print(f"{name} needs {', '.join(lacks)}, which is not installed.", file=sys.stderr)
            failed.append(name)
        elif not only_plan:
            options = ["--quick"] * quick + (["--output", str(output)] if output else [])
            run = subprocess.run([sys.executable, "-m", "benchmarks", "run", name, *options], cwd=provenance.ROOT)
            failed += [name] * bool(run.returncode)
    if failed:
        print(f"{'Cannot run' if only_plan else 'Failed'}: {', '.join(failed)}.", file=sys.stderr)
    return int(bool(failed))


def write_all() -> int:
    """Write every generated page."""
    for path, text in readme.pages().items():
        path.write_text(text)
    return 0


def check() -> int:
    """Say in one sentence which generated pages are not what the data give."""
    stale = [path.name for path, text in readme.pages().items() if not path.exists() or path.read_text() != text]
    stale += [path.name for path in results.FOLDER.glob("*.md") if path.stem not in results.names()]
    if stale:
        print(f"{', '.join(stale)} differ from the data; run `python -m benchmarks render`.", file=sys.stderr)
    return int(bool(stale))


def is_current(name: str, output: Path | None = None) -> bool:
    """Return whether a benchmark has a stored result of the code as it is."""
    return name in results.names(output) and provenance.state(results.read(name, output)) == "current"


def check_sources(*, only_stale: bool = False) -> int:
    """Print the state of every result (or of those that are not current), and return 1 if one is not current."""
    states = {
        name: provenance.state(results.read(name)) if name in results.names() else "never run"
        for name in registry.names()
    }
    shown = {name: state for name, state in states.items() if not only_stale or state != "current"}
    width = max(map(len, states))
    for name, state in shown.items():
        print(name.ljust(width), state, sep="  ", file=sys.stderr if only_stale else sys.stdout)
    return int(set(states.values()) != {"current"})


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it runs; needs --output")
    parser.add_argument("--output", type=Path, help="folder of results and figures (benchmarks/results)")


def _add_setting(parser: argparse.ArgumentParser, name: str, standard: Any) -> None:
    option, shown = f"--{name.replace('_', '-')}", f"standard: {standard}".replace("%", "%%")
    if isinstance(standard, bool):
        parser.add_argument(option, action=argparse.BooleanOptionalAction, default=None, help=shown)
    elif isinstance(standard, tuple):
        parser.add_argument(option, nargs="+", type=type(standard[0]), help=shown, action=_Tuple)
    else:
        parser.add_argument(option, type=type(standard), help=shown)


class _Tuple(argparse.Action):
    """Keep several values as a tuple, like the standard they replace."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, tuple(values))


if __name__ == "__main__":
    sys.exit(main())
