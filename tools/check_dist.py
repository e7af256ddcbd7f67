"""Check wheel and sdist of dist/: how the index would show them, and that they install.

``make dist`` runs it. The README must render, and link to no file that the index does not have.
Wheel and sdist are installed in empty environments, without extras and with each; every
installation must import, print its version, and run a small job.
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
    """List the suffixes of all installations: no extra, then each extra for users."""
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
    broken = [link for link in links if not link.startswith(("https://", "#", "data:"))]
    if broken:
        sys.exit(f"The README links to files that the index does not have: {', '.join(broken)}")
    return page


def try_installation(file: Path, extra: str) -> str:
    """Install a file with an extra in an empty environment, run a job, return the version."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, f"{file}{extra}"], check=True, stderr=subprocess.DEVNULL)
        result = subprocess.run(
            [str(python), "-c", JOB], check=True, capture_output=True, text=True, cwd=folder
        )
        subprocess.run(
            [str(python.parent / "gradraker"), "--version"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        return result.stdout.strip()


if __name__ == "__main__":
    files = sorted((HOME / "dist").glob("gradraker-*"))
    if len(files) != 2:
        sys.exit(f"dist must hold one wheel and one sdist, got {[file.name for file in files]}")
    page = render_description(next(file for file in files if file.suffix == ".whl"))
    print(f"README: {len(page)} characters of HTML, no broken link", flush=True)
    for file in files:
        # The sdist builds the same wheel: once without extras and once with all is enough.
        extras = list_extras() if file.suffix == ".whl" else ["", "[all]"]
        for extra in extras:
            print(f"{file.name}{extra}: {try_installation(file, extra)}", flush=True)
