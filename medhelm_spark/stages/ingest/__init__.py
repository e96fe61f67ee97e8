"""ingest: raw records -> scenarios, instances, quarantine."""
