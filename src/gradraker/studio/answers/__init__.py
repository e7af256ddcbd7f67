"""Answers to the page: parts of graphs, columns, single nodes, and the paper's learner."""

from gradraker.studio.answers.graph_parts import GraphPart, GraphParts
from gradraker.studio.answers.node_columns import (
    average_columns,
    compute_left_out,
    compute_uncertainty,
    list_columns,
    pack_columns,
)
from gradraker.studio.answers.node_panel import explain_node, imagine_changes
from gradraker.studio.answers.packing import pack
from gradraker.studio.answers.sigma2_lab import LabSettings, Sigma2Lab, make_lab

__all__ = [
    "GraphPart",
    "GraphParts",
    "LabSettings",
    "Sigma2Lab",
    "average_columns",
    "compute_left_out",
    "compute_uncertainty",
    "explain_node",
    "imagine_changes",
    "list_columns",
    "make_lab",
    "pack",
    "pack_columns",
]
