from . import (
    datasets,
    exceptions,
    explain,
    graph,
    kernels,
    models,
    plotting,
    report,
    sweep,
    workflow,
)
from .datasets import load_temperature
from .graph import adjacency_vectors
from .io import read_edges, read_values
from .metrics import gnmse
from .models import (
    GradrakerRegressor,
    NodeClassifier,
    NodeRegressor,
    SKGNodeRegressor,
    SKGRegressor,
    load,
    sigma2_ranges,
)
from .sweep import sigma2_sweep
from .workflow import predict_nodes

__version__: str

__all__ = [
    "GradrakerRegressor",
    "NodeClassifier",
    "NodeRegressor",
    "SKGNodeRegressor",
    "SKGRegressor",
    "adjacency_vectors",
    "datasets",
    "exceptions",
    "explain",
    "gnmse",
    "graph",
    "kernels",
    "load",
    "load_temperature",
    "models",
    "plotting",
    "predict_nodes",
    "read_edges",
    "read_values",
    "report",
    "sigma2_ranges",
    "sigma2_sweep",
    "sweep",
    "workflow",
]
