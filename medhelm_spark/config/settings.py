"""Settings of the platform: local machine, a cluster of the site's own, Databricks or EMR.

Precedence: `MEDHELM_SPARK_*` > the site folder's `settings.yaml` > the platform's `PLATFORM_FILE`,
which whoever runs the machines writes > `conf/settings/<platform>.yaml`; the command line sits
above all of them. Which policy is binding is the platform's to say: `named_policy`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from medhelm_spark.config.addresses import check_spark_secrets, check_url
from medhelm_spark.config.loader import load_yaml, refuse_misnamed
from medhelm_spark.config.policy_trust import is_root, why_ours
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.cluster import Manager, manager_of
from medhelm_spark.domain.policy_table import TABLE_NAME
from medhelm_spark.domain.warehouse import DEFAULT_TOKEN, Warehouse, check_token
from medhelm_spark.errors import ConfigError, UnknownNameError

PREFIX = "MEDHELM_SPARK_"
PERMISSIONS = ("private", "group")
EMR_FOLDER = Path("/usr/share/aws/emr")
PLATFORM_FILE = Path("/etc/medhelm-spark/settings.yaml")
"""Settings of a machine. A fixed place: one that a run names could be the run's own."""
SETTINGS_FILE = "settings.yaml"
"""The same of a site folder."""
LOG_LEVELS = ("ALL", "DEBUG", "ERROR", "FATAL", "INFO", "OFF", "TRACE", "WARN")
LOG_LEVEL = "spark.log.level"
MASTER = "spark.master"
EMR_SERVERLESS = "custom:emr-serverless"
"""How the master of EMR Serverless begins."""
PLATFORM, POLICY = PREFIX + "PLATFORM", PREFIX + "POLICY"
SPARK = "spark"
VARIABLES = {
    LOG_LEVEL: PREFIX + "LOG_LEVEL",
    "wave_minutes": PREFIX + "WAVE_MINUTES",
    "slots": PREFIX + "SLOTS",
    "tracking_uri": PREFIX + "TRACKING_URI",
    "jars": PREFIX + "JARS",
    "lake_permissions": PREFIX + "LAKE_PERMISSIONS",
    "dashboard_address": PREFIX + "DASHBOARD_ADDRESS",
    "sql_warehouse": PREFIX + "SQL_WAREHOUSE",
    "sql_warehouse_token": PREFIX + "SQL_WAREHOUSE_TOKEN",
}
"""The variable of the environment that gives a setting, where there is one."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a platform needs to know.

    `spark` are defaults, set only where the session has none. `wave_minutes` is the estimated work
    of one commit. `slots` is the number of engines at once (None: found from the cluster),
    `tracking_uri` MLflow's (None: its own default), `jars` Delta's (None: resolved from Maven).
    `plugins` are modules that every command loads. `lake_permissions` is who reads the files of a
    local lake: `private` (the owner) or `group`. `dashboard_address` is where a site serves the
    dashboard (None: whoever wants it starts it). `sql_warehouse` reads a lake in a catalog where
    no Spark session is (None: Spark does), with the token that `sql_warehouse_token` refers to.
    `places` says by setting, Spark's by its own name,
    which file or variable gave it.
    """

    platform: Platform
    spark: Mapping[str, str]
    wave_minutes: float
    slots: int | None
    tracking_uri: str | None
    jars: str | None
    origins: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    lake_permissions: str = "private"
    dashboard_address: str | None = None
    sql_warehouse: str | None = None
    sql_warehouse_token: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def warehouse(self) -> Warehouse | None:
        """The SQL warehouse that is named, if any."""
        return _warehouse(self.sql_warehouse, self.sql_warehouse_token)

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Name, value and place of every setting; a login in a URI is the reader's to hide."""
        held = {
            name: getattr(self, name) for name in SETTINGS if name not in (SPARK, "policy")
        } | dict(self.spark)
        return (
            ("platform", str(self.platform), self.places.get("platform", UNSET)),
            *((name, _shown(held[name]), self.places.get(name, UNSET)) for name in sorted(held)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SettingsFile:
    spark: Mapping[str, str] = field(default_factory=dict)
    wave_minutes: float | None = None
    slots: int | None = None
    tracking_uri: str | None = None
    jars: str | None = None
    plugins: tuple[str, ...] | None = None
    policy: str | None = None
    lake_permissions: str | None = None
    dashboard_address: str | None = None
    sql_warehouse: str | None = None
    sql_warehouse_token: str | None = None


SETTINGS = tuple(item.name for item in fields(_SettingsFile))
"""What a settings file may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A site's policy as it is named: a file, or a table's `catalog.schema.table`.

    `reason` says why whoever runs the job could have chosen it, None where they could not.
    """

    place: Path | str
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
    files = {path: load_yaml(path, _SettingsFile) for path in own if path.is_file()}
    masters = [file.spark[MASTER] for file in files.values() if MASTER in file.spark]
    platform = detect_platform(environ, master if master is not None else "".join(masters[-1:]))
    shipped = conf_path("settings", f"{platform}.yaml")
    files = {shipped: load_yaml(shipped, _SettingsFile), **files}
    merged = _SettingsFile()
    origin = PLATFORM if environ.get(PLATFORM) else "found on this machine"
    places = {"platform": origin}
    for path, file in files.items():
        check_spark_secrets(file.spark, str(path))
        if file.policy and path != PLATFORM_FILE:
            raise ConfigError(
                f"{path}: policy is for the platform to name, in {PLATFORM_FILE}; allowed here: a "
                "policy.yaml beside this file, which is advisory."
            )
        merged = _over(merged, file)
        places |= dict.fromkeys(_given(file), str(path))
    variables = _from_environ(environ)
    places |= {name: VARIABLES[name] for name in _given(variables)}
    return _settings(platform, _over(merged, variables), tuple(map(str, files)), places)


def named_policy(environ: Mapping[str, str] | None = None) -> NamedPolicy | None:
    """The policy that the platform names: in PLATFORM_FILE, else in MEDHELM_SPARK_POLICY.

    A place that nobody who runs a job can write does not make a policy binding: of several such
    places they could choose the one that suits them. So the name must come from PLATFORM_FILE, and
    that file must be closed to them as well; a job that runs as root is bound by a table alone. A
    variable is set by whoever starts the process.

    Raises:
        ConfigError: It is neither an absolute path of a file nor a table, or the two differ; or a
            file stands beside PLATFORM_FILE that was taken for it.
    """
    environ = os.environ if environ is None else environ
    refuse_misnamed(PLATFORM_FILE)
    file = load_yaml(PLATFORM_FILE, _SettingsFile) if PLATFORM_FILE.is_file() else _SettingsFile()
    given = {str(PLATFORM_FILE): file.policy, POLICY: environ.get(POLICY)}
    named = {where: path for where, path in given.items() if path}
    if len(set(named.values())) > 1:
        raise ConfigError(f"{POLICY} is {named[POLICY]!r}; {PLATFORM_FILE} names another one.")
    for where, text in named.items():
        path, is_table = Path(text), TABLE_NAME.fullmatch(text) is not None
        if not is_table and not (path.is_absolute() and path.is_file()):
            raise ConfigError(
                f"{where}: policy is {text!r}; allowed: the absolute path of a file, or a table as "
                "catalog.schema.table."
            )
        reason = _why_chosen(is_table=is_table) if file.policy else BY_VARIABLE
        return NamedPolicy(place=text if is_table else path, reason=reason)
    return None


def _why_chosen(*, is_table: bool) -> str | None:
    """Why this process could have written PLATFORM_FILE, where that makes its choice worth nothing.

    Root could. But on a cluster whose jobs run as root there is no better place for the name, and
    what a table says is the catalog's to guard, for root too.
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


def _over(base: _SettingsFile, top: _SettingsFile) -> _SettingsFile:
    changes: dict[str, Any] = {
        item.name: getattr(top, item.name)
        for item in fields(top)
        if getattr(top, item.name) is not None
    }
    return replace(base, **{**changes, "spark": {**base.spark, **top.spark}})


def _given(file: _SettingsFile) -> list[str]:
    """The settings that a file gives, Spark's by their own names."""
    named = [name for name in SETTINGS if name != SPARK and getattr(file, name) is not None]
    return [*named, *file.spark]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def _from_environ(environ: Mapping[str, str]) -> _SettingsFile:
    level = environ.get(VARIABLES[LOG_LEVEL])
    return _SettingsFile(
        spark={LOG_LEVEL: level} if level else {},
        wave_minutes=_number(environ, "wave_minutes", float),
        slots=_number(environ, "slots", int),
        tracking_uri=environ.get(VARIABLES["tracking_uri"]) or None,
        jars=environ.get(VARIABLES["jars"]) or None,
        lake_permissions=environ.get(VARIABLES["lake_permissions"]) or None,
        dashboard_address=environ.get(VARIABLES["dashboard_address"]) or None,
        sql_warehouse=environ.get(VARIABLES["sql_warehouse"]) or None,
        sql_warehouse_token=environ.get(VARIABLES["sql_warehouse_token"]) or None,
    )


def _number(environ: Mapping[str, str], name: str, kind: type) -> Any:
    text = environ.get(VARIABLES[name])
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        allowed = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{VARIABLES[name]} is {text!r}; allowed: {allowed}.") from None


def _warehouse(address: str | None, token: str | None) -> Warehouse | None:
    return Warehouse(address=address, token=token or DEFAULT_TOKEN) if address else None


def _base_address(address: str | None) -> str | None:
    """Where the dashboard is, as MLflow's records will say it: no login, nothing behind `?`."""
    if not address:
        return None
    try:
        check_url(address, "")
        is_plain = "?" not in address and "#" not in address
    except ConfigError:  # which speaks of a deployment's keys
        is_plain = False
    if not is_plain:
        raise ConfigError(
            f"setting dashboard_address ({PREFIX}DASHBOARD_ADDRESS) is no base address; allowed: "
            "http(s)://HOST[:PORT]/PATH without a login, `?` and `#`, to which a board's name is "
            "added."
        )
    return address


def _settings(
    platform: Platform,
    file: _SettingsFile,
    origins: tuple[str, ...],
    places: Mapping[str, str],
) -> Settings:
    wave_minutes = 10.0 if file.wave_minutes is None else file.wave_minutes
    for name, value in (("wave_minutes", wave_minutes), ("slots", file.slots)):
        if value is not None and not value > 0:
            raise ConfigError(f"setting {name} is {value}; allowed: a number above 0.")
    level = file.spark.get(LOG_LEVEL)
    if level is not None and level.upper() not in LOG_LEVELS:
        raise ConfigError(
            f"setting spark: {LOG_LEVEL} ({PREFIX}LOG_LEVEL) is {level!r}; allowed: "
            f"{', '.join(LOG_LEVELS)}."
        )
    permissions = file.lake_permissions or PERMISSIONS[0]
    if permissions not in PERMISSIONS:
        raise ConfigError(
            f"setting lake_permissions is {permissions!r}; allowed: {', '.join(PERMISSIONS)}."
        )
    check_token(file.sql_warehouse_token or DEFAULT_TOKEN)
    _warehouse(file.sql_warehouse, file.sql_warehouse_token)  # refuses a wrong address
    return Settings(
        platform=platform,
        spark=file.spark,
        wave_minutes=wave_minutes,
        slots=file.slots,
        tracking_uri=file.tracking_uri,
        jars=file.jars,
        origins=origins,
        plugins=file.plugins or (),
        lake_permissions=permissions,
        dashboard_address=_base_address(file.dashboard_address),
        sql_warehouse=file.sql_warehouse,
        sql_warehouse_token=file.sql_warehouse_token,
        places=places,
    )
