"""States in plain words, as answers hold them."""

import numpy as np

from gradraker.live.learning.states import to_plain


def test_plain_answers_hold_no_numpy_and_no_infinity() -> None:
    found = to_plain({"a": np.float64(1.5), "b": (np.inf, np.int64(2))})
    assert repr(found) == "{'a': 1.5, 'b': [None, 2]}"
