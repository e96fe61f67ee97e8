"""Keeps a lake small and fast to read: gc and optimize."""
