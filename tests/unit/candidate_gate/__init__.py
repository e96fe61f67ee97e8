"""The candidate gate on lakes that were written without a JVM."""
