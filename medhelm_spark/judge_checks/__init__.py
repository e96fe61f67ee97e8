"""Judge checks: whether a jury may be trusted, by stored verdicts and by planted answers."""
