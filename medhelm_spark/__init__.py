"""Evaluate medical language models as a Spark batch job over Delta tables."""

__version__ = "0.1.0"
