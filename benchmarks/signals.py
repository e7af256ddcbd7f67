"""Graphs with values that several benchmarks learn from."""

from collections.abc import Callable

from gradraker import datasets
from gradraker.datasets import GraphDataset


def data_sets(tiny: bool) -> list[tuple[GraphDataset, int, float]]:
    """Available data sets with the paper's D and η (200 and 0.1 for the synthetic ones)."""
    n_nodes = 60 if tiny else 400
    found = [
        (datasets.load_temperature(), 200, 0.1),
        (datasets.load_temperature(weighted=True), 200, 0.1),
    ]
    fetchers = ((datasets.fetch_email_eu_core, 403, 0.05), (datasets.fetch_cora_con, 888, 0.05))
    for fetch, n_frequencies, learning_rate in () if tiny else fetchers:
        try:
            found.append((fetch(), n_frequencies, learning_rate))
        except datasets.DatasetUnavailableError as error:
            print(f"left out: {error}")
    makers: tuple[Callable[..., GraphDataset], ...] = (
        datasets.make_threshold_graph,
        datasets.make_geometric_graph,
        datasets.make_block_graph,
        datasets.make_preferential_graph,
    )
    return found + [(make(n_nodes, random_state=0), 200, 0.1) for make in makers]
