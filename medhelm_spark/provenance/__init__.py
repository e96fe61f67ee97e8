"""Provenance: for each run of a release what it came from, in a chain of records."""
