"""Attributes of nodes: from any form to one matrix, with encoders stored as plain data."""

from gradraker.attributes.table import AttributeTable, AttributeWarning, learn_attributes

__all__ = ["AttributeTable", "AttributeWarning", "learn_attributes"]
