"""Configuration of the documentation site: ``python -m sphinx -W docs docs/_build``, without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # extensions of the site; the package of benchmarks
os.environ.setdefault("MPLBACKEND", "agg")

import matplotlib
from reference import own_members

import harmonium

project = "harmonium"
author = "the harmonium developers"
copyright = "the harmonium developers, BSD-3-Clause"
release = harmonium.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference",
    "stored_results",
]
templates_path = ["_templates"]
# the pages of sphinx-gallery are made from docs/examples, those of results/stored from benchmarks/results
exclude_patterns = ["_build", "examples", "gallery/*.ipynb", "gallery/*.py"]
suppress_warnings = ["config.cache"]  # a function in `autosummary_context` cannot be pickled; it need not be

# ---- Markdown and docstrings -----------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
toc_object_entries_show_parents = "hide"
default_role = "literal"
autosummary_context = {"own_members": own_members}
autodoc_typehints = "none"  # types stand in the sections of docstrings
numpydoc_show_class_members = False  # the template of classes lists them

# ---- gallery ---------------------------------------------------------------------------------------------------------
matplotlib.rcParams["figure.dpi"] = 110
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "copyfile_regex": r"GALLERY_HEADER\.rst",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", "displays"),
    "thumbnail_size": (320, 224),
}

# ---- HTML ------------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "harmonium"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "harmonium", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["version-switcher", "theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "switcher": {"json_url": "_static/switcher.json", "version_match": release},
    "check_switcher": False,  # it would ask the network
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_toc_level": 2,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "about": [], "release_notes": [], "glossary": []}
