"""Boards and tables for a person or a program: aligned text, Markdown, HTML, CSV, JSON."""
