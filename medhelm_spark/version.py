"""The version of this package, as every run record holds it."""

VERSION = "0.2.0"
