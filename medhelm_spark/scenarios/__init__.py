"""Raw record to Instance: readers by file format, parsers by shape of data, one way through."""

from medhelm_spark.scenarios.exported import first_line
from medhelm_spark.scenarios.fetch import fetch, localize
from medhelm_spark.scenarios.hub import as_files
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.own_files import with_source
from medhelm_spark.scenarios.parse import RecordKey, fingerprint_records, parse_records
from medhelm_spark.scenarios.parsers import PARSERS, Parser, check_card, parser_of, required_columns
from medhelm_spark.scenarios.patterns import spread
from medhelm_spark.scenarios.presence import Presence, presence
from medhelm_spark.scenarios.readers import READERS, read_card, read_records
from medhelm_spark.scenarios.records import (
    EXPLANATIONS,
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
)
from medhelm_spark.scenarios.sources import open_source, verify
from medhelm_spark.scenarios.tables import check_columns

__all__ = [
    "EXPLANATIONS",
    "PARSERS",
    "READERS",
    "BadReason",
    "BadRecord",
    "ParsedInput",
    "Parser",
    "Presence",
    "Record",
    "RecordKey",
    "as_files",
    "check_card",
    "check_columns",
    "fetch",
    "fingerprint_records",
    "first_line",
    "loads",
    "localize",
    "open_source",
    "parse_records",
    "parser_of",
    "presence",
    "read_card",
    "read_records",
    "required_columns",
    "spread",
    "verify",
    "with_source",
]
