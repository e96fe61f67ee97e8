"""plan: resolved runs -> run_specs, perturbed instances, prompts, requests."""
