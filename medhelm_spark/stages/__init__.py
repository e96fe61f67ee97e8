"""One file, one job, one recipe: read tables -> pure function through the seam -> write.

A stage processes all its RunSpecs in one DataFrame pass and one commit per table; the number of
Spark jobs does not grow with the RunSpecs. It computes only what is missing.
"""
