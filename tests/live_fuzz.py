"""Send requests that are made from the API's own description, good ones and bad ones.

``python tests/live_fuzz.py --requests 10000`` prints how they were answered; the tests send fewer.
"""

import argparse
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.generation import GenerationMode

from live_service import TOKEN, LiveService

# Events never end.
LEFT_OUT = {"/events"}


def fuzz(url, n_requests, *, first_seed=0, report=None):
    """Send about so many requests; return how often each status was answered, and what failed."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    operations = [one for one in operations if one.path not in LEFT_OUT]
    statuses, failed = Counter(), []
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


def _send(strategy, n, url, session, statuses, failed, first_seed):
    @seed(first_seed)
    @settings(
        max_examples=n,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def send(case):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = case.call(base_url=url, headers=headers, session=session)
        statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            failed.append((case.method, case.path, case.query, case.body, answer.text))

    send()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)

    def report(n, n_failed):
        print(f"\r{n} requests, {n_failed} answered by 5xx", end="", flush=True)

    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "live.db"
        with LiveService("--demo", "--rate", 100_000, journal=journal) as service:
            statuses, failed = Counter(), []
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
