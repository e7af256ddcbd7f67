"""Send requests that are made from the API's own description, good ones and bad ones.

``python tests/live_fuzz.py --requests 10000`` prints how they were answered; the tests send fewer.
"""

import argparse
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from live_service import TOKEN, LiveService

# Events never end.
LEFT_OUT = {"/events"}


def fuzz(url: Any, n_requests: Any, *, first_seed: Any = 0, report: Any = None) -> Any:
    """Send about so many requests; return how often each status was answered, and what failed."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    operations = [one for one in operations if one.path not in LEFT_OUT]
    statuses: Counter[int] = Counter()
    failed: list[Any] = []
    each = max(1, n_requests // (2 * len(operations)))
    session = requests.Session()
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        for operation in operations:
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                _send(strategy, each, url, session, statuses, failed, first_seed)
                if report:
                    report(sum(statuses.values()), len(failed))
            except Exception as error:
                if "negative" not in str(error).lower() and type(error).__name__ != "Unsatisfiable":
                    raise  # an operation without parameters cannot be wrong
    session.close()
    return statuses, failed


def _send(
    strategy: Any, n: Any, url: Any, session: Any, statuses: Any, failed: Any, first_seed: Any
) -> Any:
    @seed(first_seed)
    @settings(
        max_examples=n,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def send(case: Any) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = case.call(base_url=url, headers=headers, session=session)
        statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            failed.append((case.method, case.path, case.query, case.body, answer.text))

    send()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)

    def report(n: Any, n_failed: Any) -> None:
        print(f"\r{n} requests, {n_failed} answered by 5xx", end="", flush=True)

    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "live.db"
        with LiveService("--demo", "--rate", 100_000, journal=journal) as service:
            statuses: Counter[int] = Counter()
            failed: list[Any] = []
            while (missing := asked.requests - sum(statuses.values())) > 0:
                # Verbs without parameters take fewer requests than their share.
                more = fuzz(service.url, missing, first_seed=asked.seed, report=report)
                statuses, failed = statuses + more[0], failed + more[1]
                asked.seed += 1
    print(f"\n{sum(statuses.values())} requests, {len(failed)} answered by 5xx")
    print(", ".join(f"{n} × {status}" for status, n in sorted(statuses.items())))
    for one in failed[:10]:
        print(one)


if __name__ == "__main__":
    main()
