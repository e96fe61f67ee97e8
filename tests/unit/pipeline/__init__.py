"""Tests of the API that need no JVM."""
