"""How the site is built: ``make docs``, without network, every warning an error."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
# Scripts of the gallery run in several processes, so threads would only wait for each other.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "agg")

import matplotlib  # noqa: E402

import gradraker  # noqa: E402

project = "gradraker"
author = "The gradraker developers"
project_copyright = "The gradraker developers, BSD 3-Clause"
release = gradraker.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "command_reference",
    "docstring_links",
    "page_details",
    "page_titles",
    "public_names",
]
exclude_patterns = ["_build", "_templates", "_extensions"]
templates_path = ["_templates"]
smartquotes = False  # options begin with two hyphens
nitpicky = True
# Types of other packages and names of parameters; the build does not look up their addresses.
nitpick_ignore_regex = [(r"py:.*", r"(?!gradraker).*")]

# -- pages -----------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "attrs_inline"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
# Attributes that several models have are resolved by name alone.
suppress_warnings = ["config.cache", "ref.python"]

# -- reference -------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
add_module_names = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# -- gallery ---------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "doc_module": ("gradraker",),
    "reference_url": {"gradraker": None},
    "backreferences_dir": "gallery/uses",
    "inspect_global_variables": True,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
    "plot_gallery": "True",
    "parallel": 2,
    "write_computation_times": False,
}
matplotlib.rcParams["figure.dpi"] = 110

# -- style -----------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "gradraker"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "gradraker",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
