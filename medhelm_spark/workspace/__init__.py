"""Site, settings, lake and run entries, opened together."""
