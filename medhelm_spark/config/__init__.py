"""Configuration: YAML, HOCON and run entries in, frozen domain dataclasses out.

The only home of pydantic and yaml. Every mistake in a file, a run entry or an environment
variable is one `ConfigError` naming the place, the key, what was received and what is allowed.
"""
