"""Policy decisions: which text may reach which place. Pure functions; unknown means deny."""
