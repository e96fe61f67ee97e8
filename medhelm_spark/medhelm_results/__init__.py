"""Results in MedHELM's and HELM's own files: read as a stream, and written back."""
