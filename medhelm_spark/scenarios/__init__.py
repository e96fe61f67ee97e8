"""Raw record to Instance: readers by file format, parsers by shape of data, one way through."""

from medhelm_spark.scenarios.exported import first_line
from medhelm_spark.scenarios.files import (
    Presence,
    Received,
    beside,
    fetch,
    localize,
    presence,
    refuse_absent,
    spread,
    untold,
)
from medhelm_spark.scenarios.histories import (
    ORDER,
    Entry,
    drawn,
    event_entries,
    most_records,
    record_entries,
    serialised,
)
from medhelm_spark.scenarios.hub import Hub, HubCopy, as_files
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.levels import table_level
from medhelm_spark.scenarios.own_files import with_known_hashes, with_source
from medhelm_spark.scenarios.parse import RecordKey, fingerprint_records, hashes_of, parse_records
from medhelm_spark.scenarios.parsers import PARSERS, Parser, check_card, parser_of, required_columns
from medhelm_spark.scenarios.raw_files import check_columns
from medhelm_spark.scenarios.readers import (
    READERS,
    needed_history,
    read_card,
    read_events,
    read_records,
)
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
)
from medhelm_spark.scenarios.sources import open_source, stamp, verify

__all__ = [
    "ORDER",
    "PARSERS",
    "READERS",
    "BadReason",
    "BadRecord",
    "Entry",
    "Hub",
    "HubCopy",
    "ParsedInput",
    "Parser",
    "Presence",
    "Received",
    "Record",
    "RecordKey",
    "as_files",
    "beside",
    "check_card",
    "check_columns",
    "drawn",
    "event_entries",
    "fetch",
    "fingerprint_records",
    "first_line",
    "hashes_of",
    "loads",
    "localize",
    "most_records",
    "needed_history",
    "open_source",
    "parse_records",
    "parser_of",
    "presence",
    "read_card",
    "read_events",
    "read_records",
    "record_entries",
    "refuse_absent",
    "required_columns",
    "serialised",
    "spread",
    "stamp",
    "table_level",
    "untold",
    "verify",
    "with_known_hashes",
    "with_source",
]
