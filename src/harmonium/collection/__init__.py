"""Models with their items: fitted, kept in a folder, searched, and asked about single items.

`ModelFolder` is the model, the columns of its items, their coordinates, map and index; `HeldOut` what was predicted for
rows that were held out; `ItemMap` the map, wherever it is drawn.
"""

from harmonium.collection.fitting import fit_folder
from harmonium.collection.folder import ModelFolder
from harmonium.collection.held_out import HeldOut
from harmonium.collection.item_map import ItemMap
from harmonium.collection.thumbnails import Thumbnails

__all__ = ["HeldOut", "ItemMap", "ModelFolder", "Thumbnails", "fit_folder"]
