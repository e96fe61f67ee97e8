"""Raw record to Instance: readers by file format, parsers by shape of data, one way through."""

from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.scenarios.broadcast_files import MAX_CARRIED_BYTES, BroadcastFiles, carried
from medhelm_spark.scenarios.downloads import Pins, Received, fetch, first_fetch, no_progress
from medhelm_spark.scenarios.files import (
    Presence,
    advice,
    beside,
    by_hand,
    localize,
    presence,
    refuse_absent,
    spread,
)
from medhelm_spark.scenarios.histories import (
    ORDER,
    ROWS,
    Entry,
    drawn,
    event_columns,
    event_entries,
    most_records,
    record_entries,
    record_places,
    serialised,
    used_columns,
)
from medhelm_spark.scenarios.hub import Hub, HubCopy, as_files, at_commit, check_package
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.levels import LAKE_COLUMN, LEVEL_COLUMN, table_level
from medhelm_spark.scenarios.own_files import with_known_hashes, with_source
from medhelm_spark.scenarios.parse import (
    LEFT_OUT,
    RecordKey,
    fingerprint_records,
    hashes_of,
    parse_records,
)
from medhelm_spark.scenarios.parsers import (
    CLUSTER,
    PARSERS,
    check_card,
    parser_of,
    required_columns,
)
from medhelm_spark.scenarios.raw_files import check_columns, open_data
from medhelm_spark.scenarios.readers import (
    READERS,
    check_head,
    needed_history,
    own_columns,
    read_card,
    read_events,
    read_records,
)
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    renamed,
)
from medhelm_spark.scenarios.shapes.exported import first_line
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.sources import is_web, open_source, sha256_of, stamp, verify

__all__ = [
    "CLUSTER",
    "LAKE_COLUMN",
    "LEFT_OUT",
    "LEVEL_COLUMN",
    "MAX_CARRIED_BYTES",
    "ORDER",
    "PARSERS",
    "READERS",
    "ROWS",
    "BadReason",
    "BadRecord",
    "BroadcastFiles",
    "Entry",
    "Hub",
    "HubCopy",
    "ParsedInput",
    "Parser",
    "Pins",
    "Presence",
    "Received",
    "Record",
    "RecordKey",
    "advice",
    "as_files",
    "as_text",
    "at_commit",
    "beside",
    "by_hand",
    "carried",
    "check_card",
    "check_columns",
    "check_head",
    "check_package",
    "drawn",
    "event_columns",
    "event_entries",
    "fetch",
    "fingerprint_records",
    "first_fetch",
    "first_line",
    "hashes_of",
    "is_uri",
    "is_web",
    "loads",
    "localize",
    "most_records",
    "needed_history",
    "no_progress",
    "open_data",
    "open_source",
    "own_columns",
    "parse_records",
    "parser_of",
    "presence",
    "read_card",
    "read_events",
    "read_records",
    "record_entries",
    "record_places",
    "refuse_absent",
    "renamed",
    "required_columns",
    "serialised",
    "sha256_of",
    "spread",
    "stamp",
    "table_level",
    "used_columns",
    "verify",
    "with_known_hashes",
    "with_source",
]
