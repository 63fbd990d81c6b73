"""Build a section of the changelog from the fragments in `changes/`, and set the version."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADINGS = {name: name.capitalize() for name in ("added", "changed", "renamed", "refit", "fixed", "removed")}
HEADINGS["refit"] = "To fit again"
KEPT = ("README.md", "build.py")
NAME = re.compile(rf"[a-z0-9][a-z0-9-]*\.({'|'.join(HEADINGS)})\.md")
#: below this line of the changelog a new section begins
PLACE = "<!-- releases -->\n"
#: where the version stands, and what stands before it
VERSIONS = {
    "src/harmonium/_version.py": '__version__ = "',
    "CITATION.cff": "\nversion: ",
    "docs/_static/switcher.json": '"version": "',
    "harmonium.cdx.json": '"version": "',
}


def fragments(root: Path = ROOT) -> list[Path]:
    """Return the fragments in the order of their topics."""
    files = sorted(path for path in (root / "changes").iterdir() if path.is_file() and path.name not in KEPT)
    wrong = [path.name for path in files if not NAME.fullmatch(path.name) or not path.read_text().strip()]
    if wrong:
        raise ValueError(
            f"A fragment must be called <topic>.<type>.md, with a type of {', '.join(HEADINGS)}, and say something; "
            f"got {', '.join(wrong)}; rename it, or write it."
        )
    return files


def section(version: str, date: str, root: Path = ROOT) -> str:
    """Return the section of a version: entries by type, each with its paragraphs indented below a dash."""
    lines = [f"## {version} ({date})", ""]
    for kind, heading in HEADINGS.items():
        texts = [path.read_text().strip() for path in fragments(root) if path.name.endswith(f".{kind}.md")]
        entries = [f"- {text.removeprefix('- ')}".replace("\n", "\n  ").replace("\n  \n", "\n\n") for text in texts]
        lines += [f"### {heading}", *entries, ""] if entries else []
    return "\n".join(lines)


def release(version: str, date: str, root: Path = ROOT) -> None:
    """Write the section of a version, set the version everywhere, and remove the fragments."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ValueError(f"A version must be three numbers; got {version!r}; pass for example 0.3.0.")
    changelog = root / "CHANGELOG.md"
    before, place, after = changelog.read_text().partition(PLACE)
    if not place or f"\n## {version} " in after:
        raise ValueError(f"{changelog.name} must have the line {PLACE.strip()}, and no section {version} yet.")
    changelog.write_text(f"{before}{place}\n{section(version, date, root).rstrip()}\n{after}")
    for name, start in VERSIONS.items():
        text = (root / name).read_text()
        (root / name).write_text(re.sub(rf"({re.escape(start)})[\d.]+", rf"\g<1>{version}", text, count=1))
    citation = root / "CITATION.cff"
    citation.write_text(re.sub(r"(?<=\ndate-released: )\S+", date, citation.read_text()))
    for path in fragments(root):
        path.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", help="version to release; without it, names of fragments are checked")
    parser.add_argument("--check", action="store_true", help="check names of fragments, and change nothing")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="date of the release")
    options = parser.parse_args()
    try:
        if options.check or options.version is None:
            fragments()
        else:
            release(options.version, options.date)
    except ValueError as error:
        sys.exit(str(error))
