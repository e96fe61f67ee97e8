"""Tests of medhelm_spark.engines."""
