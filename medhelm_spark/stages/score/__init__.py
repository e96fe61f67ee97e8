"""score: request states -> per_instance_stats."""
