"""scikit-learn's cross-validation and search, for models of graphs."""

from gradraker.models.validation.cross_validation import NodeScores, cross_validate_nodes
from gradraker.models.validation.search import NodeSearch, search_nodes

__all__ = ["NodeScores", "NodeSearch", "cross_validate_nodes", "search_nodes"]
