"""A live service under load: latencies of predictions while values arrive.

``gradraker serve`` on a graph of 22 470 nodes and 170 823 edges (musae_facebook where
``GRADRAKER_DATA`` has it, else a random graph of that size): 300 predictions per second, 80 % of
them of nodes of the graph and 20 % of new nodes by their links, half of them with intervals, while
20 values per second are put one by one. Requests start when they are due, whether or not earlier
ones were answered; times count from then. The delay of a value is the time from its acknowledgement
until a state includes it.

Run ``python benchmarks/bench_live.py``; ``--full`` takes two minutes, and then an hour's worth of
values (72 000), to check that memory does not grow.
"""

import asyncio
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gradraker import NodeRegressor, load
from gradraker.live import connect
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

RATE, VALUE_RATE = 300.0, 20.0
TOKEN = "a token for the benchmark"
KINDS = ("node", "node, interval", "new node", "new node, interval")
SHARES = (0.4, 0.4, 0.1, 0.1)
N_CONNECTIONS = 48
_COMMAND = [sys.executable, "-c", "from gradraker.cli import main; main()", "serve"]


def make_graph(n_nodes: int, n_edges: int) -> list[tuple[str, str]]:
    """Edges of musae_facebook, or of a random graph of that size in which some nodes are hubs."""
    folder = Path(os.environ.get("GRADRAKER_DATA", "/nowhere")) / "musae_facebook"
    if n_nodes > 20_000 and (folder / "edges.csv.gz").exists():
        with gzip.open(folder / "edges.csv.gz", "rt") as file:
            return [(row[0], row[1]) for row in list(csv.reader(file))[1:]]
    rng = np.random.default_rng(SEED)
    targets = (n_nodes * rng.random(n_edges) ** 2).astype(int)
    sources = (targets + 1 + rng.integers(min(n_nodes - 1, 200), size=n_edges)) % n_nodes
    ring = [(str(i), str((i + 1) % n_nodes)) for i in range(n_nodes)]
    return ring + [(str(a), str(b)) for a, b in zip(sources, targets, strict=True)]


def make_values(edges: Sequence[tuple[str, str]]) -> dict[str, float]:
    """A value for each node: the logarithm of how many edges its neighbours have."""
    names, codes = np.unique(np.array(edges), return_inverse=True)
    pairs = codes.reshape(-1, 2)
    degrees = np.bincount(pairs.ravel()).astype(float)
    sums = np.bincount(pairs[:, 0], degrees[pairs[:, 1]], len(names))
    sums += np.bincount(pairs[:, 1], degrees[pairs[:, 0]], len(names))
    return dict(zip(names.tolist(), np.log1p(sums / degrees).tolist(), strict=True))


class Service:
    """``gradraker serve`` in a process of its own."""

    def __init__(self, folder: Path, model: Path) -> None:
        words = ["--model", model, "--journal", folder / "live.db", "--port", "0"]
        self._process = subprocess.Popen(
            [*_COMMAND, *map(str, words), "--rate", "100000"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"GRADRAKER_TOKEN": TOKEN},
        )
        assert self._process.stdout is not None
        found = re.search(r":(\d+)/", self._process.stdout.readline())
        assert found is not None
        self.port = int(found[1])
        self.client = connect(f"http://127.0.0.1:{self.port}", token=TOKEN, timeout=600.0)
        while self.client.state()["state"] is None:
            time.sleep(0.1)

    def measure_memory(self) -> float:
        """Memory of both processes in megabytes."""
        ids = [str(self._process.pid)]
        for children in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            ids += children.read_text().split()
        sizes = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in ids]
        found = [re.search(r"Pss:\s+(\d+)", text) for text in sizes]
        return sum(float(one[1]) for one in found if one is not None) / 1024

    def stop(self) -> None:
        """Stop the service."""
        self.client.close()
        self._process.terminate()
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()


@dataclass
class Findings:
    """Times of requests in seconds, by kind, and how late values were."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    statuses: dict[int, int] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    elapsed: float = 0.0


class Connections:
    """Connections that stay open, one request at a time on each."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: asyncio.Queue[Any] = asyncio.Queue()

    async def open(self) -> None:
        """Open all connections."""
        for _ in range(N_CONNECTIONS):
            self._free.put_nowait(await asyncio.open_connection("127.0.0.1", self._port))

    async def close(self) -> None:
        """Close all connections."""
        while not self._free.empty():
            writer = self._free.get_nowait()[1]
            writer.close()
            await writer.wait_closed()

    async def send(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Send a request on a connection that is free; return status and answer."""
        reader, writer = await self._free.get()
        content = json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", answer)
        assert length is not None
        found = json.loads(await reader.readexactly(int(length[1])))
        self._free.put_nowait((reader, writer))
        return int(answer.split(maxsplit=2)[1]), found


def make_request(kind: str, names: Sequence[str], rng: np.random.Generator) -> tuple[str, Any]:
    body: dict[str, Any] = {"coverage": 0.9} if "interval" in kind else {}
    if kind.startswith("new"):
        links = {f"new {rng.integers(2**62)}": list(rng.choice(names, 3, replace=False))}
        return "/predict-new", body | {"links": links}
    return "/predict", body | {"nodes": [names[int(rng.integers(len(names)))]]}


async def put_load(
    service: Service, names: Sequence[str], values: Sequence[tuple[str, float]], seconds: float
) -> Findings:
    """Ask and put at fixed rates."""
    rng = np.random.default_rng(SEED)
    findings = Findings()
    connections = Connections(service.port)
    await connections.open()
    waiting: dict[int, float] = {}  # change → when it was acknowledged

    async def ask(kind: str, due: float) -> None:
        path, body = make_request(kind, names, rng)
        status, _ = await connections.send("POST", path, body)
        findings.statuses[status] = findings.statuses.get(status, 0) + 1
        findings.seconds[kind].append(time.perf_counter() - due)

    async def put(node: str, value: float, due: float) -> None:
        status, answer = await connections.send("PUT", "/values", {"values": {node: value}})
        findings.statuses[status] = findings.statuses.get(status, 0) + 1
        findings.writes.append(time.perf_counter() - due)
        waiting[answer["last_seq"]] = time.perf_counter()

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.1)
            state = (await connections.send("GET", "/state", {}))[1]["state"]
            for seq in [seq for seq in waiting if seq <= state]:
                findings.late.append(time.perf_counter() - waiting.pop(seq))

    async def every(rate: float, n: int, start: Any) -> None:
        begin = time.perf_counter()
        tasks = []
        for i in range(n):
            due = begin + i / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(start(i, due)))
        await asyncio.gather(*tasks)

    kinds = rng.choice(KINDS, int(RATE * seconds), p=SHARES).tolist()
    n_values = min(len(values), int(VALUE_RATE * seconds))
    watching = asyncio.create_task(watch())
    begin = time.perf_counter()
    await asyncio.gather(
        every(RATE, len(kinds), lambda i, due: ask(kinds[i], due)),
        every(VALUE_RATE, n_values, lambda i, due: put(*values[i], due)),
    )
    findings.elapsed = time.perf_counter() - begin
    ends = time.perf_counter() + 60.0
    while waiting and time.perf_counter() < ends:
        await asyncio.sleep(0.1)
    findings.late += [time.perf_counter() - at for at in waiting.values()]
    watching.cancel()
    await connections.close()
    return findings


def put_an_hour(service: Service, values: Sequence[tuple[str, float]], n: int) -> list[float]:
    """Put n values, and measure memory ten times meanwhile, in megabytes."""
    found = [service.measure_memory()]
    for part in range(10):
        for i in range(n // 10 // 20):
            some = [values[(20 * i + j) % len(values)] for j in range(20)]
            last = service.client.partial_fit(values={k: v + part + i * 1e-3 for k, v in some})
        service.client.wait(last, timeout=600.0)
        found.append(service.measure_memory())
    return found


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    n_nodes, n_edges, seconds = (200, 600, 1.5) if arguments.tiny else (22_470, 170_823, 20.0)
    seconds = 120.0 if arguments.full else seconds
    edges = make_graph(n_nodes, n_edges)
    values = list(make_values(edges).items())
    order = np.random.default_rng(SEED).permutation(len(values))
    n_known = len(values) * 2 // 5
    known = dict(values[i] for i in order[:n_known])
    arriving = [values[i] for i in order[n_known:]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        start = time.perf_counter()
        model = NodeRegressor().fit(edges, known).save(path / "model.gr")
        fitted = time.perf_counter() - start
        service = Service(path, model)
        started = time.perf_counter() - start - fitted
        try:
            names = [name for name, _ in values]
            before = service.client.predict(names[:50])
            difference = float(np.abs(load(model).predict(names[:50]) - before).max())
            asyncio.run(put_load(service, names, arriving, seconds / 10))  # compile, fill caches
            memory = service.measure_memory()
            found = asyncio.run(put_load(service, names, arriving[::-1], seconds))
            hour = put_an_hour(service, arriving, 72_000) if arguments.full else []
        finally:
            service.stop()
    all_seconds = np.concatenate([found.seconds[kind] for kind in KINDS])
    findings = [
        Finding("predictions", all_seconds.size / found.elapsed, RATE * 0.98, " per second"),
        Finding("99 % of them within", _share(all_seconds, 0.99), 50.0, " ms", at_most=True),
        Finding("values are learned after at most", max(found.late), 2.0, " s", at_most=True),
        Finding("memory", memory, None, " MB"),
    ]
    if hour:
        # The first part fills caches.
        growth = max(hour[5:]) / max(hour[1:5])
        findings.append(Finding("memory, later over earlier", growth, 1.1, "×", at_most=True))
    return finish(
        Report(
            f"Live: {len(values)} nodes, {len(edges)} edges, {n_known} known; fit {fitted:.1f} s, "
            f"start {started:.1f} s",
            findings=tuple(findings),
            agreements=(Agreement("predictions of service and model", difference, 1e-8),),
            tables=(make_table(found),),
            judged=not arguments.tiny,
        )
    )


def _share(seconds: Any, share: float) -> float:
    return 1e3 * float(np.quantile(seconds, share))


def make_table(found: Findings) -> str:
    rows = [
        [
            kind,
            str(len(times)),
            *(f"{_share(times, share):.1f} ms" for share in (0.5, 0.9, 0.99, 1)),
        ]
        for kind, times in [*found.seconds.items(), ("value put", found.writes)]
        if times
    ]
    rows.append(
        ["value learned", str(len(found.late))]
        + [f"{_share(found.late, share):.0f} ms" for share in (0.5, 0.9, 0.99, 1)]
    )
    statuses = ", ".join(f"{n} × {status}" for status, n in sorted(found.statuses.items()))
    return f"{table(['', 'n', 'median', '90 %', '99 %', 'slowest'], rows)}\nanswers: {statuses}"


if __name__ == "__main__":
    run_alone(main)
