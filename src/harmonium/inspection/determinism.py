"""Determinism classes: what leaves the bits of a fit as they are, for each public estimator and recipe.

All of them give the same bits for a ``random_state`` on any number of threads. They differ in what else may happen to a
fit. The promise holds for the same versions of the library and what it computes with, on processors of one kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Determinism:
    """What may happen to a fit without a bit of its result being another.

    Attributes
    ----------
    threads : bool
        It may run on any number of threads (``n_jobs``).
    goes_on : bool
        It may be killed: with a ``checkpoint`` of its driver, the next one goes on where it was. Others begin anew, to
        the same bits.
    workers : bool
        Any number of workers of a cluster may share it (``driver=Distributed()``). Others are fitted in one process.
    """

    threads: bool = True
    goes_on: bool = True
    workers: bool = True


_ALL, _ONE_PROCESS = Determinism(), Determinism(workers=False)
_ANEW = Determinism(goes_on=False, workers=False)

#: the class of each estimator and recipe, with its default parts; tests/inspection/test_determinism.py fits them all
DETERMINISM: dict[str, Determinism] = {
    "Harmonium": _ALL,
    "HarmoniumClassifier": _ALL,
    "HarmoniumRegressor": _ALL,
    # a model for each target, which would share one checkpoint
    "HarmoniumMultiOutput": Determinism(goes_on=False),
    "RBM": _ALL,
    "EFH": _ALL,
    "DWH": _ALL,
    "TWH": _ALL,
    "MMH": _ALL,
    "RAP": _ALL,
    # units are added and removed by the counts of all rows
    "iEFH": _ONE_PROCESS,
    "iMMH": _ONE_PROCESS,
    # chains of draws
    "BEFH": _ONE_PROCESS,
    "BDWH": _ONE_PROCESS,
    "structDWH": _ALL,
    "structMMH": _ALL,
    "TopicModel": _ALL,
    # in closed form
    "ClusterSpace": _ANEW,
    "DiscriminativeRBM": _ALL,
    "weak.DissimilarityClassifier": _ANEW,
    "weak.LatentSVM": _ANEW,
    "weak.IterativeLatentSVM": _ANEW,
    "weak.MultipleInstanceClassifier": _ANEW,
}


def determinism_table() -> pd.DataFrame:
    """Return what leaves the bits of a fit as they are, for each estimator.

    Returns
    -------
    DataFrame
        A row for each estimator and recipe that users import. All are as the same seed makes them on any number of
        ``threads``. ``after a kill``, a fit with a ``checkpoint`` goes on to the same bits, or begins anew and ends
        with them. ``workers`` says whether any number of workers of a cluster make the same bits, or one process fits.

    See Also
    --------
    harmonium.inspection.bootstrap_stability : Whether other rows, rather than other machines, make the same topics.

    Examples
    --------
    >>> from harmonium.inspection import determinism_table
    >>> print(determinism_table().loc[["TopicModel", "iEFH"]].to_string())
                  threads after a kill      workers
    TopicModel  same bits      goes on    same bits
    iEFH        same bits      goes on  one process
    """
    rows = {
        name: {
            "threads": "same bits" if kept.threads else "other bits",
            "after a kill": "goes on" if kept.goes_on else "begins anew",
            "workers": "same bits" if kept.workers else "one process",
        }
        for name, kept in DETERMINISM.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
