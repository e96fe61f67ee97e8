"""What has to be equal before the means of two runs may be compared."""

DATA = "data"
"""The instances that were drawn, with their references: their data version and the draw."""

PROMPT = "prompt"
"""How instances became prompts and how answers were decoded: the adapter and prompt variants."""

EXTRACTION = "extraction"
"""How answers were read: the declared method and the version of the code that reads."""

METRIC = "metric"
"""The metric behind the stat: its name, arguments and version."""

JURY = "jury"
"""The judges, the rubric's text and the rule for incomplete juries; empty where none judges."""

ORIGIN = "origin"
"""`native` for answers that this system asked for, `imported` for answers made elsewhere."""

PARTS = (DATA, PROMPT, EXTRACTION, METRIC, JURY, ORIGIN)
"""The keys of `Stat.comparability`, in the order in which differences are named to a person."""
