"""Views: the only reader of user input.

`Views` holds several views, `Sequences` is a view with order, `Columns` says which columns make up a view.
"""

from harmonium.views.container import Views
from harmonium.views.data import Data
from harmonium.views.reading import Columns
from harmonium.views.sequences import Sequences
from harmonium.views.source import Source, Summary

__all__ = ["Columns", "Data", "Sequences", "Source", "Summary", "Views"]
