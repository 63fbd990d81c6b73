"""The latent space of several views: does it predict by itself, without the linear part of the inputs?

Eight sets of two to twelve views, three stratified halves each (Wikipedia: its own test rows, 75 % of its training
rows). All defaults, the latent space alone (`Hinge(linear_part=False)`: topics and dimensions, nothing of the inputs
themselves), and a linear SVM whose views, scaling and strength are chosen by three-fold cross-validation. "View scale"
says in how many trials columns of numbers kept their relative scales, as held-out training rows preferred.
"""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.comparing import error
from benchmarks.features.multiview import LOADERS, MATRICES, halves
from benchmarks.measuring import with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS, trivial, tuned
from harmonium import HarmoniumClassifier, Hinge

SETS = (*LOADERS, *MATRICES)
BENCHMARK = Benchmark(
    title="The latent space of several views",
    claim="errors of the latent space alone beside the whole model and a tuned linear SVM, on eight sets of views",
    minutes=10,
    data=(*LOADERS, "multiview"),
    settings={"sets": SETS, "seeds": 3, "rows": 0},
    quick={"sets": ("Movies",), "seeds": 1, "rows": 150},
)


def keeps_scales(model: Any) -> bool:
    """Return whether columns of numbers keep their relative scales."""
    scales = [family.scale_ for family in model.families_.values() if hasattr(family, "scale_")]
    return bool(scales) and all(np.ptp(scale) == 0 for scale in scales)


def run(options: SimpleNamespace) -> Result:
    """Fit ours and the rival to each set."""
    warnings.simplefilter("ignore")
    rows: list[list[Any]] = []
    for name in options.sets:
        errors: dict[str, list[float]] = {"whole": [], "space": [], "rival": []}
        ratios, scaled = [], 0
        for seed in range(options.seeds):
            train, y, test, truth = halves(name, seed, options.rows)
            if seed == 0:
                HarmoniumClassifier(2, random_state=0).fit({view: part[:60] for view, part in train.items()}, y[:60])
            begin = time.perf_counter()
            whole = HarmoniumClassifier(random_state=seed).fit(train, y)
            seconds = time.perf_counter() - begin
            space = HarmoniumClassifier(head=Hinge(linear_part=False), random_state=seed).fit(train, y)
            rival = tuned(RIVALS["linear SVM"], train, y, test)
            for key, predicted in zip(errors, (whole.predict(test), space.predict(test), rival.predicted), strict=True):
                errors[key].append(error(truth, predicted))
            ratios.append(seconds / rival.seconds)
            scaled += keeps_scales(space)
        nothing = error(truth, trivial(y, len(truth), classes=True).predicted)
        found = [with_deviation(values) if options.seeds > 1 else values[0] for values in errors.values()]
        relative = float(np.mean(errors["space"]) / max(np.mean(errors["whole"]), 1e-12))
        rows.append([name, len(train), *found, nothing, relative, f"{scaled} of {options.seeds}", np.median(ratios)])
        print(rows[-1], flush=True)
    result = Result()
    result.text(f"Errors on test rows: means of {options.seeds} halves ± standard deviation.")
    columns = (
        "data",
        "views",
        "all defaults",
        "latent space alone",
        "tuned linear SVM",
        "most frequent class",
        "alone / all",
        "view scale",
        "times as long as the SVM",
    )
    result.table("errors", columns, rows)
    return result
