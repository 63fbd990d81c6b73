"""Loaders for real data sets, read in their original distribution formats.

The archives are read from the folder named by the environment variable ``HARMONIUM_DATA`` (or the argument
``data_home``), straight out of the tar file; nothing is written to disk. `load_digits_views` needs no archive.
"""

from harmonium.datasets._base import Dataset, DatasetNotFound, data_home
from harmonium.datasets.caltech4 import load_caltech4
from harmonium.datasets.digits import load_digits_views
from harmonium.datasets.mfeat import load_mfeat
from harmonium.datasets.newsgroups import load_newsgroups
from harmonium.datasets.reuters import expand_multilabel, load_reuters21578

__all__ = [
    "Dataset",
    "DatasetNotFound",
    "data_home",
    "expand_multilabel",
    "load_caltech4",
    "load_digits_views",
    "load_mfeat",
    "load_newsgroups",
    "load_reuters21578",
]
