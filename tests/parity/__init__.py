"""Comparison with the real MedHELM 0.8.0, in an environment of its own (`make parity`)."""
