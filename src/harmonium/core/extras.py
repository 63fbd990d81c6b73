"""Packages that only some users need: imported when they are first used, missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# top-level module -> the package that holds it, the extra of harmonium that installs it
_EXTRAS = {
    "matplotlib": ("matplotlib", "plot"),
    "skimage": ("scikit-image", "images"),
    "PIL": ("Pillow", "images"),
    "anndata": ("anndata", "scverse"),
    "mudata": ("mudata", "scverse"),
    "h5py": ("h5py", "scverse"),
    "zarr": ("zarr", "scverse"),
    "dask": ("dask", "dask"),
    "distributed": ("distributed", "dask"),
    "faiss": ("faiss-cpu", "neighbours"),
    "arviz": ("arviz", "arviz"),
    "piqp": ("piqp", "weak"),
    "pyarrow": ("pyarrow", "arrow"),
    "jinja2": ("jinja2", "app"),
    "starlette": ("starlette", "app"),
    "uvicorn": ("uvicorn", "app"),
    "onnxruntime": ("onnxruntime", "embed"),
    "tokenizers": ("tokenizers", "embed"),
}


def require(module: str, purpose: str, instead: str = "") -> Any:
    """Import a module of an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module, such as ``"skimage.feature"``; its package must belong to one of harmonium's extras.
    purpose : str
        What needs the module, as the subject of the error's sentence.
    instead : str, optional
        What the user can do without the package, such as ``"pass backend='exact'"``.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If the package is not installed. A package that is installed but broken raises its own error.

    Examples
    --------
    >>> require("matplotlib.colors", "A display").to_hex("red")
    '#ff0000'

    Without matplotlib the error reads ``A display needs matplotlib, which is not installed; run pip install
    "harmonium[plot]".``
    """
    root = module.partition(".")[0]
    package, extra = _EXTRAS[root]
    try:
        import_module(root)  # a package that is blocked counts as missing, even if one of its modules is loaded
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != root:
            raise
        alternative = f" or {instead}" if instead else ""
        raise ImportError(
            f'{purpose} needs {package}, which is not installed; run pip install "harmonium[{extra}]"{alternative}.'
        ) from error
