"""Tests of reports as text, HTML and data."""
