"""Each addition of CONTRIBUTING's table that no page of documentation makes."""
