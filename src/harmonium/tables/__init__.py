"""Tables: from a data frame with columns of any kind to views.

Each role of a column is a `Reader`; `TableViews` infers roles, shows them, and learns vocabularies, scales and levels.
"""

from harmonium.tables.base import Reader
from harmonium.tables.roles.categories import Category, Date, Tags
from harmonium.tables.roles.drop import Drop
from harmonium.tables.roles.image import Image
from harmonium.tables.roles.measure import Measure
from harmonium.tables.roles.name import Name
from harmonium.tables.roles.numbers import Count, Flag, Number, Vector
from harmonium.tables.roles.sequence import Sequence
from harmonium.tables.roles.words import Words
from harmonium.tables.table import ROLES, Table
from harmonium.tables.transformer import TableViews

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
