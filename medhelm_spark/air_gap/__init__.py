"""Work without a network: a folder of all that is needed, and a guard on this job's connections."""
