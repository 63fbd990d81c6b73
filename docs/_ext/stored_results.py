"""A page for each stored result of the benchmarks, made from its JSON whenever the site is built."""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx

from benchmarks import rendering, results

FOLDER = Path("results") / "stored"
INDEX = """# All stored results

Each page is made from the file that one run of a benchmark wrote: what was measured, on which machine, with which
versions, and what was changed in the protocol on the way.

```{{toctree}}
:maxdepth: 1

{names}
```
"""


def write_pages(app: Sphinx) -> None:
    """Write the pages that changed, with their pictures, and remove those of results that are gone."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.md": rendering.markdown(results.read(name)) for name in results.names()}
    pages["index.md"] = INDEX.format(names="\n".join(results.names()))
    for old in set(folder.glob("*.md")) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
    for file in (*results.FOLDER.glob("*.png"), *results.FOLDER.glob("*.csv")):
        shutil.copy2(file, folder / file.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
