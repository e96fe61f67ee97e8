"""Viewings: who opened gated or private text, when, and of how many rows."""
