"""Sphinx builds the site: `make docs`. Nothing is fetched, neither now nor by who reads it."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import docstrings  # noqa: E402

import pgt  # noqa: E402

project = "pgt"
author = "the authors of pgt"
project_copyright = "Apache License 2.0"
version = release = pgt.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]
templates_path = []

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]

default_role = "py:obj"  # `Training` in a docstring leads to its place
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88
autodoc_typehints = "none"  # the docstrings say what is meant, shapes included
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # a method is described where it is declared
autodoc_default_options = {"members": True}
autosummary_generate = False  # names are described on the page that lists them
napoleon_google_docstring = False
napoleon_use_param = False  # parameters that share a text share a line
napoleon_use_rtype = False
napoleon_attr_annotations = False

html_theme = "pydata_sphinx_theme"
html_title = "pgt"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"start": [], "results": [], "zoo": [], "measurements": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "pgt"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    app.connect("autodoc-process-docstring", docstrings.prepare, priority=100)
