"""Settings of the platform: local machine, a cluster of the site's own, Databricks or EMR.

Precedence: `MEDHELM_SPARK_*` > the site folder's `settings.yaml` > the platform's `PLATFORM_FILE`,
which whoever runs the machines writes > `conf/settings/<platform>.yaml`; the command line sits
above all of them. Which policy is binding, the platform decides: `named_policy`.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from medhelm_spark.config.addresses import check_spark_secrets, check_url
from medhelm_spark.config.loader import refuse_misnamed, validate
from medhelm_spark.config.policy_trust import is_root, why_ours
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.yaml_text import parse_yaml, read_text
from medhelm_spark.domain.cluster import Manager, manager_of
from medhelm_spark.domain.policy_table import TABLE_NAME
from medhelm_spark.domain.warehouse import DEFAULT_TOKEN, Warehouse, check_token
from medhelm_spark.errors import ConfigError, UnknownNameError

PREFIX = "MEDHELM_SPARK_"
PERMISSIONS = ("private", "group")
EMR_FOLDER = Path("/usr/share/aws/emr")
PLATFORM_FILE = Path("/etc/medhelm-spark/settings.yaml")
"""Settings of a machine. A fixed path: one that a run names could be the run's own."""
SETTINGS_FILE = "settings.yaml"
"""The same of a site folder."""
LOG_LEVELS = ("ALL", "DEBUG", "ERROR", "FATAL", "INFO", "OFF", "TRACE", "WARN")
LOG_LEVEL = "spark.log.level"
MASTER = "spark.master"
MOST_CHUNK_REQUESTS = 65_536
"""The driver sends the row numbers of a chunk to a slot in one message, which is bounded."""
EMR_SERVERLESS = "custom:emr-serverless"
"""How the master of EMR Serverless begins."""
PLATFORM, POLICY = PREFIX + "PLATFORM", PREFIX + "POLICY"
SPARK = "spark"
UNSET = "default"
"""Where a setting comes from that nothing gives."""
BY_VARIABLE = f"named by {POLICY}, which whoever runs the job can set"


class Platform(StrEnum):
    """Where Spark runs.

    local: in one process of this machine; cluster: executors of a site's own, standalone, YARN or
    Kubernetes, or a server of Spark Connect; databricks and emr bring settings of their own.
    """

    LOCAL = "local"
    CLUSTER = "cluster"
    DATABRICKS = "databricks"
    EMR = "emr"


def _log_level(_: str, conf: Mapping[str, str]) -> Mapping[str, str]:
    level = conf.get(LOG_LEVEL)
    if level is not None and level.upper() not in LOG_LEVELS:
        raise ConfigError(
            f"setting spark: {LOG_LEVEL} ({PREFIX}LOG_LEVEL) is {level!r}; allowed: "
            f"{', '.join(LOG_LEVELS)}."
        )
    return conf


def _above_zero(name: str, value: float) -> float:
    if not value > 0:
        raise ConfigError(f"setting {name} is {value}; allowed: a number above 0.")
    return value


def _chunk_size(name: str, value: int) -> int:
    if not 0 < value <= MOST_CHUNK_REQUESTS:
        allowed = f"a number from 1 to {MOST_CHUNK_REQUESTS:,}"
        raise ConfigError(f"setting {name} is {value}; allowed: {allowed}.")
    return value


def _zero_or_more(name: str, value: int) -> int:
    if value < 0:
        raise ConfigError(f"setting {name} is {value}; allowed: a number of 0 or more.")
    return value


def _absolute(name: str, value: str | None) -> str | None:
    if value and not Path(value).is_absolute():
        raise ConfigError(f"setting {name} is {value!r}; allowed: an absolute path.")
    return value or None


def _permissions(name: str, value: str) -> str:
    value = value or PERMISSIONS[0]
    if value not in PERMISSIONS:
        raise ConfigError(f"setting {name} is {value!r}; allowed: {', '.join(PERMISSIONS)}.")
    return value


def _base_address(name: str, address: str) -> str | None:
    """Where the dashboard is, as MLflow's records will have it: no login, nothing behind `?`."""
    if not address:
        return None
    try:
        check_url(address, "")
        is_plain = "?" not in address and "#" not in address
    except ConfigError:  # which speaks of a deployment's keys
        is_plain = False
    if not is_plain:
        raise ConfigError(
            f"setting {name} ({PREFIX}DASHBOARD_ADDRESS) is no base address; allowed: "
            "http(s)://HOST[:PORT]/PATH without a login, `?` and `#`, to which a board's name is "
            "added."
        )
    return address


def _warehouse_address(_: str, address: str) -> str:
    if address:
        Warehouse(address=address)  # refuses a wrong one
    return address


def _token(_: str, token: str) -> str:
    check_token(token or DEFAULT_TOKEN)
    return token


def _setting(
    default: Any = None, *, read: type | None = str, check: Callable[[str, Any], Any] | None = None
) -> Any:
    """A setting's default, what its variable's text becomes (None: it has none), and its check."""
    return field(default=default, metadata={"read": read, "check": check})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """What a settings file may contain: each setting's key, type, default, variable and check.

    The variable is the key in capitals behind MEDHELM_SPARK_.
    """

    spark: Mapping[str, str] = field(default_factory=dict, metadata={"check": _log_level})
    """Spark's own settings, set only where the session has none."""
    chunk_requests: int = _setting(64, read=int, check=_chunk_size)
    """The number of requests that a slot takes together."""
    commit_seconds: float = _setting(10.0, read=float, check=_above_zero)
    """How long answers wait for their commit."""
    staging_folder: str | None = _setting(check=_absolute)
    """A folder that driver and executors see by one path, for a lake that is none; None: none."""
    small_run_requests: int = _setting(20_000, read=int, check=_zero_or_more)
    """Up to so many requests a run is computed without Spark where it can be; 0: never."""
    wave_minutes: float | None = _setting(read=float, check=_above_zero)
    """Does nothing; read so that files of before are no error."""
    slots: int | None = _setting(read=int, check=_above_zero)
    """The number of engines at once; None: found from the cluster."""
    tracking_uri: str | None = _setting()
    """MLflow's address; None: its own default."""
    jars: str | None = _setting()
    """Delta's jars; None: resolved from Maven."""
    plugins: tuple[str, ...] = _setting((), read=None)
    """Modules that every command loads."""
    policy: str | None = _setting(read=None)
    """The site's policy, in PLATFORM_FILE alone; `named_policy` reads it, and its variable."""
    lake_permissions: str = _setting(PERMISSIONS[0], check=_permissions)
    """Who reads the files of a local lake: `private` (the owner) or `group`."""
    dashboard_address: str | None = _setting(check=_base_address)
    """Where a site serves the dashboard; None: whoever wants it starts it."""
    anchor_file: str | None = _setting()
    """A file outside the lake that gets the hash of each release's manifest; None: no file."""
    signing_key: str | None = _setting()
    """A file with the site's private Ed25519 key (PEM), by which records are signed; None: none."""
    verify_keys: str | None = _setting()
    """A file with the site's public keys (PEM), for who verifies and does not sign; None: none."""
    identity_key: str | None = _setting()
    """A file with the private Ed25519 key (PEM) of the person who takes steps of releases."""
    identity_token: str | None = _setting()
    """A file with the person's token of OpenID Connect, which names them."""
    sign_in: str | None = _setting()
    """A TOML file, as Streamlit's `st.login` reads it, by which people sign in to the dashboard."""
    sql_warehouse: str | None = _setting(check=_warehouse_address)
    """What reads a lake in a catalog where no Spark session is; None: Spark does."""
    sql_warehouse_token: str | None = _setting(check=_token)
    """What refers to the warehouse's token; None: DEFAULT_TOKEN."""


SETTINGS = tuple(item.name for item in fields(SettingsFile))
"""The keys of a settings file."""
VARIABLES = {LOG_LEVEL: PREFIX + "LOG_LEVEL"} | {
    item.name: PREFIX + item.name.upper()
    for item in fields(SettingsFile)
    if item.metadata.get("read")
}
"""The variable of the environment that gives a setting, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(SettingsFile):
    """What a platform needs: the settings of all files and variables."""

    platform: Platform
    origins: tuple[str, ...]
    """The files that were read; the last wins."""
    sources: Mapping[str, str]
    """By setting, Spark's by its own name: which file or variable gave it."""

    @property
    def warehouse(self) -> Warehouse | None:
        """The SQL warehouse that is named, if any."""
        token = self.sql_warehouse_token or DEFAULT_TOKEN
        return Warehouse(address=self.sql_warehouse, token=token) if self.sql_warehouse else None

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Name, value and source of every setting; a login in a URI is the reader's to hide."""
        values = {
            name: getattr(self, name) for name in SETTINGS if name not in (SPARK, "policy")
        } | dict(self.spark)
        return (
            ("platform", str(self.platform), self.sources.get("platform", UNSET)),
            *(
                (name, _shown(values[name]), self.sources.get(name, UNSET))
                for name in sorted(values)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A site's policy as it is named: a file, or a table's `catalog.schema.table`.

    `reason` says why whoever runs the job could have chosen it, None where they could not.
    """

    location: Path | str
    reason: str | None = None


def load_settings(
    local_path: Path | None = None,
    environ: Mapping[str, str] | None = None,
    master: str | None = None,
) -> Settings:
    """The settings of the platform this process runs on.

    `master` is that of the Spark session which is there or will be; None: the settings' own.

    Raises:
        ConfigError: If a file or a variable is wrong.
    """
    environ = os.environ if environ is None else environ
    own = [PLATFORM_FILE, *([local_path / SETTINGS_FILE] if local_path else [])]
    for path in own:
        refuse_misnamed(path)
    files = {path: _read_file(path) for path in own if path.is_file()}
    masters = [file[SPARK][MASTER] for file in files.values() if MASTER in file[SPARK]]
    platform = detect_platform(environ, master if master is not None else "".join(masters[-1:]))
    shipped = conf_path("settings", f"{platform}.yaml")
    files = {shipped: _read_file(shipped), **files}
    for path, file in files.items():
        check_spark_secrets(file[SPARK], str(path))
        if file.get("policy") and path != PLATFORM_FILE:
            raise ConfigError(
                f"{path}: policy is for the platform to name, in {PLATFORM_FILE}; allowed here: a "
                "policy.yaml beside this file, which is advisory."
            )
    origins = tuple(map(str, files))
    values: dict[str, Any] = {SPARK: {}}
    sources = {"platform": PLATFORM if environ.get(PLATFORM) else "found on this machine"}
    for source, stated in (*zip(origins, files.values(), strict=True), *_from_environ(environ)):
        values |= {**stated, SPARK: values[SPARK] | stated[SPARK]}
        sources |= dict.fromkeys({*stated, *stated[SPARK]} - {SPARK}, source)
    for item in fields(SettingsFile):
        if item.name in values and (check := item.metadata["check"]):
            values[item.name] = check(item.name, values[item.name])
    return Settings(platform=platform, origins=origins, sources=sources, **values)


def named_policy(environ: Mapping[str, str] | None = None) -> NamedPolicy | None:
    """The policy that the platform names: in PLATFORM_FILE, else in MEDHELM_SPARK_POLICY.

    A file that nobody who runs a job can write does not make a policy binding: of several such
    files they could choose the one that suits them. So the name must come from PLATFORM_FILE, and
    that file must be closed to them as well; a job that runs as root is bound by a table alone. A
    variable is set by whoever starts the process.

    Raises:
        ConfigError: It is neither an absolute path of a file nor a table, or the two differ; or a
            file is beside PLATFORM_FILE that was taken for it.
    """
    environ = os.environ if environ is None else environ
    refuse_misnamed(PLATFORM_FILE)
    of_file = _read_file(PLATFORM_FILE).get("policy") if PLATFORM_FILE.is_file() else None
    sources = {str(PLATFORM_FILE): of_file, POLICY: environ.get(POLICY)}
    named = {where: path for where, path in sources.items() if path}
    if len(set(named.values())) > 1:
        raise ConfigError(f"{POLICY} is {named[POLICY]!r}; {PLATFORM_FILE} names another one.")
    for where, text in named.items():
        path, is_table = Path(text), TABLE_NAME.fullmatch(text) is not None
        if not is_table and not (path.is_absolute() and path.is_file()):
            raise ConfigError(
                f"{where}: policy is {text!r}; allowed: the absolute path of a file, or a table as "
                "catalog.schema.table."
            )
        reason = _why_chosen(is_table=is_table) if of_file else BY_VARIABLE
        return NamedPolicy(location=text if is_table else path, reason=reason)
    return None


def _why_chosen(*, is_table: bool) -> str | None:
    """Why this process could have written PLATFORM_FILE, where that makes its choice worth nothing.

    Root could. But on a cluster whose jobs run as root there is no better place for the name, and
    the catalog guards what is in a table, for root too.
    """
    return None if is_table and is_root() else why_ours(PLATFORM_FILE)


def detect_platform(environ: Mapping[str, str], master: str = "") -> Platform:
    """The platform named by MEDHELM_SPARK_PLATFORM, else the one whose marks are found.

    `master` is Spark's, empty where nothing names one: the commands then start it on this machine.

    >>> detect_platform({}, "spark://head:7077"), detect_platform({}, "local[2]")
    (<Platform.CLUSTER: 'cluster'>, <Platform.LOCAL: 'local'>)
    """
    named = environ.get(PLATFORM)
    if named:
        if named not in list(Platform):
            raise UnknownNameError("platform", named, list(map(str, Platform)), where=PLATFORM)
        return Platform(named)
    if "DATABRICKS_RUNTIME_VERSION" in environ:
        return Platform.DATABRICKS
    if master.startswith(EMR_SERVERLESS) or EMR_FOLDER.is_dir():
        return Platform.EMR
    is_here = not master or manager_of(master) is Manager.LOCAL
    return Platform.LOCAL if is_here else Platform.CLUSTER


def _read_file(path: Path) -> dict[str, Any]:
    """The settings that a file gives, Spark's always; a key without a value gives none.

    A file of comments alone gives none either. One without a sign is refused: it may be cut off,
    and have named the policy.
    """
    text = read_text(path)
    data: Any = parse_yaml(text, str(path))
    if data is None and text.strip():
        data = {}
    empty: dict[str, Any] = {}
    if isinstance(data, Mapping):
        defaults = {item.name: item.default for item in fields(SettingsFile) if item.name != SPARK}
        empty = {name: value for name, value in defaults.items() if data.get(name, "") is None}
        data = {**data, **empty}
    file = validate(data, SettingsFile, str(path))
    return {name: getattr(file, name) for name in {*data, SPARK} - empty.keys()}


def _from_environ(environ: Mapping[str, str]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Each variable that is set, with the setting that it gives, Spark's always."""
    if level := environ.get(VARIABLES[LOG_LEVEL]):
        yield VARIABLES[LOG_LEVEL], {SPARK: {LOG_LEVEL: level}}
    for item in fields(SettingsFile):
        variable = VARIABLES.get(item.name, "")
        if text := environ.get(variable):
            yield variable, {SPARK: {}, item.name: _parsed(variable, text, item.metadata["read"])}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def _parsed(variable: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        allowed = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{variable} is {text!r}; allowed: {allowed}.") from None
