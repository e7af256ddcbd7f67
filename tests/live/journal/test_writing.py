"""Changes of several clients in one transaction."""

import threading
from typing import Any

from gradraker.live.journal.changes import Change
from gradraker.live.journal.journal import Journal
from gradraker.live.journal.writing import KeyConflict, Receipt, Submission, UnknownNode, append
from journal_examples import put


def test_changes_are_numbered_without_gaps(journal: Any) -> None:
    answers = append(journal, [put("a", 1.0), put("b", "red"), put("a", 2)])
    assert answers == [Receipt(1, 1), Receipt(2, 2), Receipt(3, 3)]
    found = journal.read_changes(0, limit=10)
    assert [(one.seq, one.change.node, one.change.value) for one in found] == [
        (1, "a", 1.0),
        (2, "b", "red"),
        (3, "a", 2),
    ]
    assert journal.get_last_seq() == 3
    assert [one.seq for one in journal.read_changes(1, upto=2, limit=10)] == [2]
    assert [one.seq for one in journal.read_history("a", before=None, limit=10)] == [3, 1]
    assert [one.seq for one in journal.read_history("a", before=3, limit=10)] == [1]


def test_submission_with_an_unknown_node_writes_nothing(journal: Any) -> None:
    edge = Change("put_edge", "c", "a", 1.0)
    wrong = Submission((edge, Change("put_value", "nobody", value=1.0)))
    assert append(journal, [wrong, put("c", 1.0)]) == [
        UnknownNode(1, "nobody"),
        UnknownNode(0, "c"),
    ]
    assert journal.get_last_seq() == 0
    right = Submission((edge, Change("put_value", "c", value=1.0)))
    assert append(journal, [right, put("c", 2.0)]) == [Receipt(1, 2), Receipt(3, 3)]
    gone = Submission((Change("remove_node", "c"),))
    assert append(journal, [gone, put("c", 2.0)]) == [Receipt(4, 4), UnknownNode(0, "c")]
    assert append(journal, [put("c", 2.0)]) == [UnknownNode(0, "c")]
    assert append(journal, [Submission((edge,)), put("c", 2.0)])[1] == Receipt(6, 6)


def test_requests_with_the_same_key_count_once(journal: Any) -> None:
    first, again = append(journal, [put("a", 1.0, "k"), put("a", 1.0, "k")])
    assert (first, again) == (Receipt(1, 1), Receipt(1, 1, is_repeat=True))
    assert append(journal, [put("a", 1.0, "k")]) == [Receipt(1, 1, is_repeat=True)]
    assert append(journal, [put("a", 2.0, "k")]) == [KeyConflict("k")]
    assert journal.get_last_seq() == 1


def test_writers_of_several_processes_get_different_numbers(journal: Any, url: Any) -> None:
    errors = []

    def write(number: Any) -> Any:
        try:
            own = Journal.open(url)
            for i in range(20):
                append(own, [put("a", float(i), f"{number}-{i}")])
            own.close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        found = journal.read_changes(seen, limit=1000)
        # Whoever sees a number has seen all before it.
        assert [one.seq for one in found] == list(range(seen + 1, seen + 1 + len(found)))
        seen += len(found)
    for thread in threads:
        thread.join()
    assert not errors
    assert journal.get_last_seq() == 80
