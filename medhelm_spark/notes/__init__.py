"""Notes and flags that people leave on answers, as rows of a table."""
