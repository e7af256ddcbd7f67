"""Errors of predictions that were made before a value was learned."""

from typing import Any

from gradraker.live.journal.journal import Batch
from gradraker.live.journal.validation import (
    Validation,
    has_outcome,
    read_validations,
    record_outcome,
    summarize_errors,
)
from gradraker.live.journal.writing import append
from journal_examples import put


def test_outcomes_are_written_once(journal: Any) -> None:
    append(journal, [put("a", 1.0), put("b", 2.0), put("a", 3.0)])
    batch = Batch(1, 1, 3)
    assert not has_outcome(journal, batch)
    found = [
        Validation(1, "a", 1.0, 1.5, True, 0.5, 1.0),
        Validation(3, "a", 3.0, 1.0, False, -2.0, 1.0),
    ]
    for _ in range(2):
        record_outcome(journal, found, {2: "refused"})
    assert has_outcome(journal, batch)
    assert read_validations(journal, last=10) == found[::-1]
    assert journal.read_refusals(batch) == {2: "refused"}
    assert len(journal.read_refusals(Batch(1, 1, 2**62))) == 1
    errors = summarize_errors(journal, last=10, is_label=False)
    assert (errors["n"], errors["rmse"], errors["rmse_of_mean"]) == (1, 0.5, 1.0)
    labels = summarize_errors(journal, last=10, is_label=True)
    assert labels["accuracy"] == 0.75
