"""Whether a candidate may replace the model that runs today: a file of conditions, one verdict."""
