"""Time before the first result: importing, and compiling on the very first call.

Measured in fresh processes: once with an empty cache of compiled loops (the first use after
installing), then with the cache that it left (every later process). ``--tiny`` does not
empty the cache.

Run ``python benchmarks/bench_start.py``.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from statistics import median

from report import Agreement, Finding, Report, finish, options, run_alone, table

# Runs in a separate process and prints the seconds of each step, and a prediction.
_PROGRAM = """
import json, time

seconds = {}
last = time.perf_counter()


def lap(step):
    global last
    now = time.perf_counter()
    seconds[step] = now - last
    last = time.perf_counter()


import gradraker

lap("import gradraker")
from gradraker import SKGRegressor

lap("from gradraker import SKGRegressor")
import numpy as np
from scipy.sparse import csr_array

X = csr_array(np.eye(30))
y = np.linspace(0.0, 1.0, 30)
lap("data")
model = SKGRegressor(sigma2=1.0, random_state=0).fit(X, y)
lap("first fit, sigma2 given")
SKGRegressor(random_state=0).fit(X, y)
lap("first fit, all defaults")
prediction = float(model.predict(X)[7])
lap("first predict")
model.partial_fit(X, y)
lap("first partial_fit")
model.learn_one([1, 2], 0.5)
lap("first learn_one")
model.predict_one([1, 2])
lap("first predict_one")
print(json.dumps({"seconds": seconds, "prediction": prediction}))
"""
IMPORT, LIBRARIES = "import gradraker", "from gradraker import SKGRegressor"
CALLS = (
    "first fit, sigma2 given",
    "first fit, all defaults",
    "first predict",
    "first partial_fit",
    "first learn_one",
    "first predict_one",
)


def start_up(cache: str | None) -> tuple[dict[str, float], float]:
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", _PROGRAM]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    answer = json.loads(run.stdout)
    return answer["seconds"], answer["prediction"]


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    with tempfile.TemporaryDirectory() as folder:
        cache = None if arguments.tiny else folder
        empty, first_prediction = start_up(cache)
        runs = [start_up(cache) for _ in range(1 if arguments.tiny else 5)]
    cached = {step: median([seconds[step] for seconds, _ in runs]) for step in empty}
    steps = (IMPORT, LIBRARIES, *CALLS)
    rows = [[step, f"{empty[step]:.3f} s", f"{cached[step]:.3f} s"] for step in steps]
    first_call = sum(empty[step] for step in CALLS)
    later_call = sum(cached[step] for step in CALLS)
    report = Report(
        "Start: importing, and the first calls",
        findings=(
            Finding("import gradraker", cached[IMPORT], 0.5, " s", at_most=True),
            Finding("first calls, nothing compiled", first_call, 10.0, " s", at_most=True),
            Finding("first calls, compiled before", later_call, unit=" s"),
        ),
        agreements=(
            Agreement(
                "predictions with and without cache",
                max(abs(prediction - first_prediction) for _, prediction in runs),
                0.0,
            ),
        ),
        tables=(table(["", "empty cache", "cached"], rows),),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
