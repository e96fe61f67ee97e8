"""MLflow: a run per model and suite or release, with the numbers that the lake has."""
