"""Tests of the folders that committees are handed."""
