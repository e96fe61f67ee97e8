"""Tests that share one local SparkSession with real Delta tables."""
