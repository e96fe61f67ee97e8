"""annotate: stored answers -> judge requests -> annotations."""
