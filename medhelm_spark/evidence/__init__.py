"""What a committee is handed of a release: a scheme's items, each filled from stored results."""
