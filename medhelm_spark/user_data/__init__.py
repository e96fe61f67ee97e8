"""Benchmarks, rows and answers of a user's own."""
