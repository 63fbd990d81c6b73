"""Model folders: a fitted model with its items, their coordinates, map and search index.

`ModelFolder` reads, writes and answers; `fit_folder` makes one of a table; `ItemMap` is the map, wherever it is drawn.
"""

from harmonium.evaluation import HeldOut
from harmonium.model_folder.fit import fit_folder
from harmonium.model_folder.folder import ModelFolder
from harmonium.model_folder.item_map import ItemMap
from harmonium.model_folder.thumbnails import Thumbnails

__all__ = ["HeldOut", "ItemMap", "ModelFolder", "Thumbnails", "fit_folder"]
