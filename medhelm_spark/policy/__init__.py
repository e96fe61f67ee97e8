"""Policy decisions: which text may be sent to which locality. Unknown means deny."""
