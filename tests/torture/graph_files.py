"""Damaged files of edges and values in every format."""

import gzip
import io
import random
from pathlib import Path

from torture.attempts import Budget, Counts
from torture.many import Attempt, TooSlowError, try_many
from torture.memory import can_measure, get_peak, reset_peak
from torture.model_files import damage

_ROOM, _FACTOR = 256 << 20, 64


def read_damaged_graphs(budget: Budget) -> Counts:
    """Read each file as edges and as values."""
    counts = Counts()

    def prepare(folder: Path) -> Attempt:
        import networkx  # noqa: F401 - it takes long, and an import must not be interrupted

        originals = _make_originals()
        measured = can_measure()
        return lambda number: _attempt(folder, originals, budget.seed, number, measured=measured)

    outcomes = try_many(budget, prepare, counts)
    counts.remark = ", ".join(f"{n} {word}" for word, n in sorted(outcomes.items()))
    return counts


def _make_originals() -> dict[str, bytes]:
    import polars as pl

    rows = [(f"n{i}", f"n{(3 * i + 1) % 20}", 0.5 * i) for i in range(20)]
    text = "source,target,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in rows)
    quoted = "node;value\n" + "".join(f'"n ""{i}""";{i}\n' for i in range(20))
    matrix = "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 0.5\n2 3 1\n4 1 2\n"
    graphml = (
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" '
        'for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">'
        '<node id="a"/><node id="b"/><edge source="a" target="b"><data key="w">2</data></edge>'
        "</graph></graphml>"
    )
    frame = pl.DataFrame(rows, schema=["source", "target", "weight"], orient="row")
    numbers = pl.DataFrame({"source": list(range(500)), "target": [7] * 500})
    originals = {
        "csv": text.encode(),
        "csv2": quoted.encode(),
        "tsv": text.replace(",", "\t").encode(),
        "csv.gz": gzip.compress(text.encode(), mtime=0),
        "mtx": matrix.encode(),
        "graphml": graphml.encode(),
    }
    for codec in ("uncompressed", "snappy", "zstd", "gzip", "lz4"):
        for name, table in (("frame", frame), ("numbers", numbers)):
            buffer = io.BytesIO()
            table.write_parquet(buffer, compression=codec, use_pyarrow=False)
            originals[f"{name}-{codec}.parquet"] = buffer.getvalue()
    return originals


def _attempt(
    folder: Path, originals: dict[str, bytes], seed: int, number: int, *, measured: bool
) -> tuple[str | None, str]:
    from gradraker import read_edges, read_values
    from gradraker.exceptions import GraphFileError

    rng = random.Random(f"{seed} {number}")
    name = rng.choice(sorted(originals))
    kind = name.rpartition(".")[2].rstrip("2")
    content = originals[name]
    content = content[: rng.randrange(len(content))] if rng.random() < 0.1 else damage(rng, content)
    path = folder / f"g.{name.removesuffix('2')}"
    path.write_bytes(content)
    where = f"seed {seed}, number {number} ({name})"
    outcome = "refused"
    for read in (read_edges, read_values):
        before = reset_peak() if measured else 0
        try:
            read(path)
            outcome = "read"
        except (GraphFileError, TooSlowError) as error:
            if isinstance(error, TooSlowError):
                raise
        except BaseException as error:
            return f"{where}: {read.__name__} raised {error!r}"[:500], f"{kind} failed"
        if measured and get_peak() - before > _FACTOR * len(content) + _ROOM:
            used = (get_peak() - before) >> 20
            return f"{where}: {read.__name__} took {used} MB", f"{kind} failed"
    return None, f"{kind} {outcome}"
