"""From run entries to finished stages: resolve, prepare, run, estimate."""
