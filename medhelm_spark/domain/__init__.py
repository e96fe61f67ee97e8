"""The nouns of the project: frozen dataclasses, standard library only.

HELM's words keep HELM's meaning (docs/glossary.md). A class marked "row of `t`" is the schema of
the Delta table `t`; `lake.tables` adds the bookkeeping columns.
"""
