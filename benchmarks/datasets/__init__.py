"""Loaders of the data sets that only benchmarks read; `harmonium.datasets` has the others, and says where files lie."""

from benchmarks.datasets.bdgp import load_bdgp
from benchmarks.datasets.caltech4 import load_caltech4
from benchmarks.datasets.mfeat import load_mfeat
from benchmarks.datasets.reuters import expand_multilabel, load_reuters21578
from benchmarks.datasets.shapes import load_shapes
from benchmarks.datasets.tables import load_adult, load_bikewale, load_netflix
from benchmarks.datasets.tagged_texts import load_enron, load_medical
from benchmarks.datasets.wikipedia import load_wikipedia

__all__ = [
    "expand_multilabel",
    "load_adult",
    "load_bdgp",
    "load_bikewale",
    "load_caltech4",
    "load_enron",
    "load_medical",
    "load_mfeat",
    "load_netflix",
    "load_reuters21578",
    "load_shapes",
    "load_wikipedia",
]
