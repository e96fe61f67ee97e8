"""HELM's own notation: run entries, run names, expanders, clients, credentials, schema, exports.

What it says becomes the project's own nouns here; nothing below this package knows the notation.
"""
