"""Predict unknown node values on a graph, online, and explain every prediction.

Names are loaded when they are first used, so that ``import gradraker`` is quick
and loads neither the compiled loops nor any plotting.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

# public name -> the module that defines it
_HOMES = {
    "AdjacencyVectors": "gradraker.graph",
    "BankExplanation": "gradraker.analysis",
    "BankMember": "gradraker.learners",
    "DatasetFileError": "gradraker.datasets",
    "DatasetInfo": "gradraker.datasets",
    "DatasetUnavailableError": "gradraker.datasets",
    "EdgeList": "gradraker.graph",
    "Explanation": "gradraker.analysis",
    "FilteredSignals": "gradraker.graph",
    "GradrakerRegressor": "gradraker.learners",
    "GraphDataset": "gradraker.datasets",
    "GraphFileError": "gradraker.graph",
    "GraphViews": "gradraker.graph",
    "ModelFileError": "gradraker.learners",
    "NodeClassifier": "gradraker.learners",
    "NodePredictions": "gradraker.experiments",
    "NodeRegressor": "gradraker.learners",
    "SKGRegressor": "gradraker.learners",
    "SettingsSweep": "gradraker.experiments",
    "Sigma2Ranges": "gradraker.bandwidth",
    "SimilarityTransfer": "gradraker.analysis",
    "SweepResult": "gradraker.experiments",
    "adjacency_vectors": "gradraker.graph",
    "conformity_factor": "gradraker.analysis",
    "contribution_weights": "gradraker.learners",
    "dataset_info": "gradraker.datasets",
    "efficient_distance": "gradraker.analysis",
    "extreme_squared_distances": "gradraker.bandwidth",
    "fetch_cora_con": "gradraker.datasets",
    "fetch_email_eu_core": "gradraker.datasets",
    "fetch_wikipedia_math": "gradraker.datasets",
    "fetch_wikipedia_math_graph": "gradraker.datasets",
    "filtered_signals": "gradraker.graph",
    "gnmse": "gradraker.metrics",
    "hop_views": "gradraker.graph",
    "kernel_contribution_weights": "gradraker.analysis",
    "kernel_similarity_measure": "gradraker.analysis",
    "known_values": "gradraker.graph",
    "layer_views": "gradraker.graph",
    "list_datasets": "gradraker.datasets",
    "load": "gradraker.learners",
    "load_temperature": "gradraker.datasets",
    "load_temperature_normals": "gradraker.datasets",
    "make_arriving_graph": "gradraker.datasets",
    "make_block_graph": "gradraker.datasets",
    "make_geometric_graph": "gradraker.datasets",
    "make_preferential_graph": "gradraker.datasets",
    "make_threshold_graph": "gradraker.datasets",
    "make_traffic_series": "gradraker.datasets",
    "noise_range": "gradraker.analysis",
    "predict_nodes": "gradraker.experiments",
    "predict_unknown": "gradraker.experiments",
    "read_edges": "gradraker.graph",
    "read_values": "gradraker.graph",
    "settings_sweep": "gradraker.experiments",
    "sigma2_ranges": "gradraker.learners",
    "sigma2_sweep": "gradraker.experiments",
    "similarity_measure": "gradraker.analysis",
    "similarity_transfer": "gradraker.analysis",
}

__all__ = [
    "AdjacencyVectors",
    "BankExplanation",
    "BankMember",
    "DatasetFileError",
    "DatasetInfo",
    "DatasetUnavailableError",
    "EdgeList",
    "Explanation",
    "FilteredSignals",
    "GradrakerRegressor",
    "GraphDataset",
    "GraphFileError",
    "GraphViews",
    "ModelFileError",
    "NodeClassifier",
    "NodePredictions",
    "NodeRegressor",
    "SKGRegressor",
    "SettingsSweep",
    "Sigma2Ranges",
    "SimilarityTransfer",
    "SweepResult",
    "__version__",
    "adjacency_vectors",
    "conformity_factor",
    "contribution_weights",
    "dataset_info",
    "efficient_distance",
    "extreme_squared_distances",
    "fetch_cora_con",
    "fetch_email_eu_core",
    "fetch_wikipedia_math",
    "fetch_wikipedia_math_graph",
    "filtered_signals",
    "gnmse",
    "hop_views",
    "kernel_contribution_weights",
    "kernel_similarity_measure",
    "known_values",
    "layer_views",
    "list_datasets",
    "load",
    "load_temperature",
    "load_temperature_normals",
    "make_arriving_graph",
    "make_block_graph",
    "make_geometric_graph",
    "make_preferential_graph",
    "make_threshold_graph",
    "make_traffic_series",
    "noise_range",
    "predict_nodes",
    "predict_unknown",
    "read_edges",
    "read_values",
    "settings_sweep",
    "sigma2_ranges",
    "sigma2_sweep",
    "similarity_measure",
    "similarity_transfer",
]

if TYPE_CHECKING:
    from gradraker.analysis import (
        BankExplanation,
        Explanation,
        SimilarityTransfer,
        conformity_factor,
        efficient_distance,
        kernel_contribution_weights,
        kernel_similarity_measure,
        noise_range,
        similarity_measure,
        similarity_transfer,
    )
    from gradraker.bandwidth import (
        Sigma2Ranges,
        extreme_squared_distances,
    )
    from gradraker.datasets import (
        DatasetFileError,
        DatasetInfo,
        DatasetUnavailableError,
        GraphDataset,
        dataset_info,
        fetch_cora_con,
        fetch_email_eu_core,
        fetch_wikipedia_math,
        fetch_wikipedia_math_graph,
        list_datasets,
        load_temperature,
        load_temperature_normals,
        make_arriving_graph,
        make_block_graph,
        make_geometric_graph,
        make_preferential_graph,
        make_threshold_graph,
        make_traffic_series,
    )
    from gradraker.experiments import (
        NodePredictions,
        SettingsSweep,
        SweepResult,
        predict_nodes,
        predict_unknown,
        settings_sweep,
        sigma2_sweep,
    )
    from gradraker.graph import (
        AdjacencyVectors,
        EdgeList,
        FilteredSignals,
        GraphFileError,
        GraphViews,
        adjacency_vectors,
        filtered_signals,
        hop_views,
        known_values,
        layer_views,
        read_edges,
        read_values,
    )
    from gradraker.learners import (
        BankMember,
        GradrakerRegressor,
        ModelFileError,
        NodeClassifier,
        NodeRegressor,
        SKGRegressor,
        contribution_weights,
        load,
        sigma2_ranges,
    )
    from gradraker.metrics import (
        gnmse,
    )


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradraker' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
