"""A scenario card of a site's own, for tests that need any."""

from typing import Any

NOTES: dict[str, Any] = {
    "name": "notes",
    "display_name": "Notes",
    "description": "Made for a test.",
    "access_level": "public",
    "source": {"files": [{"path": "notes.csv", "split": "test"}]},
    "shape": "structured",
    "fields": {"id": "case", "context": "note", "question": "question", "reference": "answer"},
    "adapter_spec": {"method": "generation"},
    "metrics": [{"name": "exact_match"}],
    "main_metric": "exact_match",
    "category": "Clinical Decision Support",
    "subcategory": "Supporting Diagnostic Decisions",
}
