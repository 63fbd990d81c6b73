"""Loaders of the real data sets that the documentation uses; they read the original files.

The files lie in the folder named by the environment variable ``HARMONIUM_DATA`` or the argument ``data_home``. Archives
are read as they are; nothing is written to disk. `load_digits_views` needs no files.
"""

from harmonium.datasets._base import Dataset, DatasetNotFound, data_home
from harmonium.datasets.cll import load_cll
from harmonium.datasets.digits import load_digits_views
from harmonium.datasets.emoji import PictureDataset, load_emoji
from harmonium.datasets.hotels import hotel_aspects, load_hotels
from harmonium.datasets.newsgroups import load_newsgroups
from harmonium.datasets.tables import load_wines

__all__ = [
    "Dataset",
    "DatasetNotFound",
    "PictureDataset",
    "data_home",
    "hotel_aspects",
    "load_cll",
    "load_digits_views",
    "load_emoji",
    "load_hotels",
    "load_newsgroups",
    "load_wines",
]
