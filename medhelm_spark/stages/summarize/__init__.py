"""summarize: per_instance_stats -> stats."""
