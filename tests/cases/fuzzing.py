"""Cases that nobody has thought of: `python -m tests.cases.fuzzing KIND SECONDS FOLDER` tries what a fuzzer makes up.

Readers of data and model files are instrumented, and atheris looks for bytes that reach new lines; frames, commands and
requests are drawn by hypothesis. Counts are written to ``counts.json`` in the folder as they grow, and each case that
is neither answered nor refused in a sentence beside it, once for each message.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# largest number of bytes of a made-up file: what is wrong shows in small ones
_LONGEST = 4096


class Run:
    """Cases that were tried until a time, what came of them, and those that are to be mended."""

    def __init__(self, kind: str, seconds: float, folder: Path) -> None:
        from tests.cases.corpus import Place

        self.kind, self.folder, self.end = kind, folder, time.monotonic() + seconds
        self.counts: Counter[str] = Counter()
        self.found: dict[str, str] = {}
        self.place = Place(folder)
        self._written = 0.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def case(self, name: str, content: bytes) -> None:
        """Try a case."""
        from tests.cases.corpus import check

        # what kills the process, or hangs, is found here by whoever started it
        (self.folder / "last").write_bytes(name.encode() + b"\n" + content)
        try:
            self.counts[check(self.kind, name, content, self.place)] += 1
        except AssertionError as error:
            self.counts["neither"] += 1
            message = re.sub(r"\d+|'[^']*'", "_", str(error))[:120]
            if message not in self.found:
                saved = self.folder / f"found-{len(self.found)}-{name}"
                saved.write_bytes(content)
                self.found[message] = f"{saved.name}: {str(error)[:300]}"
        if time.monotonic() - self._written > 1:
            self.write()

    def write(self) -> None:
        """Write the counts."""
        self._written = time.monotonic()
        text = json.dumps({"counts": self.counts, "found": list(self.found.values())})
        (self.folder / "counts.json").write_text(text)


# ---- bytes, by atheris -----------------------------------------------------------------------------------------------
def seeds(kind: str) -> dict[str, bytes]:
    """The corpus, of the kind alone."""
    from tests.cases.corpus import CORPUS

    return {path.name: path.read_bytes() for path in sorted((CORPUS / kind).rglob("*")) if path.is_file()}


def fuzz_data(run: Run) -> None:
    """Change files byte by byte; the first byte says the ending."""
    from tests.cases.corpus import ENDINGS

    def one(content: bytes) -> None:
        ending = ENDINGS[content[0] % len(ENDINGS)] if content else ".csv"
        run.case(f"x{ending}", gzip.compress(content[1:]) if ending == ".csv.gz" else content[1:])

    begin = []
    for name, content in [*seeds("data").items(), *_whole_files()]:
        ending = "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
        if ending in ENDINGS:
            begin.append(bytes([ENDINGS.index(ending)]) + content[:_LONGEST])
    _fuzz(run, one, begin)


def _whole_files() -> list[tuple[str, bytes]]:
    """A small whole file of each format that people do not write by hand."""
    import numpy as np
    import pandas as pd
    import scipy.io
    import scipy.sparse

    matrix = scipy.sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
    frame = pd.DataFrame({"a": [1.5, 2.0], "b": ["sea sand", "hut"], "c": [["x"], ["y", "z"]]})
    with TemporaryDirectory() as place:
        folder = Path(place)
        frame.to_parquet(folder / "x.parquet")
        frame.to_json(folder / "x.json", orient="records")
        np.savez(folder / "x.npz", a=matrix.toarray(), y=np.arange(2))
        scipy.sparse.save_npz(folder / "sparse.npz", matrix)
        scipy.io.mmwrite(folder / "x.mtx", matrix)
        (folder / "x.svmlight").write_text("1 1:2 3:4\n0 2:1\n")
        (folder / "x.ldac").write_text("2 0:1 3:2\n1 1:1\n")
        try:
            import anndata

            anndata.AnnData(matrix).write_h5ad(folder / "x.h5ad")
        except ImportError:
            pass
        return [(path.name, path.read_bytes()) for path in folder.iterdir()]


def fuzz_models(run: Run) -> None:
    """Change descriptions and numbers of model files and seal them again, or change files byte by byte."""
    import atheris
    import numpy as np

    from harmonium.storage import read_sealed, write_sealed
    from tests.cases.forged import FORGED, MODELS, save

    models = []
    for name in MODELS:
        with TemporaryDirectory() as place:
            path, _ = save(name, Path(place))
            models.append((path.read_bytes(), *read_sealed(path)))
    values = [
        None,
        True,
        -1,
        0,
        2,
        1e300,
        10**15,
        0.5,
        {"float": "nan"},
        {"float": "inf"},
        "",
        "x",
        "\ud800",
        [],
        {},
        [1],
    ]
    forged = run.folder / "forged.safetensors"

    def one(content: bytes) -> None:
        given = atheris.FuzzedDataProvider(content)
        whole, description, tensors = models[given.ConsumeIntInRange(0, len(models) - 1)]
        if given.ConsumeIntInRange(0, 9) == 0:
            changed = bytearray(whole)
            for _ in range(given.ConsumeIntInRange(1, 4)):
                changed[given.ConsumeIntInRange(0, len(changed) - 1)] = given.ConsumeIntInRange(0, 255)
            run.case("x.safetensors", bytes(changed))
            return
        description, tensors = copy.deepcopy(description), dict(tensors)
        for _ in range(given.ConsumeIntInRange(1, 3)):
            if given.ConsumeBool():
                name = list(tensors)[given.ConsumeIntInRange(0, len(tensors) - 1)]
                forge = list(FORGED.values())[given.ConsumeIntInRange(0, len(FORGED) - 1)]
                tensors[name] = np.asarray(forge(tensors[name]))
                entry = {"dtype": tensors[name].dtype.name, "shape": list(tensors[name].shape)}
                if isinstance(description.get("tensors"), dict):
                    description["tensors"][name] = entry
            else:
                _change(description, given, values)
        try:
            write_sealed(forged, description, tensors)
        except (TypeError, ValueError):  # not even a forger can write it
            return
        run.case("x.safetensors", forged.read_bytes())

    _fuzz(run, one, [bytes([number] * 8) for number in range(64)])


def _change(description: Any, given: Any, values: list[Any]) -> None:
    """Change, drop or add one entry, wherever it stands."""
    place = description
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = keys[given.ConsumeIntInRange(0, len(keys) - 1)]
        inner = place[key]
        if isinstance(inner, dict | list) and inner and given.ConsumeIntInRange(0, 5):
            place = inner
            continue
        how = given.ConsumeIntInRange(0, 9)
        if how == 0:
            del place[key]
        elif how == 1 and isinstance(place, dict):
            place["more"] = inner
        else:
            place[key] = copy.deepcopy(values[given.ConsumeIntInRange(0, len(values) - 1)])
        return


def _fuzz(run: Run, one: Callable[[bytes], None], begin: list[bytes]) -> None:
    """Let atheris call a function until the time is over; it does not return."""
    import atheris

    corpus = run.folder / "seeds"
    corpus.mkdir(exist_ok=True)
    for number, content in enumerate(begin):
        (corpus / str(number)).write_bytes(content)

    limits = [f"-max_len={_LONGEST}", "-timeout=60", "-rss_limit_mb=4000", "-verbosity=0", "-print_final_stats=0"]
    left = max(1, int(run.end - time.monotonic()))
    artifacts = f"-artifact_prefix={run.folder}/"
    atheris.Setup([sys.argv[0], *limits, f"-max_total_time={left}", artifacts, str(corpus)], one)
    atheris.Fuzz()


# ---- what has a form, by hypothesis ----------------------------------------------------------------------------------
def _draw(run: Run, cases: Any, name: str) -> None:
    """Try cases that a strategy draws, until the time is over."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    limits = {"deadline": None, "database": None, "phases": [Phase.generate], "max_examples": 200}
    number = 0
    while not run.is_over:

        @seed(number)
        @settings(suppress_health_check=list(HealthCheck), **limits)
        @given(cases)
        def one(content: bytes) -> None:
            if not run.is_over:
                run.case(name, content)

        one()
        number += 1
    run.write()


def fuzz_frames(run: Run) -> None:
    """Draw frames of any columns."""
    from hypothesis import strategies as st

    texts = st.one_of(
        st.text(max_size=6), st.sampled_from(["sea sand", "x|y", "2020-01-01", "NA", "", "12,5 kg", "n" * 3000])
    )
    numbers = st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.sampled_from([0, 1, -0.0, 1e308, 5e-324]))
    lists = st.one_of(st.lists(texts, max_size=2), st.dictionaries(texts, numbers, max_size=2))
    cells: dict[str, Any] = {
        "object": st.one_of(texts, numbers, st.none(), st.booleans(), lists),
        "float64": st.one_of(st.floats(), st.none()),
        "float32": st.floats(width=32),
        "longdouble": st.floats(),
        "complex128": st.tuples(st.floats(), st.floats()),
        "int64": st.integers(-(2**63), 2**63 - 1),
        "uint8": st.integers(0, 255),
        "Int64": st.one_of(st.integers(-(2**63), 2**63 - 1), st.none()),
        "bool": st.booleans(),
        "boolean": st.one_of(st.booleans(), st.none()),
        "string": st.one_of(texts, st.none()),
        "category": st.one_of(texts, st.none()),
        "datetime64[ns]": st.one_of(st.dates().map(str), st.none()),
        "datetime64[ns, UTC]": st.one_of(st.dates().map(str), st.none()),
        "timedelta64[ns]": st.integers(-(2**40), 2**40),
        "sparse 0": st.floats(),
        "sparse 1": st.floats(),
    }
    names = st.one_of(texts, st.integers(-3, 3), st.floats(), st.tuples(texts, st.integers()), st.none())

    def frame(drawn: tuple[int, list[tuple[Any, str]]]) -> Any:
        n_rows, columns = drawn
        values = [st.lists(cells[kind], min_size=n_rows, max_size=n_rows) for _, kind in columns]
        return st.tuples(*values).map(
            lambda found: [[name, kind, entry] for (name, kind), entry in zip(columns, found, strict=True)]
        )

    columns = st.lists(st.tuples(names, st.sampled_from(sorted(cells))), max_size=4)
    drawn = st.tuples(st.integers(0, 7), columns).flatmap(frame)
    _draw(run, drawn.map(lambda case: json.dumps(case).encode()), "x.json")


def fuzz_commands(run: Run) -> None:
    """Draw commands with options of any values, on small tables."""
    from hypothesis import strategies as st

    from tests.cases.explore import small_folder

    run.place.rooms = small_folder(run.folder)
    words = st.one_of(
        st.sampled_from(
            ["a.csv", "b.jsonl", "ROOMS", "out", "out.csv", "nowhere", "a", "text", "-1", "0", "3", "kind"]
        ),
        st.text(max_size=6).filter(lambda text: "\0" not in text),
    )
    options: dict[str, list[str]] = {
        "fit": [
            "--target",
            "--task",
            "--text",
            "--number",
            "--role",
            "--model",
            "--topics",
            "--holdout",
            "--others",
            "-o",
        ],
        "predict": ["--output", "--rows", "--json", "--interval", "--keep"],
        "transform": ["--output", "--map", "--json"],
        "search": ["-n", "--json", "--like", "--by"],
        "explain": ["--row", "--json", "-n", "--target"],
        "info": ["--topics", "--features", "--json"],
        "topics": ["merge", "split", "rename", "hide", "order", "undo", "--by", "--json"],
        "report": ["-o"],
    }

    def arguments(name: str) -> Any:
        given = st.lists(st.one_of(st.sampled_from(options[name]), words), max_size=5)
        first = st.sampled_from(["a.csv", "b.jsonl"] if name == "fit" else ["ROOMS"])
        quick = ["--epochs", "1", "--quiet"] if name == "fit" else []
        return st.tuples(first, given).map(lambda found: [name, found[0], *quick, *found[1]])

    tables = {
        "a.csv": "text,a,kind\nsea sand,1,x\nhut rope,2,y\nsea wave,3,x\nhut snow,4,y\n",
        "b.jsonl": '{"review": "clean quiet", "tags": ["old"], "price": 50}\n{"price": null}\n',
    }
    drawn = st.sampled_from(sorted(options)).flatmap(arguments)
    _draw(run, drawn.map(lambda given: json.dumps({"arguments": given, "files": tables}).encode()), "x.json")


def fuzz_requests(run: Run) -> None:
    """Draw what is sent to the service: parts of requests in any order, with any bodies."""
    from hypothesis import strategies as st

    from tests.cases.corpus import served
    from tests.cases.explore import small_folder

    run.place.rooms = small_folder(run.folder)
    paths = [
        "/predict.json",
        "/search.json",
        "/transform.json",
        "/explain.json",
        "/healthz",
        "/metrics",
        "/",
        "/items.json",
    ]
    targets = st.one_of(
        st.sampled_from(paths),
        st.tuples(st.sampled_from(paths), st.text(max_size=8)).map(lambda pair: f"{pair[0]}?row={pair[1]}"),
        st.text(max_size=12).map(lambda text: f"/{text}"),
    ).map(lambda text: re.sub(r"[\s\x00-\x20]", "%20", text).encode("utf-8", "surrogatepass"))
    scalars = st.one_of(st.none(), st.booleans(), st.floats(), st.integers(-(2**70), 2**70), st.text(max_size=6))
    named = st.one_of(st.sampled_from(["review", "tags", "price", "kind"]), st.text(max_size=3))
    item = st.dictionaries(named, st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=3)
    bodies = st.one_of(
        st.fixed_dictionaries({"items": st.lists(item, max_size=3)}).map(json.dumps),
        st.fixed_dictionaries({"query": scalars, "n": scalars}).map(json.dumps),
        st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=4).map(json.dumps),
        st.text(max_size=20),
    ).map(lambda text: text.encode("utf-8", "surrogatepass"))
    known = ["Transfer-Encoding: chunked", "Content-Length: 3", "Expect: 100-continue", "Connection: upgrade"]
    known += ["Host: [::1].evil", "Content-Type: text/html", "Accept-Encoding: gzip", "X: " + "y" * 9000]
    headers = st.lists(st.one_of(st.sampled_from(known).map(str.encode), st.binary(max_size=12)), max_size=3)

    def request(drawn: tuple[bytes, bytes, list[bytes], bytes, bool]) -> bytes:
        method, target, more, body, is_honest = drawn
        length = len(body) if is_honest else max(0, len(body) - 3)
        own = [b"Host: localhost", b"Connection: close", b"Content-Length: %d" % length]
        return method + b" " + target + b" HTTP/1.1\r\n" + b"\r\n".join([*own, *more]) + b"\r\n\r\n" + body

    methods = st.sampled_from([b"GET", b"POST", b"HEAD", b"PUT", b"OPTIONS", b"get", b"\xff"])
    whole = st.tuples(methods, targets, headers, bodies, st.integers(0, 4).map(bool)).map(request)
    with served(run.place.rooms) as run.place.port:
        _draw(run, st.one_of(whole, whole, whole, st.binary(max_size=60)), "x.http")


def fuzz_endpoints(run: Run) -> None:
    """Let schemathesis make up requests from the description of the endpoints, and compare answers with it."""
    from harmonium.explore import Settings, make_app
    from tests.cases.explore import fuzzed, small_folder

    app = make_app(small_folder(run.folder), Settings(pages=False))
    number = 0
    while not run.is_over:
        try:
            for statuses in fuzzed(app, 3, number).values():
                for status, times in statuses.items():
                    run.counts["answered" if status < 400 else "refused"] += times
        except Exception as error:  # an answer that is not as described, or a fault, with the request that shows it
            run.counts["neither"] += 1
            run.found.setdefault(type(error).__name__, f"round {number}: {str(error)[:600]}")
        number += 1
        run.write()


FUZZERS = {
    "data": fuzz_data,
    "models": fuzz_models,
    "frames": fuzz_frames,
    "commands": fuzz_commands,
    "requests": fuzz_requests,
    "endpoints": fuzz_endpoints,
}


def instrument(names: tuple[str, ...]) -> None:
    """Let atheris see which lines of some packages are reached; what is compiled cannot be instrumented."""
    import inspect

    import atheris

    for name, module in list(sys.modules.items()):
        if name.startswith(names):
            for function in vars(module).values():
                if inspect.isfunction(function) and function.__module__ == name:
                    atheris.instrument_func(function)


def main(kind: str, seconds: float, folder: Path) -> None:
    run = Run(kind, seconds, folder)
    if kind in ("data", "models"):
        instrument(("harmonium.files", "harmonium.storage", "harmonium.persist"))
    FUZZERS[kind](run)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]))
