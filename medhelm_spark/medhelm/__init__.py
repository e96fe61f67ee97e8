"""HELM's own notation: run entries, run names, expanders, clients, credentials, schema, exports.

It is translated into the domain's dataclasses here; nothing below this package reads the notation.
"""
