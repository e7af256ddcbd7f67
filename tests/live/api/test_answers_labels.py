"""Labels on the service: predictions, probabilities, explanations, and refused values."""

import math
from typing import Any

import numpy as np
import pytest
import requests

from gradraker import load
from live_service import HEADERS


def test_explanations_of_labels_add_up_to_scores(open_service: Any, label_file: Any) -> None:
    client = open_service.connect()
    client.wait(client.partial_fit(values={4: "low"}))  # as another test may have done
    (found,) = client.explain([8], top=2)
    expected = load(label_file).partial_fit(values={4: "low"}).explain([8])
    assert found["prediction"] == expected.predicted_labels[0]
    assert list(found["sum"]) == list(expected.class_names)
    np.testing.assert_allclose(list(found["sum"].values()), expected.prediction[0], rtol=1e-9)
    total = {name: found["offset"][name] + found["rest"][name] for name in found["sum"]}
    assert len(found["known"]) == 2
    for one in found["known"]:
        total[one["value"]] += one["weight"]
    np.testing.assert_allclose(list(total.values()), list(found["sum"].values()), rtol=1e-9)
    assert found["parts"] == pytest.approx(expected.get_parts(0))


def test_labels_have_probabilities_and_accuracy(open_service: Any) -> None:
    client = open_service.connect()
    assert client.predict([4]).tolist() == ["low"]
    shares = client.predict_proba([4])[0]
    assert set(shares) == {"low", "high"}
    assert math.isclose(sum(shares.values()), 1.0)
    body: Any = {"links": {"100": ["5"]}, "probabilities": True}
    new = requests.post(f"{open_service.url}/predict-new", json=body, timeout=30).json()
    assert new["predictions"][0]["prediction"] == "low"
    assert client.predict_new({100: [5]}) == {"100": "low"}
    client.wait(client.partial_fit(values={4: "low"}))
    assert client.errors()["accuracy"] == 1.0
    for value, problem in (
        (1.5, "must be a label"),
        (None, "must be a finite number, or a label"),
        (3, "must be of the kind of all labels here, strings or integers"),
    ):
        answer = requests.put(
            f"{open_service.url}/values",
            json={"values": {"4": value}},
            headers=HEADERS,
            timeout=30,
        )
        assert answer.status_code == 422
        assert problem in answer.text
    answer = requests.put(
        f"{open_service.url}/edges",
        json={"edges": [{"source": "4", "target": "abc"}]},
        headers=HEADERS,
        timeout=30,
    )
    assert answer.status_code == 422
    assert "are integers" in answer.text
    intervals: Any = {"nodes": ["4"], "coverage": 0.9}
    answer = requests.post(f"{open_service.url}/predict", json=intervals, timeout=30)
    assert answer.json()["fields"][0]["field"] == "coverage"
