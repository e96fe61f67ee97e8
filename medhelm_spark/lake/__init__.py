"""The Delta tables: session, schemas, names, current views, the seam with Spark, the reader."""
