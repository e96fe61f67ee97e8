"""Annotators: what judges are asked about an answer, and how their replies are read."""
