"""One file, one job, one recipe: read tables -> pure function through the seam -> write.

A stage handles all RunSpecs it is given in one DataFrame pass and one commit per table; the number
of Spark jobs does not grow with RunSpecs. It does only what is missing.
"""
