"""Annotators: the questions to judges about an answer, and the reading of their replies."""
