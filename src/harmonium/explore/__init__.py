"""A local web page about a model folder, and the same questions as a JSON service (extra ``app``).

The list of everything that can be asked is in `endpoints`; `answers` computes it, `app` puts it on the web, and
`guards` decide who may ask. Nothing can be changed through it.
"""

from harmonium.explore.app import Settings, make_app
from harmonium.explore.serving import run, settings_for

__all__ = ["Settings", "make_app", "run", "settings_for"]
