"""Facts about a data set that are known before any of its files is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from gradraker._fields import describe_fields
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import DatasetFileError


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded."""

    name: str  # in the data set's folder
    url: str  # public home of the file, or of the archive that holds it
    sha256: str  # of the file itself, unpacked
    size: int  # bytes of the file itself, unpacked
    member: str = ""  # path inside the archive, if ``url`` is a tar file
    archive_sha256: str = ""  # of the archive at ``url``, where it is known

    @property
    def download_name(self) -> str:
        """Name of the file or archive at ``url``."""
        return self.url.rsplit("/", 1)[-1]


@describe_fields
@dataclass(frozen=True)
class DatasetInfo:
    """Name, origin, terms and files of a data set.

    Examples
    --------
    >>> from gradraker.datasets import describe_dataset
    >>> info = describe_dataset("temperature")
    >>> info.name, info.facts["stations"]
    ('temperature', 89)
    """

    name: Annotated[str, "Name of the data set, also of its folder if it has files."]
    loader: Annotated[
        Callable[..., GraphDataset], "Function of ``gradraker.datasets`` that returns it."
    ]
    description: Annotated[str, "What nodes, edges and values are."]
    licence: Annotated[str, "Terms of use, or that none are stated."]
    citation: Annotated[str, "What to cite."]
    facts: Annotated[Mapping[str, int], "Counts that its files must have."] = field(
        default_factory=dict
    )
    files: Annotated[tuple[RemoteFile, ...], "To download; none if the data set is embedded."] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    def check_facts(self, path: Path, found: Mapping[str, int]) -> None:
        """Refuse a file whose counts differ from the published ones."""
        wrong = [
            f"{number} {fact} instead of {self.facts[fact]}"
            for fact, number in found.items()
            if number != self.facts[fact]
        ]
        if wrong:
            raise DatasetFileError(
                f"{str(path)!r} has {' and '.join(wrong)}, so it is damaged or another file: "
                "remove it to download it again"
            )

    @property
    def terms(self) -> str:
        """Licence and citation in one line."""
        return f"{self.licence}. Cite: {self.citation}"

    def __repr__(self) -> str:
        facts = ", ".join(f"{number} {fact}" for fact, number in self.facts.items())
        return f"DatasetInfo({self.name!r}: {facts})"
