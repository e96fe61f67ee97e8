"""What of the policy is on record: decisions, disclosures, lowered levels, stated levels."""
