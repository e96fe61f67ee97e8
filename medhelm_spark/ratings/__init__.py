"""Ratings of answers by people, and how raters, judges and metrics agree."""
