"""Intervals, summaries, win rates, paired differences and the board: pure functions."""
