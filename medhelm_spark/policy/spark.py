"""What a Spark session may be beside gated and private text: its settings, and where it is.

A site folder may come from anybody, and a setting of Spark can name code to run, an address to send
rows to, or a file to write them into. So there is a list of those that only cost time or memory.
"""

import re
import socket
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote, urlparse, urlsplit

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import address_of, why_not
from medhelm_spark.domain.policy import Policy
from medhelm_spark.errors import PolicyError
from medhelm_spark.policy.allowlist import reach_of
from medhelm_spark.policy.policy import decide

PLAIN = re.compile(r"[\w.*,%\[\]-]*")
"""A number, a size, a word: no path, no address, no command."""

_BOTH = r"(driver|executor)\."
ALLOWED = re.compile(
    rf"spark\.({_BOTH}(memory|memoryOverhead|memoryOverheadFactor|cores|maxResultSize)"
    r"|executor\.(instances|pyspark\.memory|heartbeatInterval|resource\.gpu\.amount)"
    r"|task\.(cpus|maxFailures|resource\.gpu\.amount)|cores\.max|default\.parallelism"
    r"|dynamicAllocation\.\w+|locality\.wait(\.\w+)?|memory\.(fraction|storageFraction)"
    r"|scheduler\.(mode|minRegisteredResourcesRatio|maxRegisteredResourcesWaitingTime)"
    r"|network\.timeout|rpc\.askTimeout|log\.level|speculation"
    r"|python\.worker\.(memory|reuse)|rdd\.compress|shuffle\.(compress|spill\.compress)"
    r"|ui\.(enabled|showConsoleProgress|port|retained\w+)"
    r"|sql\.(adaptive|autoBroadcastJoinThreshold|broadcastTimeout|files|shuffle|ui|inMemoryColumn"
    r"arStorage|join)(\.\w+)*|sql\.(ansi\.enabled|session\.timeZone)"
    r"|sql\.codegen\.(wholeStage|factoryMode|maxFields)"
    r"|sql\.execution\.arrow\.(maxRecordsPerBatch|maxBytesPerBatch)"
    r"|sql\.parquet\.(compression\.codec|columnarReaderBatchSize|filterPushdown)"
    r"|databricks\.delta\.(snapshotPartitions|optimize\.\w+)"
    r"|hadoop\.parquet\.(block\.size|page\.size|enable\.dictionary)(#\w+)?)"
)
GUARDS = ("spark.authenticate", "spark.network.crypto.enabled")
JAVA = re.compile(rf"spark\.{_BOTH}(extraJavaOptions|defaultJavaOptions)")
JAVA_OPTION = re.compile(
    r"-XX:[+-](?!\w*(Dump|Attach))\w+|-XX:\w+=\d+[kmgKMG]?|-X(m[nsx]|ss)\d+[kmgKMG]?"
)
MASTER = "spark.master"
MASTERS = re.compile(r"local(\[[\d*,]+\])?|yarn")
BESIDE_SPARK = ("jars", "staging_folder")
"""Settings that are none of Spark's and may run code, or lead text elsewhere."""


def check_settings(settings: Mapping[str, str], path: str) -> None:
    """Refuse settings of a site's own file that may run code, or lead text elsewhere.

    `settings` are those of Spark by name, and those of BESIDE_SPARK that the file names.

    Raises:
        PolicyError: names the first that is not on the list, and where it may be set.
    """
    for name, value in settings.items():
        if not _is_allowed(name, value):
            raise PolicyError(
                f"{path}: {name} may not be set beside gated or private text: it can run other "
                "code, or lead text elsewhere. Allowed there are memory, cores, sizes, times and "
                "switches of the list in docs/governance.md; the machine's own "
                "/etc/medhelm-spark/settings.yaml, spark-submit and the cluster may set the others."
            )


def _is_allowed(name: str, value: str) -> bool:
    if name == MASTER:
        return MASTERS.fullmatch(value) is not None
    if name in GUARDS:
        return value.lower() == "true"
    if JAVA.fullmatch(name):
        return all(map(JAVA_OPTION.fullmatch, value.split()))
    return bool(ALLOWED.fullmatch(name) and PLAIN.fullmatch(value))


def check_remote(
    policy: Policy,
    levels: Iterable[AccessLevel],
    remote: str,
    look_up: Callable[[str], Iterable[str]] = lambda host: _addresses(host),
) -> None:
    """Refuse to send gated and private text to a Spark Connect server outside.

    All of a run's text goes there, as it goes to a model: every address of its name has to lie in
    the networks of a locality that the policy allows, and it is reached by TLS outside loopback.

    Args:
        policy: of the site.
        levels: of the text.
        remote: the server's address as SPARK_REMOTE has it, `sc://HOST:PORT/;key=value`.
        look_up: from a name to addresses.

    Raises:
        PolicyError: it is elsewhere, or in the clear.
    """
    guarded = sorted({*levels} - {AccessLevel.PUBLIC}, key=lambda level: -level.strictness)
    if not guarded:
        return
    parts = urlsplit(remote)
    is_encrypted = _is_encrypted(remote)
    addresses = list(look_up(parts.hostname or "")) or [""]
    for level in guarded:
        allowed = [locality for locality in Locality if decide(policy, level, locality).allowed]
        for address in addresses:
            reasons = [
                why_not(reach_of(policy, locality), address, is_encrypted=is_encrypted)
                for locality in allowed
            ]
            if all(reasons):
                raise PolicyError(
                    f"SPARK_REMOTE names a Spark Connect server at {parts.hostname}, to which "
                    f"{level} text may not be sent: "
                    f"{_reason(reasons, policy)}; allowed: a server in the networks that the "
                    "policy lists for a locality of that level, by TLS (use_ssl=true, once and in "
                    "small letters) outside loopback."
                )


def _is_encrypted(remote: str) -> bool:
    """Whether PySpark asks this server by TLS, by the parameters of its address.

    PySpark compares names with their case and uses the last value of a repeated one. Which value is
    meant, the address does not show: one that repeats a name counts as unencrypted.
    """
    parameters = urlparse(f"http{remote.removeprefix('sc')}").params
    pairs = [pair.partition("=")[::2] for pair in parameters.split(";")]
    values = dict(pairs)
    if len(values) < len(pairs):
        return False
    return "token" in values or unquote(values.get("use_ssl", "")).lower() == "true"


def _reason(reasons: list[str], policy: Policy) -> str:
    """The nearest of the reasons: one in a listed network lacks TLS alone."""
    in_network = [reason for reason in reasons if "plain http" in reason]
    if in_network:
        return "it is asked without TLS outside this machine"
    return f"{reasons[0] if reasons else 'nothing is allowed'}, as {policy.label} has it"


def _addresses(host: str) -> list[str]:
    if address_of(host):
        return [host]
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(address[0]) for *_, address in found})
