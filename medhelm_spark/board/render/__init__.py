"""Boards, comparisons, metrics and reports as text, Markdown, HTML, CSV and JSON."""
