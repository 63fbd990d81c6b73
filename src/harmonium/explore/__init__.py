"""A local web page about a model folder, and the same questions as a JSON service (extra ``app``).

`endpoints` lists everything that can be asked, `handlers` compute the answers, `app` puts them on the web, and
`middleware` decides who may ask. Nothing can be changed through it.
"""

from harmonium.explore.app import Settings, make_app
from harmonium.explore.server import run, settings_for

__all__ = ["Settings", "make_app", "run", "settings_for"]
