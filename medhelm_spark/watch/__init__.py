"""Looks at a release: its scenarios are asked again, and what moved is found."""
