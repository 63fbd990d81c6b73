"""Views: the only reader of user input.

`Views` holds several views, `Sequences` is a view with order, and `Columns` says which columns make up a view.
"""

from harmonium.views.container import Views
from harmonium.views.reading import Columns
from harmonium.views.sequences import Sequences

__all__ = ["Columns", "Sequences", "Views"]
