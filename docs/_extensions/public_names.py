"""The directive ``public-names``: tables of all public names of a package, each with a page."""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from related_names import find_related

SOURCE_LINK = re.compile(r"(reference/api/(gradraker[\w.]*)\.html)#(gradraker[\w.]*)")
# Packages whose names are public, with the name of their page.
PACKAGES = (
    "gradraker",
    "gradraker.models",
    "gradraker.workflow",
    "gradraker.explain",
    "gradraker.graph",
    "gradraker.attributes",
    "gradraker.kernels",
    "gradraker.sweep",
    "gradraker.datasets",
    "gradraker.plotting",
    "gradraker.report",
    "gradraker.dask",
    "gradraker.live",
    "gradraker.paper",
    "gradraker.exceptions",
)


@cache
def list_names(package: str) -> dict[str, Any]:
    """Public names of a package with their objects; names of the root are listed there only."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == package
    ]
    found = {name: getattr(module, name) for name in sorted(names)}
    return {
        name: value
        for name, value in found.items()
        if not inspect.ismodule(value)
        and (package == "gradraker" or not is_elsewhere(package, name))
    }


def is_elsewhere(package: str, name: str) -> bool:
    """Whether the page of a name belongs to the root package or to the exceptions."""
    root = importlib.import_module("gradraker")
    errors = importlib.import_module("gradraker.exceptions")
    return name in root.__all__ or (package != "gradraker.exceptions" and hasattr(errors, name))


def write_pages(app: Sphinx) -> None:
    """Write a page for each package and each name, if it differs from the existing file."""
    home = Path(app.srcdir) / "reference" / "api"
    home.mkdir(exist_ok=True)
    wanted = {}
    for package in PACKAGES:
        names = list_names(package)
        wanted[f"{package}.rst"] = format_package(package, names)
        for name, value in names.items():
            wanted[f"{package}.{name}.rst"] = format_name(package, name, value)
    for file in home.glob("*.rst"):
        if file.name not in wanted:
            file.unlink()
    for file_name, text in wanted.items():
        file = home / file_name
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def format_package(package: str, names: dict[str, Any]) -> str:
    """Page of a package: its docstring and a table of its names."""
    about = inspect.getdoc(importlib.import_module(package)) or ""
    rows = "\n".join(f"   {name}" for name in names)
    pages = "\n".join(f"   {package}.{name}" for name in names)
    return (
        f"{package}\n{'=' * len(package)}\n\n.. py:module:: {package}\n\n{about}\n\n"
        f".. currentmodule:: {package}\n\n.. autosummary::\n\n{rows}\n\n"
        f".. toctree::\n   :hidden:\n\n{pages}\n"
    )


def format_name(package: str, name: str, value: Any) -> str:
    """Page of a name: its docstring, methods, and the examples that use it."""
    full = f"{package}.{name}"
    title = f"{name}\n{'=' * len(name)}\n\n"
    if inspect.isclass(value):
        bare = issubclass(value, BaseException)
        body = f".. autoclass:: {full}\n" + (
            "   :no-members:\n" if bare else "   :members:\n   :inherited-members: object\n"
        )
    elif callable(value):
        body = f".. autofunction:: {full}\n"
    else:
        body = f".. autodata:: {full}\n   :no-value:\n"
    return (
        f"{title}{body}\n{format_related(name)}.. minigallery:: {full}\n   :add-heading: Gallery\n"
    )


def format_related(name: str) -> str:
    """A box with names related to a name, and pages about it."""
    names, pages = find_related(name)
    places = {found: package for package in reversed(PACKAGES) for found in list_names(package)}
    # A name that is not in a group yet is related to the others of its package.
    names = names or [other for other in places if places[other] == places[name] and other != name]
    links = [f":py:obj:`~{places[other]}.{other}`" for other in names if other in places]
    links += [f":doc:`/{page}`" for page in pages]
    return f".. seealso::\n\n   {', '.join(links)}\n\n" if links else ""


class Packages(SphinxDirective):
    """A list of the packages."""

    def run(self) -> list[nodes.Node]:
        """Parse a table of contents."""
        lines = ["```{toctree}", ":maxdepth: 1", "", *(f"api/{name}" for name in PACKAGES), "```"]
        return self.parse_text_to_nodes("\n".join(lines))


def skip_foreign(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Skip members that our classes inherit from scikit-learn and tuples, described elsewhere."""
    module = getattr(getattr(member, "fget", member), "__module__", None)
    of_others = isinstance(module, str) and not module.startswith("gradraker")
    return True if what == "class" and (of_others or name.endswith("_request")) else None


def show_parameters(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, None] | None:
    """Signature of a class: that of its ``__init__``, even if ``__new__`` takes any arguments."""
    if what != "class" or issubclass(obj, BaseException):
        return None
    try:
        found = inspect.signature(obj)
    except ValueError:  # a subclass of dict has no signature
        return None
    plain = [entry.replace(annotation=entry.empty) for entry in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty)), None


def find_public(
    app: Sphinx, env: Any, node: pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """Resolve a name of gradraker that was written with another package, or with none."""
    if node.get("refdomain") != "py":
        return None
    name, _, attribute = node["reftarget"].removeprefix("gradraker.").rpartition(".")
    candidates = [(attribute, "")] + ([(name.rpartition(".")[2], f".{attribute}")] if name else [])
    domain = env.get_domain("py")
    for wanted, rest in candidates:
        for package in PACKAGES:
            target = f"{package}.{wanted}{rest}"
            if target in domain.objects and wanted in list_names(package):
                return domain.resolve_xref(
                    env, node["refdoc"], app.builder, "obj", target, node, content
                )
    return None


def fix_source_links(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    """Make links from source code back to the reference name the package of the page."""
    if page.startswith("_modules/"):
        context["body"] = SOURCE_LINK.sub(name_anchor, context["body"])


def name_anchor(found: re.Match[str]) -> str:
    """A link to the page of a name, with the right anchor on that page."""
    start, full, anchor = found.groups()
    name = full.rpartition(".")[2]
    _, _, method = f"{anchor}.".partition(f".{name}.")
    return f"{start}#{full}" + (f".{method}".rstrip("."))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before the site is read."""
    app.add_directive("public-packages", Packages)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-signature", show_parameters)
    app.connect("html-page-context", fix_source_links)
    app.connect("missing-reference", find_public)
    app.connect("builder-inited", write_pages, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
