"""Shares of releases: new files that may leave, made from an allow-list of columns and scanned."""
