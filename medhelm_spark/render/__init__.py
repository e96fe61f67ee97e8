"""Boards and tables as text: for a terminal, Markdown, CSV, JSON."""
