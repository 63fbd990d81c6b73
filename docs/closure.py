"""What comes with an installation: the bill of materials in the wheel, and a table of sizes and licences.

    python docs/closure.py             # write harmonium.cdx.json as pyproject.toml has it
    python docs/closure.py --measure   # also install into new environments, and write the table of the page

The bill is CycloneDX, as PEP 770 has it in wheels; `tests/house/test_wheel.py` compares it. The table stands in
`docs/guide/install.md` between two comments, and says when it was measured.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BILL = ROOT / "harmonium.cdx.json"
PAGE = ROOT / "docs" / "guide" / "install.md"
TABLE = re.compile(r"(?<=<!-- closure:begin -->\n).*?(?=<!-- closure:end -->)", re.DOTALL)
#: installations of the table, by what is asked for
INSTALLED = {"harmonium": "", "harmonium[plot,app]": "plot,app"}
# run in a new environment: name, version, licence and bytes of everything that is there
_LIST = """
import json, re, sys
from importlib.metadata import distributions
found = []
for one in distributions(path=[sys.argv[1]]):
    about = one.metadata
    classed = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    short = (about["License"] or "").strip().splitlines()
    named = [name for name in classed if name != "OSI Approved"]
    licence = about["License-Expression"] or ", ".join(named) or (short[0] if short and len(short[0]) < 40 else "")
    size = sum(path.stat().st_size for path in (file.locate() for file in one.files or ()) if path.is_file())
    found.append([about["Name"], one.version, licence or "see its files", size])
print(json.dumps(sorted(found, key=lambda row: -row[3])))
"""


def bill() -> str:
    """Return the bill of materials: nothing of others is in the wheel, and what it asks for stands in ranges."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/harmonium/_version.py").read_text(encoding="utf-8"))
    assert version is not None
    extras = project["optional-dependencies"]
    # those of people who develop it are no part of what it is
    named = [(need, "") for need in project["dependencies"]]
    named += [
        (need, extra)
        for extra in sorted(extras)
        if extra not in ("test", "docs", "lint", "benchmark")
        for need in extras[extra]
    ]
    components: dict[str, dict[str, Any]] = {}
    for need, extra in named:
        name = re.match(r"[\w.-]+", need)
        assert name is not None
        properties = [{"name": "harmonium:range", "value": need[name.end() :]}]
        if extra:
            properties.append({"name": "harmonium:extra", "value": extra})
        components.setdefault(
            name[0],
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name[0].lower()}",
                "name": name[0],
                "scope": "optional" if extra else "required",
                "purl": f"pkg:pypi/{name[0].lower()}",
                "properties": properties,
            },
        )
    itself = {
        "type": "library",
        "bom-ref": "pkg:pypi/harmonium",
        "name": project["name"],
        "version": version[1],
        "licenses": [{"license": {"id": project["license"]}}],
        "purl": "pkg:pypi/harmonium",
    }
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": itself},
        "components": list(components.values()),
        "dependencies": [{"ref": itself["bom-ref"], "dependsOn": [one["bom-ref"] for one in components.values()]}],
    }
    return json.dumps(content, indent=1) + "\n"


def measured(extras: str) -> list[tuple[str, str, str, int]]:
    """Install into a new environment, and return name, version, licence and bytes of what came."""
    with TemporaryDirectory() as place:
        wanted = f"{ROOT}[{extras}]" if extras else str(ROOT)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", place, wanted]
        subprocess.run(pip, check=True)
        said = subprocess.run([sys.executable, "-c", _LIST, place], check=True, capture_output=True, text=True).stdout
    return [tuple(row) for row in json.loads(said)]


def table() -> str:
    """Return the table of both installations."""
    found = {name: measured(extras) for name, extras in INSTALLED.items()}
    alone = {row[0] for row in found["harmonium"]}
    totals = [f"`{name}`: {len(rows)} packages, {_mb(sum(row[3] for row in rows))}" for name, rows in found.items()]
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {platform.system()}, "
        f"{platform.machine()}, without compiled Python files. {'; '.join(totals)}.",
        "",
        "| package | version | MB | licence | |",
        "|---|---|---|---|---|",
    ]
    for name, version, licence, size in found["harmonium[plot,app]"]:
        extra = "" if name in alone else "with `[plot,app]`"
        lines.append(f"| {name} | {version} | {size / 1e6:.1f} | {licence.replace('|', '/')} | {extra} |")
    return "\n".join(lines) + "\n\n"


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


if __name__ == "__main__":
    BILL.write_text(bill(), encoding="utf-8")
    if "--measure" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        written = table()
        PAGE.write_text(TABLE.sub(lambda _: written, page), encoding="utf-8")
