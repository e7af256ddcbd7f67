"""Check wheel and sdist of dist/: what the index would show, and installing them.

``make dist`` runs it. The README must render with no link to a file that the index does not have.
Wheel and sdist are installed in empty environments, without extras and with each; every
installation must import, say its version, and do a job.
"""

import email
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

from readme_renderer import markdown

HOME = Path(__file__).parents[1]
# Extras that users install; peers are large, and the others are for this repository.
SKIPPED = {"dev", "docs", "peers", "release", "test"}
JOB = """
import gradraker
data = gradraker.load_temperature()
known = dict(zip(data.node_names[:60], data.values[:60]))
predictions = gradraker.NodeRegressor().fit(data, known).predict()
assert predictions.shape == (29,)
print(gradraker.__version__)
"""


def list_extras() -> list[str]:
    """No extra, each extra for users, in that order."""
    text = (HOME / "pyproject.toml").read_text("utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    return ["", *(f"[{name}]" for name in sorted(set(extras) - SKIPPED))]


def render_description(wheel: Path) -> str:
    """Render the description in a wheel as the index would; exit if it cannot be shown there."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    page: str | None = markdown.render(str(metadata.get_payload()))
    if page is None:
        sys.exit("The index cannot render the README.")
    links = re.findall(r'(?:href|src)="([^"]+)"', page)
    lost = [link for link in links if not link.startswith(("https://", "#", "data:"))]
    if lost:
        sys.exit(f"The index does not have what the README links to: {', '.join(lost)}")
    return page


def try_file(file: Path, extra: str) -> str:
    """Install a file with an extra in an empty environment, do a job, return the version."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*words, f"{file}{extra}"], check=True, stderr=subprocess.DEVNULL)
        done = subprocess.run(
            [str(python), "-c", JOB], check=True, capture_output=True, text=True, cwd=folder
        )
        subprocess.run(
            [str(python.parent / "gradraker"), "--version"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        return done.stdout.strip()


if __name__ == "__main__":
    files = sorted((HOME / "dist").glob("gradraker-*"))
    if len(files) != 2:
        sys.exit(f"dist must hold one wheel and one sdist, got {[file.name for file in files]}")
    shown = render_description(next(file for file in files if file.suffix == ".whl"))
    print(f"README: {len(shown)} characters of HTML, no lost link", flush=True)
    for file in files:
        # An sdist becomes the same wheel: once without extras and once with all is enough.
        extras = list_extras() if file.suffix == ".whl" else ["", "[all]"]
        for extra in extras:
            print(f"{file.name}{extra}: {try_file(file, extra)}", flush=True)
