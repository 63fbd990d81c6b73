"""Loading a saved model of any kind: whoever can rebuild one is imported here."""

from harmonium import estimators, model_folder, weak  # noqa: F401  (they say how their descriptions are rebuilt)
from harmonium.storage import load_model as load

__all__ = ["load"]
