"""Views: the only reader of user input.

`Views` holds several views, `Sequences` is a view with order, and `Columns` says which columns make up a view. `Shards`
are rows that need not fit into memory, in which `Tokens` are texts as lists.
"""

from harmonium.views.container import Views
from harmonium.views.reading import Columns
from harmonium.views.sequences import Sequences
from harmonium.views.sharding.parquet import Tokens
from harmonium.views.shards import Shards

__all__ = ["Columns", "Sequences", "Shards", "Tokens", "Views"]
