"""Tables: from a data frame with columns of any kind to views.

Each role of a column is a `Reader`; `TableViews` infers roles, shows them, and learns vocabularies, scales and levels.
"""

from harmonium.tables.base import Reader
from harmonium.tables.categories import Category, Date, Tags
from harmonium.tables.drop import Drop
from harmonium.tables.image import Image
from harmonium.tables.measure import Measure
from harmonium.tables.name import Name
from harmonium.tables.numbers import Count, Flag, Number, Vector
from harmonium.tables.sequence import Sequence
from harmonium.tables.table import ROLES, Table
from harmonium.tables.transformer import TableViews
from harmonium.tables.words import Words

__all__ = [
    "ROLES",
    "Category",
    "Count",
    "Date",
    "Drop",
    "Flag",
    "Image",
    "Measure",
    "Name",
    "Number",
    "Reader",
    "Sequence",
    "Table",
    "TableViews",
    "Tags",
    "Vector",
    "Words",
]
