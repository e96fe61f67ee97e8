"""Configuration: YAML files in, frozen domain dataclasses out.

The only home of pydantic and yaml. Every mistake in a file or an environment variable is
one `ConfigError` naming the file, the key, what was received and what is allowed.
"""
