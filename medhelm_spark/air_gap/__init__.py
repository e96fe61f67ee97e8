"""Work without a network: a folder of all that is needed, and a wall around this job's Python."""
