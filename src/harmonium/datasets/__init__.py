"""Loaders of real data sets, which read the original files.

The files lie in the folder named by the environment variable ``HARMONIUM_DATA`` or the argument ``data_home``. Archives
are read as they are; nothing is written to disk. `load_digits_views` needs no files.
"""

from harmonium.datasets._base import Dataset, DatasetNotFound, data_home
from harmonium.datasets.bdgp import load_bdgp
from harmonium.datasets.caltech4 import load_caltech4
from harmonium.datasets.cll import load_cll
from harmonium.datasets.corel5k import load_corel5k
from harmonium.datasets.digits import load_digits_views
from harmonium.datasets.emoji import PictureDataset, load_emoji
from harmonium.datasets.hotels import hotel_aspects, load_hotels
from harmonium.datasets.mfeat import load_mfeat
from harmonium.datasets.newsgroups import load_newsgroups
from harmonium.datasets.reuters import expand_multilabel, load_reuters21578
from harmonium.datasets.shapes import load_shapes
from harmonium.datasets.tables import load_adult, load_wines
from harmonium.datasets.tagged_texts import load_enron, load_medical
from harmonium.datasets.wikipedia import load_wikipedia

__all__ = [
    "Dataset",
    "DatasetNotFound",
    "PictureDataset",
    "data_home",
    "expand_multilabel",
    "hotel_aspects",
    "load_adult",
    "load_bdgp",
    "load_caltech4",
    "load_cll",
    "load_corel5k",
    "load_digits_views",
    "load_emoji",
    "load_enron",
    "load_hotels",
    "load_medical",
    "load_mfeat",
    "load_newsgroups",
    "load_reuters21578",
    "load_shapes",
    "load_wikipedia",
    "load_wines",
]
