"""How windows, features and beginning of `weak_shapes.py` were chosen, on development photographs alone.

The development part is 30 % of each class, drawn once; no test split holds any of it. It is split 60/40 twice.
Rules, in this order; none of them looks at how far one method is ahead of another:

1. Grid: the finest at which LSVM and ILSVM still learn. On finer ones weights of zero are the exact solution of their
   convex problems for the 0/1 loss, whatever C, as a window cannot be told from its neighbours by a margin.
2. Features: lowest sum of both losses with the right windows given in training, where all three methods are the same.
3. Beginning: lowest loss, averaged over the three methods and both losses.

Features describe what a window shows and not where it lies, as in the paper: with its place among the features all
methods learn to repeat the window they began with, if that is the same in all photographs.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import table, write
from harmonium.exceptions import HarmoniumWarning
from weak_shapes_data import KINDS, LOSSES, Grid, beginning, fit, parts, photographs, split

C_GRID = (0.1, 1.0, 10.0)
N_SPLITS = 2
GRIDS = {
    "49 windows": Grid((0.5, 0.75, 1.0), 1 / 3, 4, 8),
    "36 windows": Grid((0.6, 0.8, 1.0), 1 / 3, 4, 8),
    "16 windows": Grid((0.6, 1.0), 1 / 3, 4, 8),
}
DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "4 × 4 histograms": {"parts": 4, "cell": 8, "strength": False},
    "4 × 4 histograms and strengths": {"parts": 4, "cell": 8, "strength": True},
    "6 × 6 histograms": {"parts": 6, "cell": 4, "strength": False},
    "6 × 6 histograms and strengths": {"parts": 6, "cell": 4, "strength": True},
}
BEGINNINGS = ("regression", "whole", "middle")
Task = tuple[Grid, str, str, str, float, int]


def run(task: Task) -> dict[str, float]:
    """Losses of one fit; the beginning "known" gives the right windows instead."""
    grid, begin, name, loss_name, C, fold = task
    warnings.simplefilter("ignore", HarmoniumWarning)  # weights of zero are counted here
    with threadpool_limits(1):
        data = photographs(grid)
        train, test = split(parts(data.target)[0], data.target, fold)
        bags, y = data.bags(train), data.target
        if begin == "known":
            model = KINDS[name](C=C, loss=LOSSES[loss_name], n_jobs=1, random_state=0)
            model.fit(bags[train], y[train], latent=data.best[train])
        else:
            model = fit(name, loss_name, C, bags[train], y[train], beginning(begin, data, bags, train))
        return {"learned": float(model.coef_.any()), **data.measure(model.predict_latent, bags, test)}


def results(pool: ProcessPoolExecutor, *choices: Any) -> dict[tuple[Any, ...], dict[str, float]]:
    """Means over splits for every combination of choices."""
    keys = list(itertools.product(*choices))
    tasks = [(*key, fold) for key in keys for fold in range(N_SPLITS)]
    found = list(pool.map(run, tasks))
    groups = [found[i * N_SPLITS : (i + 1) * N_SPLITS] for i in range(len(keys))]
    means = [{each: float(np.mean([one[each] for one in group])) for each in group[0]} for group in groups]
    return dict(zip(keys, means, strict=True))


def lowest(found: dict[tuple[Any, ...], dict[str, float]], *key: Any) -> float:
    """Loss trained for at the best C, for a grid, beginning, method and loss."""
    return min(result[key[3]] for each, result in found.items() if each[:4] == key)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    for grid in GRIDS.values():
        photographs(grid)
    with ProcessPoolExecutor(options.processes) as pool:
        # 1. which grids the rivals learn on
        rivals = list(KINDS)[:2]
        found = results(pool, GRIDS.values(), BEGINNINGS, rivals, ["0/1"], [1.0])
        learned = {
            name: [
                np.mean([result["learned"] for key, result in found.items() if key[0] == grid and key[2] == rival])
                for rival in rivals
            ]
            for name, grid in GRIDS.items()
        }
        chosen = next((name for name in GRIDS if min(learned[name]) == 1), "16 windows")
        rows = [[name, *(f"{100 * share:.0f} %" for share in shares)] for name, shares in learned.items()]
        first = table(["grid", *(f"{name} learned" for name in rivals)], rows)
        print(first, chosen, f"{time.perf_counter() - started:.0f} s", flush=True)
        # 2. features, with windows known
        grids = {name: replace(GRIDS[chosen], **description) for name, description in DESCRIPTIONS.items()}
        for grid in grids.values():
            photographs(grid)
        found = results(pool, grids.values(), ["known"], ["iterative latent SVM"], LOSSES, C_GRID)
        known = {
            name: [lowest(found, grid, "known", "iterative latent SVM", loss) for loss in LOSSES]
            for name, grid in grids.items()
        }
        described = min(known, key=lambda name: sum(known[name]))
        second = table(
            ["features", *(f"{loss} loss" for loss in LOSSES)],
            [[name, *(f"{value:.1f}" for value in values)] for name, values in known.items()],
        )
        print(second, described, f"{time.perf_counter() - started:.0f} s", flush=True)
        # 3. the beginning
        grid = grids[described]
        found = results(pool, [grid], BEGINNINGS, KINDS, LOSSES, C_GRID)
    losses = {
        begin: [lowest(found, grid, begin, name, loss) for loss in LOSSES for name in KINDS] for begin in BEGINNINGS
    }
    begun = min(losses, key=lambda begin: float(np.mean(losses[begin])))
    third = table(
        ["beginning", *(f"{loss}: {name}" for loss in LOSSES for name in KINDS), "mean"],
        [[name, *(f"{v:.1f}" for v in values), f"{np.mean(values):.1f}"] for name, values in losses.items()],
    )
    body = (
        f"Chosen: {chosen}, {described}, beginning with: {begun}. Means over {N_SPLITS} splits of the development "
        f"part; losses in per cent, each at the best of C = 0.1, 1, 10.\n\n{first}\n\nShare of fits for the 0/1 loss "
        f"that found weights other than zero.\n\n{second}\n\nRight windows given in training.\n\n{third}\n\n"
        f"{time.perf_counter() - started:.0f} s in all."
    )
    write("weak_shapes_setting", "SYSU-Shapes: choice of the setting", body, "python benchmarks/weak_shapes_setting.py")


if __name__ == "__main__":
    main()
