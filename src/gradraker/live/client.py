"""A client of a live service, with the verbs of models of graphs."""

import json
import ssl
import time
import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import urllib3

from gradraker.exceptions import ArgumentError, LiveRequestError

_MAX_PER_REQUEST = 10_000
_RETRIED_STATUSES = (429, 503)


@dataclass(frozen=True)
class Kept:
    """Numbers of changes in the journal; they are on disk.

    They are learned when the state of the service has reached ``last_seq``.

    Examples
    --------
    >>> from gradraker.live import connect
    >>> client = connect("http://127.0.0.1:8000", token="secret")  # doctest: +SKIP
    >>> kept = client.partial_fit(values={"Davos": -5.3})  # doctest: +SKIP
    """

    first_seq: int
    last_seq: int
    repeated: bool


def connect(
    url: str,
    *,
    token: str | None = None,
    timeout: float = 30.0,
    context: ssl.SSLContext | None = None,
) -> "Client":
    """Connect to a live service.

    Parameters
    ----------
    url : str
        Such as ``"http://localhost:8000"``.
    token : str, optional
        The token of the service, which changes need.
    timeout : float, default=30.0
        Seconds for which a request is retried while the service is busy or unreachable.
    context : ssl.SSLContext, optional
        Certificates to trust, for ``https``.

    Returns
    -------
    Client

    Examples
    --------
    >>> from gradraker.live import connect
    >>> client = connect("http://127.0.0.1:8000", token="secret")  # doctest: +SKIP
    >>> client.predict(["Davos"])  # doctest: +SKIP
    """
    client = Client(url, token=token, timeout=timeout, context=context)
    client.state()  # raises here if the address is wrong
    return client


class Client:
    """A live service, used like a model of graphs. :func:`connect` makes one.

    Attributes
    ----------
    last_state : int or None
        Number of the state that the last predictions came from.

    Examples
    --------
    >>> from gradraker.live import connect
    >>> client = connect("http://127.0.0.1:8000", token="secret")  # doctest: +SKIP
    >>> client.partial_fit(values={"Davos": -5.3})  # doctest: +SKIP
    """

    def __init__(
        self, url: str, *, token: str | None, timeout: float, context: ssl.SSLContext | None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ArgumentError("url", "such as 'http://localhost:8000'", url)
        self._url = parts._replace(query="", fragment="").geturl().rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout = timeout
        self._pool = urllib3.PoolManager(timeout=timeout, retries=False, ssl_context=context)
        self.last_state: int | None = None

    # -- changes -----------------------------------------------------------------

    def partial_fit(
        self,
        graph: Any = None,
        values: Any = None,
        *,
        attributes: Any = None,
        key: str | None = None,
    ) -> Kept:
        """Send edges, values and attributes; when this returns, they are on the service's disk.

        Parameters
        ----------
        graph : any graph that :func:`gradraker.adjacency_vectors` takes, optional
            Edges to add; the weight of an edge that exists is replaced.
        values : mapping or Series, optional
            Values or labels by node.
        attributes : mapping, optional
            A mapping of attributes for each node.
        key : str, optional
            A call repeated with the same key counts once; default a new key.

        Returns
        -------
        Kept
        """
        if graph is None and values is None and attributes is None:
            raise ValueError("partial_fit needs a graph, values or attributes, got none of them")
        changes = [] if graph is None else _list_edges(graph)
        for name, field, given in (
            ("put_value", "value", values),
            ("put_attributes", "attributes", attributes),
        ):
            changes += [
                {"op": name, "node": str(node), field: _to_plain(content)}
                for node, content in ({} if given is None else given).items()
            ]
        return self._send_changes(changes, key)

    def forget(
        self,
        *,
        values: Iterable[Hashable] = (),
        nodes: Iterable[Hashable] = (),
        edges: Iterable[tuple[Hashable, Hashable]] = (),
        attributes: Iterable[Hashable] = (),
        key: str | None = None,
    ) -> Kept:
        """Remove the values of nodes, whole nodes, edges, or the attributes of nodes."""
        changes = [
            {"op": "remove_edge", "source": str(source), "target": str(target)}
            for source, target in edges
        ]
        removed = {"value": values, "attributes": attributes, "node": nodes}
        for kind, names in removed.items():
            changes += [{"op": f"remove_{kind}", "node": str(name)} for name in names]
        return self._send_changes(changes, key)

    def _send_changes(self, changes: Sequence[dict[str, Any]], key: str | None) -> Kept:
        if not changes:
            raise ValueError("the given arguments are empty: there are no changes to send")
        key = uuid.uuid4().hex if key is None else key
        answers = []
        for start in range(0, len(changes), _MAX_PER_REQUEST):
            some = changes[start : start + _MAX_PER_REQUEST]
            lines = "\n".join(json.dumps(change, allow_nan=True) for change in some)
            headers = {
                "Content-Type": "application/x-ndjson",
                "Idempotency-Key": key if start == 0 else f"{key}-{start}",
            }
            answers.append(self._request("POST", "/changes", lines.encode(), headers))
        return Kept(
            answers[0]["first_seq"],
            answers[-1]["last_seq"],
            all(answer["repeated"] for answer in answers),
        )

    def wait(self, kept: Kept | int, *, timeout: float = 60.0) -> int:
        """Wait until changes are learned; return the number of the state."""
        seq = kept.last_seq if isinstance(kept, Kept) else kept
        deadline = time.monotonic() + timeout
        while True:
            state = self.state()["state"]
            if state is not None and state >= seq:
                return int(state)
            if time.monotonic() > deadline:
                raise TimeoutError(f"change {seq} was not learned in {timeout:g} s")
            time.sleep(0.05)

    # -- questions ---------------------------------------------------------------

    def predict(
        self,
        nodes: Sequence[Hashable] | None = None,
        *,
        return_interval: bool = False,
        coverage: float = 0.9,
    ) -> Any:
        """Predict nodes of the graph; default all whose values are unknown.

        Returns
        -------
        predictions : ndarray of shape (n,)
        intervals : ndarray of shape (n, 2)
            If ``return_interval``.
        """
        body = {"coverage": coverage} if return_interval else {}
        found = self._predict(nodes, body)
        listed = [item["prediction"] for item in found]
        are_numbers = all(isinstance(prediction, int | float) for prediction in listed)
        predictions = np.array(listed, dtype=None if are_numbers else object)  # as the models do
        if not return_interval:
            return predictions
        ends = [_read_interval(item) for item in found]
        return predictions, np.array(ends, dtype=np.float64).reshape(-1, 2)

    def predict_proba(self, nodes: Sequence[Hashable] | None = None) -> list[dict[str, float]]:
        """Return the probabilities of classes of nodes, by class."""
        found = self._predict(nodes, {"probabilities": True})
        return [item["probabilities"] for item in found]

    def _predict(self, nodes: Sequence[Hashable] | None, body: dict[str, Any]) -> list[Any]:
        if nodes is None:
            return self._ask("/predict", body)["predictions"]  # type: ignore[no-any-return]
        if isinstance(nodes, str | bytes):
            raise TypeError(f"nodes must be a list of names, got {nodes!r}")
        names = [str(node) for node in nodes]
        found: list[Any] = []
        for start in range(0, len(names), _MAX_PER_REQUEST):
            some = names[start : start + _MAX_PER_REQUEST]
            found += self._ask("/predict", body | {"nodes": some})["predictions"]
        return found

    def predict_new(
        self,
        links: Mapping[Hashable, Any],
        *,
        attributes: Mapping[Hashable, Any] | None = None,
        return_interval: bool = False,
        coverage: float = 0.9,
    ) -> dict[str, Any]:
        """Predict nodes that are not in the graph, from their links to nodes that are.

        Parameters
        ----------
        links : mapping
            New node → neighbours, or → ``{neighbour: weight}``; [] for a node without links.
        attributes : mapping, optional
            New node → ``{attribute: value}``, if the service's model started with attributes.

        Returns
        -------
        dict
            New node → prediction, or → (prediction, lower end, upper end).
        """
        # Neighbours, or neighbours and edge weights.
        given = {
            str(node): {str(other): float(weight) for other, weight in others.items()}
            if isinstance(others, Mapping)
            else [str(other) for other in others]
            for node, others in links.items()
        }
        body: dict[str, Any] = {"links": given}
        body |= {"coverage": coverage} if return_interval else {}
        if attributes is not None:
            body["attributes"] = {str(node): _to_plain(own) for node, own in attributes.items()}
        found = self._ask("/predict-new", body)["predictions"]
        if return_interval:
            return {item["node"]: (item["prediction"], *_read_interval(item)) for item in found}
        return {item["node"]: item["prediction"] for item in found}

    def explain(self, nodes: Sequence[Hashable], *, top: int = 5) -> list[dict[str, Any]]:
        """Return, for each node, the known nodes that count most in its prediction.

        offset + Σ weight · value over ``known`` + rest is the prediction, or, if a ``scale`` is
        named, the ``sum`` in that scale. For labels the sum is a score per class, from the weights
        of the known nodes of that class. ``parts`` is how much each kind of similarity adds.
        """
        body = {"nodes": [str(node) for node in nodes], "top": top}
        found: list[dict[str, Any]] = self._ask("/explain", body)["explanations"]
        return found

    def errors(self, *, last: int = 1000) -> dict[str, Any]:
        """Return errors of predictions that were made before the values were learned."""
        return self._request("GET", f"/errors?last={last}")

    def history(self, node: Hashable, *, limit: int = 100) -> list[dict[str, Any]]:
        """Return the changes that name a node, the newest first."""
        path = f"/history?node={quote(str(node), safe='')}&limit={limit}"
        found: list[dict[str, Any]] = self._request("GET", path)["changes"]
        return found

    def state(self) -> dict[str, Any]:
        """Return the state of the service."""
        return self._request("GET", "/state")

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield an event for each new state, the current one first."""
        answer = self._send("GET", "/events", timeout=60.0, preload_content=False)
        try:
            if answer.status != 200:
                _raise(answer.status, answer.data)
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            answer.close()

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps(body).encode()
        found = self._request("POST", path, content, {"Content-Type": "application/json"})
        self.last_state = found["state"]
        return found

    # -- the connection ------------------------------------------------------------

    def close(self) -> None:
        """Close the connection."""
        self._pool.clear()

    def _request(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request, and retry while the service is busy or unreachable: changes have keys."""
        deadline = time.monotonic() + self._timeout
        pause = 0.05
        while True:
            try:
                answer = self._send(method, path, headers, body=content)
            except urllib3.exceptions.HTTPError as error:
                if time.monotonic() + pause > deadline:
                    raise ConnectionError(
                        f"the service at {self._url} does not answer: {error}"
                    ) from error
            else:
                if answer.status == 200:
                    found: dict[str, Any] = answer.json()
                    return found
                if answer.status not in _RETRIED_STATUSES or time.monotonic() + pause > deadline:
                    _raise(answer.status, answer.data)
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **options: Any
    ) -> urllib3.BaseHTTPResponse:
        headers = self._headers | dict(headers or {})
        url = self._url + path
        return self._pool.request(method, url, headers=headers, redirect=False, **options)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"gradraker.live.connect({self._url!r})"


def _list_edges(graph: Any) -> list[dict[str, Any]]:
    """Return the edges of any graph as changes."""
    from gradraker.graph.node_graph import make_node_graph  # loads SciPy

    found = make_node_graph(graph, {})
    entries = found.adjacency.tocoo()
    names = [str(name) for name in found.nodes.tolist()]
    rows, columns = entries.coords
    return [
        {"op": "put_edge", "source": names[i], "target": names[j], "weight": weight}
        for i, j, weight in zip(rows.tolist(), columns.tolist(), entries.data.tolist(), strict=True)
    ]


def _to_plain(value: Any) -> Any:
    """Return a value or attributes as built-in types."""
    if isinstance(value, Mapping):
        return {str(name): _to_plain(own) for name, own in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _read_interval(item: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of an interval; an infinite end is null, since JSON has no infinity."""
    lower, upper = item["lower"], item["upper"]
    return (-np.inf if lower is None else lower), (np.inf if upper is None else upper)


def _raise(status: int, answer: bytes) -> None:
    try:
        found = json.loads(answer)
        fields = {item["field"]: item["problem"] for item in found["fields"]}
        error = str(found["error"])
    except (ValueError, KeyError, TypeError):  # the answer of a proxy
        fields, error = {}, f"the service answered {answer[:200]!r}"
    raise LiveRequestError(status, error, fields)
