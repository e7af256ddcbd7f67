"""The data sets, their files and where these come from, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Parameters
    ----------
    name : str
        Name in the data set's folder.
    url : str
        Public home of the file, or of the archive that holds it.
    sha256 : str
        Checksum of the file itself, unpacked.
    size : int
        Bytes of the file itself, unpacked.
    member : str
        Path inside the archive, if ``url`` is a tar file.
    archive_sha256 : str
        Checksum of what ``url`` gives, if it is an archive whose checksum is known.
    """

    name: str
    url: str
    sha256: str
    size: int
    member: str = ""
    archive_sha256: str = ""

    @property
    def download_name(self) -> str:
        """Name of what ``url`` gives."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set before any of its files is read.

    Parameters
    ----------
    name : str
        Name of the data set, also of its folder if it has files.
    loader : str
        Function of ``gradraker`` that returns it.
    description : str
        What nodes, edges and values are.
    facts : mapping of str to int
        Counts that its files must have.
    licence : str
        Terms of use, or that none are stated.
    citation : str
        What to cite.
    files : tuple of RemoteFile
        Files to download; none if the data set is embedded.
    """

    name: str
    loader: str
    description: str
    licence: str
    citation: str
    facts: Mapping[str, int] = field(default_factory=dict)
    files: tuple[RemoteFile, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    def __repr__(self) -> str:
        facts = ", ".join(f"{number} {fact}" for fact, number in self.facts.items())
        return f"DatasetInfo({self.name!r}: {facts})"


_CORA_ARCHIVE = {
    "url": "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz",
    "archive_sha256": "0d4ed463d1627bb7f3e8420effe8f5545fd492ae8f88dab44ce86cee7b26d7e8",
}

_SNAP = "https://snap.stanford.edu/data/"

_ALL = (
    DatasetInfo(
        name="cora",
        loader="fetch_cora_con",
        description=(
            "Cora-Con: machine-learning papers that cite at least one paper of the collection; "
            "an edge leads from the citing to the cited paper; the value is the number of the "
            "paper's class, 1 to 7"
        ),
        facts={"papers": 2708, "citations": 5429, "papers that cite nobody": 486, "classes": 7},
        licence="No licence is stated with the data",
        citation=(
            "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad: Collective "
            "classification in network data. AI Magazine 29(3), 2008"
        ),
        files=(
            RemoteFile(
                name="cora.cites",
                member="cora/cora.cites",
                size=69928,
                sha256="ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
                **_CORA_ARCHIVE,
            ),
            RemoteFile(
                name="cora.content",
                member="cora/cora.content",
                size=7823427,
                sha256="b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
                **_CORA_ARCHIVE,
            ),
        ),
    ),
    DatasetInfo(
        name="email_eu_core",
        loader="fetch_email_eu_core",
        description=(
            "Email-Eu-core: members of a European research institution; an edge leads from a "
            "sender to a recipient of at least one mail; the value is the number of the member's "
            "department, 1 to 42"
        ),
        facts={"members": 1005, "departments": 42, "edges": 25571},
        licence="No licence is stated; SNAP asks for the citation",
        citation=(
            "H. Yin, A. R. Benson, J. Leskovec, D. F. Gleich: Local higher-order graph clustering. "
            "KDD 2017; J. Leskovec, J. Kleinberg, C. Faloutsos: Graph evolution: densification and "
            "shrinking diameters. ACM TKDD 1(1), 2007"
        ),
        files=(
            RemoteFile(
                name="email-Eu-core.txt",
                url=f"{_SNAP}email-Eu-core.txt.gz",
                size=192698,
                sha256="23e0ca0bce21a053025e78f7e9691ac9210ae806a0689bd5edff3c3bac572d4c",
            ),
            RemoteFile(
                name="email-Eu-core-department-labels.txt",
                url=f"{_SNAP}email-Eu-core-department-labels.txt.gz",
                size=6537,
                sha256="91a089f21ee35eb224066456fa5322c8ad57c0f07b2da7a58a3220c72b5d54b5",
            ),
        ),
    ),
    DatasetInfo(
        name="temperature",
        loader="load_temperature",
        description=(
            "Swiss weather stations; an edge joins stations of similar altitude; the value is the "
            "mean temperature of a month"
        ),
        facts={"stations": 89},
        licence="CC BY 4.0. Source: MeteoSwiss",
        citation="MeteoSwiss: norm values 1961-1990 of the air temperature 2 m above ground",
    ),
    DatasetInfo(
        name="wikipedia_math",
        loader="fetch_wikipedia_math",
        description=(
            "Wikipedia Math: English Wikipedia pages on mathematics; an edge leads from a page to "
            "one that it links to and weighs the number of links; the value is the number of "
            "visits on one day"
        ),
        facts={"pages": 1068, "edges": 27079, "days": 731},
        licence="MIT, as the repository of PyTorch Geometric Temporal states",
        citation=(
            "B. Rozemberczki et al.: PyTorch Geometric Temporal: spatiotemporal signal processing "
            "with neural machine learning models. CIKM 2021"
        ),
        files=(
            RemoteFile(
                name="wikivital_mathematics.json",
                url=(
                    "https://raw.githubusercontent.com/benedekrozemberczki/"
                    "pytorch_geometric_temporal/master/dataset/wikivital_mathematics.json"
                ),
                size=4336878,
                sha256="eb2196bd8ff033bc0518bc070301f249438025a60bd4db2463052d63ce323d0a",
            ),
        ),
    ),
)

REGISTRY: dict[str, DatasetInfo] = {info.name: info for info in _ALL}


def list_datasets() -> tuple[str, ...]:
    """Names of the data sets, embedded and to be fetched.

    Examples
    --------
    >>> from gradraker.datasets import list_datasets
    >>> list_datasets()
    ('cora', 'email_eu_core', 'temperature', 'wikipedia_math')
    """
    return tuple(REGISTRY)


def dataset_info(name: str) -> DatasetInfo:
    """Say what a data set is, and which files it needs from where.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Examples
    --------
    >>> from gradraker.datasets import dataset_info
    >>> info = dataset_info("cora")
    >>> info
    DatasetInfo('cora': 2708 papers, 5429 citations, 486 papers that cite nobody, 7 classes)
    >>> [file.name for file in info.files]
    ['cora.cites', 'cora.content']
    """
    if name not in REGISTRY:
        raise ValueError(f"name must be one of {', '.join(REGISTRY)}; got {name!r}")
    return REGISTRY[name]
