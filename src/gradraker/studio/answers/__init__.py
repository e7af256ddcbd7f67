"""Answers for the page: parts of graphs, columns, single nodes, and the paper's learner."""
