"""Answers and results made elsewhere, in and out."""
