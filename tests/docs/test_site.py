"""The site: it builds without a warning, its links hold, and a real browser finds no fault."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from browser import browser
from devtools import open_tab

HOME = Path(__file__).parents[2]
# Pages that every visitor sees are looked at on a phone and a desk, in light and dark.
LOOKED_AT = (
    "index.html",
    "tutorials/first-prediction.html",
    "gallery/index.html",
    "gallery/plot_00_overview.html",
    "theory/ranges.html",
    "theory/node-models.html",
    "reference/commands.html",
    "reference/api/gradraker.NodeRegressor.html",
    "benchmarks/peers.html",
)
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, what it loads, and how it can be linked to."""
        found = dict(attrs)
        self.anchors |= {name for name in (found.get("id"), found.get("name")) if name}
        if tag in ("a", "area") and found.get("href"):
            self.links.append(str(found["href"]))
        loads = found.get("src") or (found.get("href") if tag == "link" else None)
        if loads:
            self.loaded.append(loads)


def build_site(folder: Path) -> Path:
    """Build the site as ``make docs`` does, and return its folder."""
    words = ["-W", "--keep-going", "-q", "-j", "2", "-b", "html", "-d", str(folder / "trees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, str(HOME / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "html"


def find_pages(site: Path) -> list[Path]:
    """All pages; the theme leaves a template among its own files."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def find_broken(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Links of pages to files or anchors that are not there, and files loaded from elsewhere."""
    broken = []
    for path, page in pages.items():
        here = path.relative_to(site).as_posix()
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    broken.append(f"{here} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                broken.append(f"{here} → {link}")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                broken.append(f"{here} → {link}: no such anchor")
    return broken


def test_broken_links_are_found(tmp_path: Path) -> None:
    # The walk below would pass for ever if links were no longer looked at.
    text = '<h1 id="a"></h1><a href="#a"></a><a href="#b"></a><a href="no.html"></a><img src="https://x.org/y">'
    path = tmp_path / "index.html"
    path.write_text(text)
    assert find_broken(tmp_path, {path: Page(text)}) == [
        "index.html → #b: no such anchor",
        "index.html → no.html",
        "index.html loads https://x.org/y",
    ]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.browser
def test_site_builds_and_a_browser_finds_no_fault(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is not installed")
    site = build_site(tmp_path)
    pages = {path: Page(path.read_text("utf-8")) for path in find_pages(site)}
    assert len(pages) > 200
    assert len(list((site / "gallery").glob("plot_*.html"))) >= 15
    assert find_broken(site, pages) == []
    if browser() is None:
        pytest.skip("the site is built and its links hold, but there is no browser to look at it")
    with open_tab(tmp_path) as tab:
        for path in pages:
            visit = tab.open(path.as_uri())
            assert visit.complaints == [], visit.url
            assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
        for width in (390, 1280):
            tab.resize(width, 900)
            for name in LOOKED_AT:
                for mode in ("light", "dark"):
                    tab.open((site / name).as_uri())
                    tab.run(f"document.documentElement.dataset.theme = '{mode}'")
                    assert tab.run(SIDEWAYS) <= 0, f"{name} is wider than {width} pixels"
        tab.open((site / "search.html").as_uri() + "?q=Jungfraujoch")
        assert tab.wait_for("document.querySelectorAll('#search-results li').length") > 0
