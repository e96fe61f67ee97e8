"""Releases: numbers of suites that are pinned, approved, published, compared and verified."""
