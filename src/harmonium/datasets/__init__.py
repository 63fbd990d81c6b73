"""Data sets with a known truth, made by a seed, and loaders of real ones that read the original files.

What `make_reviews`, `make_documents`, `make_cohort` and `make_pictures` return holds what was planted beside the data,
so that one can see what of it a model finds. The files of real sets lie in the folder named by the environment variable
``HARMONIUM_DATA`` or the argument ``data_home``. Archives are read as they are; nothing is written to disk.
"""

from harmonium.datasets._base import Dataset, DatasetNotFound, data_home
from harmonium.datasets.cll import load_cll
from harmonium.datasets.cohort import make_cohort
from harmonium.datasets.digits import load_digits_views
from harmonium.datasets.documents import make_documents
from harmonium.datasets.emoji import PictureDataset, load_emoji
from harmonium.datasets.hotels import hotel_aspects, load_hotels
from harmonium.datasets.newsgroups import load_newsgroups
from harmonium.datasets.pictures import make_pictures
from harmonium.datasets.reviews import make_reviews
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
    "make_cohort",
    "make_documents",
    "make_pictures",
    "make_reviews",
]
