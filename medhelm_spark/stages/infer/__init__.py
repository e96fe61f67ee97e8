"""infer: requests not yet settled -> request_results, in durable waves."""
