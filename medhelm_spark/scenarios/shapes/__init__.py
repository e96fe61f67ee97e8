"""Shapes of data: how a record of each becomes an input and references."""
