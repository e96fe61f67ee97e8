"""What judges are asked about an answer, and what their replies are worth: pure functions."""
