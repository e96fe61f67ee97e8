"""Where a policy's file is decides what it may allow: advisory files only restrict."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.config import policy_trust, settings
from medhelm_spark.config.policy import _restricted, load_policy, policy_in_force
from medhelm_spark.config.policy_trust import why_ours
from medhelm_spark.config.registry import explain, policy_of
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.settings import load_settings, named_policy
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Network
from medhelm_spark.domain.policy import Policy, PolicyTrust
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.policy import decide
from tests.unprivileged import NOBODY, unprivileged

SHIPPED = conf_path("policy.yaml")
WIDE = "allowed: {public: [local], gated: [local, baa], private: [local, tenant]}"
ROOTS = Path("/etc/passwd")
"""A file of root's on every machine, in folders of root's."""


def allows(policy: Policy, level: str, locality: str) -> bool:
    return decide(policy, level, locality).allowed


@pytest.fixture(autouse=True)
def no_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run in a container that has one of its own."""
    monkeypatch.setattr("medhelm_spark.namespaces.UID_MAP", Path("/no/such/file"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder of the tests' user that every user may enter; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="medhelm-spark-test-"))
    folder.chmod(0o755)
    before = os.umask(0o022)  # a command of an earlier test may have closed the process's files
    yield folder
    os.umask(before)
    shutil.rmtree(folder)


@pytest.fixture
def mounted(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Shows every mount of this machine with these options and of this type."""
    real = policy_trust.MOUNTS.read_text().splitlines()

    def set_mount(options: str, kind: str) -> None:
        table = open_folder / "mountinfo"
        changed = (
            re.sub(r"^((\S+ ){5})\S+(.*) - \S+", rf"\1{options}\3 - {kind}", m) for m in real
        )
        table.write_text("\n".join(changed))
        table.chmod(0o644)
        monkeypatch.setattr(policy_trust, "MOUNTS", table)

    return set_mount


@pytest.fixture(autouse=True)
def mounted_by_root(mounted: Callable[[str, str], None]) -> None:
    """The tests may run in a container, or where /tmp is mounted nosuid."""
    mounted("rw,relatime", "ext4")


@pytest.mark.attack("policy", "a policy.yaml in --local-path that lets private text leave")
def test_a_policy_of_the_site_folder_only_restricts(write) -> None:
    site = write("site/policy.yaml", WIDE)
    policy = policy_of(site.parent)
    assert policy.standing is PolicyTrust.ADVISORY
    assert not policy.is_binding
    assert dict(policy.allowed) == {
        AccessLevel.PUBLIC: (Locality.LOCAL,),
        AccessLevel.GATED: (Locality.LOCAL,),
        AccessLevel.PRIVATE: (Locality.LOCAL,),
    }
    denied = decide(policy, AccessLevel.PRIVATE, Locality.TENANT)
    assert not denied.allowed
    assert denied.rule.startswith(f"{site} (advisory): private allows local, not tenant (listed")
    assert not allows(policy, "public", "external")
    assert policy.version != policy_of(None).version


@pytest.mark.attack(
    "policy", "networks in --local-path's policy.yaml that call a server outside local"
)
def test_networks_of_an_advisory_policy_are_parts_of_those_above(write) -> None:
    wide = f"{WIDE}\nnetworks: {{local: [127.0.0.1/32, 10.0.0.0/8], tenant: [10.20.0.0/16]}}"
    policy = policy_of(write("site/policy.yaml", wide).parent)
    listed = {locality: [each.cidr for each in networks] for locality, networks in policy.networks}
    assert listed == {Locality.LOCAL: ["127.0.0.1/32"], Locality.TENANT: []}
    binding = replace(load_policy(write("binding.yaml", wide)), standing=PolicyTrust.BINDING)
    inner = load_policy(
        write("inner.yaml", "networks: {tenant: [10.20.3.0/24, 10.9.0.0/16]}"), binding
    )
    narrowed = _restricted(binding, inner)
    assert dict(narrowed.networks)[Locality.TENANT] == (Network(cidr="10.20.3.0/24"),)
    assert dict(narrowed.networks)[Locality.LOCAL] == dict(binding.networks)[Locality.LOCAL]


def test_approvals_count_in_a_binding_policy_alone(write) -> None:
    text = (
        "approvals: [{scenario_name: notes, data_version: v1, to_level: public, approved_by: dpo}]"
    )
    stated = load_policy(write("policy.yaml", f"{WIDE}\n{text}"))
    assert [each.approved_by for each in stated.approvals] == ["dpo"]
    assert stated.binding_approvals == ()
    assert replace(stated, standing=PolicyTrust.BINDING).binding_approvals == stated.approvals


def test_every_output_names_it_as_advisory(write) -> None:
    registry = load_site(write("site/policy.yaml", WIDE).parent)
    (row,) = (row for row in explain(registry) if row.kind == "policy")
    assert row.name == "policy (advisory)"
    assert registry.policy.label.endswith("site/policy.yaml (advisory)")
    (shipped,) = (row for row in explain(load_site()) if row.kind == "policy")
    assert shipped.name == "policy (shipped)"


@pytest.mark.parametrize("name", ["policy.yml", "Policy.yaml", "policy.json"])
@pytest.mark.attack("policy", "a policy.yml that somebody takes for the policy")
def test_a_file_that_looks_like_the_policy_is_an_error(write, name: str) -> None:
    write(f"site/{name}", WIDE)
    site = write("site/other.yaml", "").parent
    with pytest.raises(ConfigError, match=f"{name}: is not read; its name must be policy.yaml"):
        policy_of(site)


@pytest.mark.attack("policy", "a binding policy at a place that the job's user can write")
def test_what_the_user_could_have_written_is_not_binding(open_folder: Path) -> None:
    own = open_folder / "policy.yaml"
    own.write_text(WIDE)
    if os.geteuid() == 0:
        os.chown(own, NOBODY, NOBODY)
    policy = unprivileged(policy_in_force, SHIPPED, own, None)
    assert policy.standing is PolicyTrust.ADVISORY
    assert not allows(policy, "private", "tenant")
    assert "does not belong to root)" in policy.label


@pytest.mark.attack("policy", "a symbolic link to a file of root's as the binding policy")
def test_a_link_is_not_binding(open_folder: Path) -> None:
    link = open_folder / "policy.yaml"
    link.symlink_to(ROOTS)
    assert "symbolic link" in unprivileged(why_ours, link)


@pytest.mark.attack("policy", "a file of root's in a folder that everybody may write")
def test_an_open_folder_is_not_binding(open_folder: Path) -> None:
    path = open_folder / "open" / "policy.yaml"
    path.parent.mkdir()
    path.write_text(WIDE)
    path.parent.chmod(0o777)
    reason = unprivileged(why_ours, path)
    assert reason is not None
    assert "can be written" in reason or "does not belong to root" in reason


@pytest.mark.attack("policy", "a file system of the user's own that shows a file as root's")
@pytest.mark.parametrize(
    ("options", "kind", "reason"),
    [
        ("rw,nosuid,nodev", "ext4", "mounted nosuid, as what users mount is"),
        ("rw", "fuse.sshfs", "is in a FUSE file system"),
        ("rw,user_id=0", "fuseblk", "is in a FUSE file system"),
    ],
)
def test_what_a_user_may_have_mounted_is_not_binding(mounted, options, kind, reason) -> None:
    assert unprivileged(why_ours, ROOTS) is None
    mounted(options, kind)
    assert reason in str(unprivileged(why_ours, ROOTS))


def test_an_unknown_mount_is_not_binding(open_folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (open_folder, open_folder / "none"):
        monkeypatch.setattr(policy_trust, "MOUNTS", table)
        assert "does not report how" in str(unprivileged(why_ours, ROOTS))
    empty = open_folder / "empty"
    empty.touch(0o644)
    monkeypatch.setattr(policy_trust, "MOUNTS", empty)
    assert "does not report how" in str(unprivileged(why_ours, ROOTS))


@pytest.mark.attack("policy", "root runs the job and wrote the binding policy itself")
def test_root_binds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert why_ours(ROOTS) == "this process runs as root"


@pytest.mark.attack("policy", "a user namespace in which the job's user owns root's files")
def test_a_user_namespace_binds_nobody(write, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = write("uid_map", "0 100000 65536\n1000 1000 1\n")
    monkeypatch.setattr("medhelm_spark.namespaces.UID_MAP", mapped)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "user namespace" in str(why_ours(ROOTS))


def test_a_file_of_roots_is_binding_for_an_unprivileged_user(open_folder: Path) -> None:
    assert unprivileged(why_ours, ROOTS) is None
    if os.geteuid() != 0:  # only root can put a policy of its own there
        return
    path = open_folder / "policy.yaml"
    path.write_text(WIDE)
    path.chmod(0o644)
    policy = unprivileged(policy_in_force, SHIPPED, path, None)
    assert policy.is_binding
    assert policy.label == f"{path} (binding)"
    assert allows(policy, "private", "tenant")
    assert allows(policy, "gated", "baa")
    assert not allows(policy, "public", "external")


@pytest.fixture
def binding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every path is taken for one that the user cannot write."""
    for module in ("policy", "settings"):
        monkeypatch.setattr(f"medhelm_spark.config.{module}.why_ours", lambda _: None)


@pytest.mark.usefixtures("binding")
def test_beside_a_binding_policy_a_site_only_restricts(write) -> None:
    named = write("platform/policy.yaml", WIDE)
    site = write("site/policy.yaml", "allowed: {public: [external, local], private: [local, baa]}")
    policy = policy_in_force(SHIPPED, named, site)
    assert policy.is_binding
    assert dict(policy.allowed) == {
        AccessLevel.PUBLIC: (Locality.LOCAL,),
        AccessLevel.PRIVATE: (Locality.LOCAL,),
    }
    assert policy.label == f"{named} (binding) with {site} (advisory)"
    assert policy.summary == f"binding; restricted by {site}"


@pytest.mark.usefixtures("binding")
@pytest.mark.parametrize(
    ("named", "site", "highest"),
    [
        ("", "", AccessLevel.PUBLIC),
        ("", "private", AccessLevel.PUBLIC),
        ("private", "", AccessLevel.PRIVATE),
        ("private", "gated", AccessLevel.GATED),
        ("gated", "private", AccessLevel.GATED),
    ],
)
def test_only_a_binding_policy_lets_raters_links_open_more(
    write, named: str, site: str, highest: AccessLevel
) -> None:
    def rules(level: str) -> str:
        return f"rating_links: {{highest_level: {level}}}\n" if level else ""

    binding = write("platform/policy.yaml", WIDE + "\n" + rules(named)) if named else None
    own = write("site/policy.yaml", WIDE + "\n" + rules(site))
    assert policy_in_force(SHIPPED, binding, own).rating_links.highest_level is highest


@pytest.mark.usefixtures("binding")
def test_the_binding_file_is_named_as_the_one_in_force_beside_a_sites_own(write, platform) -> None:
    named = write("etc/policy.yaml", WIDE)
    platform(f"policy: {named}")
    site = write("site/policy.yaml", "allowed: {public: [local]}")
    (row,) = (row for row in explain(load_site(site.parent)) if row.kind == "policy")
    assert row.name == f"policy (binding; restricted by {site})"
    assert row.file == str(named)
    assert str(site) in row.overridden


@pytest.mark.usefixtures("binding")
@pytest.mark.parametrize(
    "more",
    [
        "comparison: {coverage_floor: 0.1}",
        f"plugins: [{{module: m, sha256: {'0' * 64}}}]",
        "audiences: [{name: anybody, content: scores}]",
        "viewers: {people: [{issuer: https://own.test, subject: me, text: private}]}",
    ],
)
def test_what_a_binding_policy_decides_is_not_stated_beside_it(write, more: str) -> None:
    named = write("platform/policy.yaml", WIDE)
    site = write("site/policy.yaml", f"allowed: {{}}\n{more}")
    with pytest.raises(ConfigError, match=r"is decided by .* \(binding\); leave it out"):
        policy_in_force(SHIPPED, named, site)


@pytest.mark.attack("policy", "settings.yaml in --local-path that names a policy as binding")
def test_a_run_cannot_name_the_binding_policy(write) -> None:
    site = write("site/settings.yaml", "policy: /etc/medhelm-spark/policy.yaml").parent
    with pytest.raises(ConfigError, match="policy is for the platform to name"):
        load_settings(site, {"MEDHELM_SPARK_PLATFORM": "local"})


@pytest.fixture
def platform(write, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes the settings of the platform."""

    def written(text: str) -> Path:
        path = write("etc/settings.yaml", text)
        monkeypatch.setattr(settings, "PLATFORM_FILE", path)
        return path

    return written


def test_the_platform_names_it_in_its_settings_or_a_variable(write, platform) -> None:
    path = write("etc/policy.yaml", WIDE)
    assert named_policy({}) is None
    by_variable = named_policy({"MEDHELM_SPARK_POLICY": str(path)})
    assert by_variable is not None and by_variable.location == path
    file = platform(f"policy: {path}\nslots: 3")
    named = named_policy({})
    assert named is not None and named.location == path
    assert named_policy({"MEDHELM_SPARK_POLICY": str(path)}) == named
    loaded = load_settings(environ={"MEDHELM_SPARK_PLATFORM": "local"})
    assert (loaded.slots, str(file) in loaded.origins) == (3, True)
    assert policy_of(None).origin == str(path)


@pytest.mark.usefixtures("binding")
@pytest.mark.attack("policy", "MEDHELM_SPARK_POLICY that picks a laxer file of root's as binding")
def test_what_only_a_variable_names_is_not_binding(write, platform, monkeypatch) -> None:
    path = write("etc/policy.yaml", WIDE)
    monkeypatch.setenv("MEDHELM_SPARK_POLICY", str(path))
    for text in (None, "slots: 3"):  # no settings of the platform, or ones that name no policy
        if text:
            platform(text)
        policy = policy_of(None)
        assert policy.standing is PolicyTrust.ADVISORY
        assert policy.label.startswith(f"{path} (advisory: named by MEDHELM_SPARK_POLICY, which ")
        assert not allows(policy, "private", "tenant")
    platform(f"policy: {path}")
    assert policy_of(None).is_binding


@pytest.mark.attack("policy", "/etc/medhelm-spark/settings.yaml that the job's user can write")
def test_settings_of_the_machine_that_the_user_could_have_written_bind_nobody(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, file = open_folder / "policy.yaml", open_folder / "settings.yaml"
    policy.write_text(WIDE)
    file.write_text(f"policy: {policy}")
    monkeypatch.setattr(settings, "PLATFORM_FILE", file)
    if os.geteuid() == 0:  # only root can put there what binds
        # First what imports all modules, for the other user may read none.
        assert policy_of(None).label == f"{policy} (advisory: this process runs as root)"
        assert unprivileged(policy_of, None).label == f"{policy} (binding)"
        os.chown(file, NOBODY, NOBODY)
        advisory = unprivileged(policy_of, None)
        assert advisory.label == f"{policy} (advisory: {file} does not belong to root)"
    assert unprivileged(policy_of, None).standing is PolicyTrust.ADVISORY
    assert not allows(unprivileged(policy_of, None), "private", "tenant")


@pytest.mark.attack("policy", "MEDHELM_SPARK_POLICY beside the policy that the platform names")
def test_a_variable_does_not_win_over_the_platform(write, platform) -> None:
    platform(f"policy: {write('etc/policy.yaml', WIDE)}")
    with pytest.raises(ConfigError, match="names another one"):
        named_policy({"MEDHELM_SPARK_POLICY": "/somewhere/policy.yaml"})


@pytest.mark.attack("policy", "a settings.yml that somebody takes for the platform's settings")
def test_a_file_that_looks_like_the_settings_is_an_error(
    write, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = write("etc/settings.yml", "policy: /etc/policy.yaml")
    monkeypatch.setattr(settings, "PLATFORM_FILE", written.with_suffix(".yaml"))
    for load in (named_policy, load_settings):
        with pytest.raises(ConfigError, match=r"yml: is not read; its name must be settings\.yaml"):
            load()
    site = write("site/settings.yml", "").parent
    monkeypatch.setattr(settings, "PLATFORM_FILE", site / "none" / "settings.yaml")
    with pytest.raises(ConfigError, match=r"its name must be settings\.yaml"):
        load_settings(site)


@pytest.mark.parametrize("text", ["policy.yaml", "/no/such/policy.yaml", "main.policy"])
def test_a_named_policy_that_is_no_file_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"_POLICY: policy is .* absolute path"):
        named_policy({"MEDHELM_SPARK_POLICY": text})


def test_listed_plug_ins_have_a_whole_hash(write) -> None:
    path = write("policy.yaml", "allowed: {}\nplugins: [{module: m, sha256: abc}]")
    with pytest.raises(ConfigError, match=r"plugins\[0\].sha256 is 'abc'; allowed: 64 hexa"):
        load_policy(path)
