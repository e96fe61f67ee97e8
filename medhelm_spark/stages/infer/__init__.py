"""infer: requests not yet settled -> request_results, in one send order."""
