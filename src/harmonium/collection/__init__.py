"""Models with their items: fitted, kept in a folder, searched, and asked about single items.

`ModelFolder` is the model, the columns of its items, their coordinates, map and index; `HeldOut` what was predicted for
rows that were held out.
"""

from harmonium.collection.fitting import fit_folder
from harmonium.collection.folder import ModelFolder
from harmonium.collection.held_out import HeldOut
from harmonium.collection.thumbnails import Thumbnails

__all__ = ["HeldOut", "ModelFolder", "Thumbnails", "fit_folder"]
