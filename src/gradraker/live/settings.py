"""Settings of a live service."""

from dataclasses import dataclass, field

from gradraker._validation import check_choice, check_count, check_positive

# Limits that are part of the description of the API.
MAX_ITEMS = 10_000  # changes, nodes or links in one request
MAX_NAME_LENGTH = 256  # characters of a name, a label, an attribute or a key
MAX_NUMBER = 1e100  # squares and their sums stay finite
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Limits:
    """Limits on what a client may send and on what may wait."""

    body_bytes: int = 8 * 2**20  # of a request
    pending: int = 50_000  # changes waiting to be learned; more are answered by 429
    # Requests waiting for the journal or the model; more are answered by 429.
    waiting: int = 200
    listeners: int = 100  # clients listening to events
    rate: float = 1000.0  # requests per second and address
    seconds: float = 30.0  # for a request to arrive

    def __post_init__(self) -> None:
        for name in ("body_bytes", "pending", "waiting", "listeners"):
            check_count(name, getattr(self, name))
        check_positive("rate", self.rate)
        check_positive("seconds", self.seconds)


@dataclass(frozen=True)
class Settings:
    """Where a service listens, and which requests it accepts."""

    journal: str  # a file, or a postgresql:// URL
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)  # that clients must send
    token_for: str = "changes"  # requests that need it: "changes", "all" or "nothing"
    hosts: tuple[str, ...] = ()  # further names under which browsers may reach the service
    certificate: str | None = None
    private_key: str | None = None
    proxies: str | None = None
    root_path: str = ""
    lease_seconds: float = 5.0
    snapshot_seconds: float = 60.0
    snapshot_changes: int = 5000
    largest_batch: int = 2000  # changes learned together
    poll_seconds: float = 0.25
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check_choice("token_for", self.token_for, ("changes", "all", "nothing"))
        check_positive("lease_seconds", self.lease_seconds)
        check_positive("snapshot_seconds", self.snapshot_seconds)
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise ValueError("token must be printable ASCII text")
        if self.token == "":
            raise ValueError("token must not be empty")
        if self.token_for != "nothing" and self.token is None:
            raise ValueError("token is None, but token_for is not 'nothing'")
        if (self.certificate is None) != (self.private_key is None):
            raise ValueError("certificate and private_key must be given together")
