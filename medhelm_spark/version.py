"""The version of this package, as every run record has it."""

VERSION = "0.2.0"
