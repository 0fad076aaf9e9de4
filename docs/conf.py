"""Sphinx configuration. `make docs` builds the pages into docs/_build/html."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

from spume.version import __version__  # noqa: E402

project = "spume"
author = "The spume authors"
copyright = "2026, the spume authors"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = "spume"
html_static_path: list[str] = []
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "sg_execution_times.rst"]
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
}

generate.write_pages(HERE / "reference")
