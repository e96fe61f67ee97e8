"""Generated model replies with the answer that a human reads in them, and what our reader reads."""
