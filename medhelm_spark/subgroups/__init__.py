"""For which patients a model is worse: scores by group, their gaps, and which cells are hidden."""
