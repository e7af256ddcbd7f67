"""The README and addresses as the index shows them.

Links of the README lead to files of the repository. The index has none of these files, so where the
address of the repository is known (workflows of the forge set GITHUB_REPOSITORY) links lead there,
and elsewhere pictures are left out and links become text.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")


def find_address() -> str | None:
    """Address of the repository on the forge, or None outside of its workflows."""
    name = os.environ.get("GITHUB_REPOSITORY")
    return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}" if name else None


def format_readme(text: str, address: str | None, version: str) -> str:
    """Make links of a README absolute; without an address, keep their texts."""

    def replace(found: re.Match[str]) -> str:
        picture, label, path = found.groups()
        if address is None:
            return "" if picture else label
        return f"{picture}[{label}]({address}/{'raw' if picture else 'blob'}/{version}/{path})"

    return LINK.sub(replace, text)


class ReadmeHook(MetadataHookInterface):
    """Fills in ``readme`` and ``urls`` of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both, from README.md and the address of the repository."""
        address, branch = find_address(), os.environ.get("GITHUB_REF_NAME", "")
        version = branch if re.fullmatch(r"v\d.*", branch) else "main"
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": format_readme(text, address, version),
        }
        pages = {
            "Source": "",
            "Documentation": f"/tree/{version}/docs",
            "Changelog": f"/blob/{version}/CHANGELOG.md",
            "Issues": "/issues",
        }
        metadata["urls"] = {name: f"{address}{page}" for name, page in pages.items() if address}
