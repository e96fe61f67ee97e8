"""From what was typed to finished stages: resolve, prepare, run, estimate."""
