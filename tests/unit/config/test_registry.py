"""The registry: which file wins, and what a model's name means."""

import pytest

from medhelm_spark.config.registry import Registry, explain
from medhelm_spark.config.settings import load_settings
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.site import load_site

OVERRIDE = """
model_deployments:
  - {name: canned/echo, engine: canned, max_concurrency: 3}
"""
METADATA = """
models:
  - name: acme/small
    display_name: Small
    creator_organization_name: Acme
    access: open
    release_date: 2025-01-01
    num_parameters: 135000000
    deployment_names: [site/small]
    release: ignored
"""
JUDGES = """
name: clinicians
validated: true
judges:
  - {name: echo, model: canned/echo, model_deployment: canned/echo}
"""


def test_an_absent_site_folder_changes_nothing(tmp_path, shipped) -> None:
    assert load_site(tmp_path / "prod_env") == shipped


def test_the_shipped_judges_are_a_demonstration(shipped) -> None:
    for judge in shipped.juries["default"].judges:
        assert shipped.resolve_model(judge.model, judge.model_deployment).demo
    assert not shipped.juries["default"].validated


def test_the_taxonomy_is_medhelms(shipped) -> None:
    categories = shipped.taxonomy.categories
    assert len(categories) == 5
    assert sum(len(category.subcategories) for category in categories) == 22


def test_site_files_override_by_name_and_are_named(tmp_path, write) -> None:
    site_file = write("site/model_deployments.yaml", OVERRIDE)
    registry = load_site(site_file.parent)
    assert registry.deployments["canned/echo"].max_concurrency == 3
    assert registry.deployments["canned/echo"].origin == str(site_file)
    assert "canned/constant" in registry.deployments
    rows = {(row.kind, row.name): row for row in explain(registry, load_settings(environ={}))}
    echo = rows["deployment", "canned/echo"]
    assert echo.file == str(site_file)
    assert [path.rsplit("/", 2)[1:] for path in echo.overridden] == [
        ["conf", "model_deployments.yaml"]
    ]
    assert rows["deployment", "canned/constant"].overridden == ()
    assert rows["settings", "local"].file.endswith("conf/settings/local.yaml")


def test_a_sites_jury_and_policy_replace_the_shipped_ones(write) -> None:
    judges = write("site/judges.yaml", JUDGES)
    policy = write("site/policy.yaml", "allowed: {public: [local]}")
    registry = load_site(judges.parent)
    assert registry.juries["default"].name == "clinicians"
    assert registry.juries["default"] == registry.juries["clinicians"]
    assert registry.juries["default"].validated
    assert registry.policy.origin == str(policy)
    rows = {(row.kind, row.name): row for row in explain(registry)}
    assert rows["jury", "default"].file == str(judges)
    assert rows["policy", "policy (advisory)"].file == str(policy)
    assert len(rows["policy", "policy (advisory)"].overridden) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judges: []", "judges is empty"),
        ("judges: [{name: a, model: b/c}]", "judges[0].model_deployment is missing"),
        (JUDGES + "  - {name: echo, model: a/b, model_deployment: a/b}", "'echo' is named twice"),
    ],
)
def test_bad_juries(write, text: str, message: str) -> None:
    path = write("site/judges.yaml", text)
    with pytest.raises(ConfigError) as caught:
        load_site(path.parent)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_model_metadata_and_placeholders(write) -> None:
    registry = load_site(write("site/model_metadata.yaml", METADATA).parent)
    small = registry.model("acme/small")
    assert (small.display_name, small.creator_organization) == ("Small", "Acme")
    assert (small.release_date, small.num_parameters) == ("2025-01-01", 135_000_000)
    unknown = registry.model("nobody/knows")
    assert (unknown.display_name, unknown.creator_organization) == ("nobody/knows", "nobody")


def _deployment(name: str, model: str, *, deprecated: bool = False) -> Deployment:
    return Deployment(
        name=name, model=model, engine="canned", locality=Locality.LOCAL, deprecated=deprecated
    )


DEPLOYMENTS = (
    _deployment("one/m", "acme/m"),
    _deployment("two/m", "acme/m"),
    _deployment("old/m", "acme/m", deprecated=True),
    _deployment("acme/same", "acme/same"),
    _deployment("other/same", "acme/same"),
    _deployment("gone/n", "acme/n", deprecated=True),
    _deployment("host/acme/three", "acme/three"),
)


@pytest.fixture(scope="module")
def with_more() -> Registry:
    return load_site(deployments=DEPLOYMENTS)


@pytest.mark.parametrize(
    ("model", "model_deployment", "expected"),
    [
        ("acme/m", None, "two/m"),  # the last one that is not deprecated
        ("acme/m", "one/m", "one/m"),
        ("acme/m", "old/m", "old/m"),
        (None, "one/m", "one/m"),
        ("acme/same", None, "acme/same"),  # the deployment of the same name
        ("acme/n", None, "gone/n"),  # deprecated, but the only one
        ("host/acme/three", None, "host/acme/three"),
        ("acme/three", None, "host/acme/three"),
        ("one/m", None, "one/m"),  # a deployment's name given as model
        ("canned/echo", None, "canned/echo"),
    ],
)
def test_names_stand_for_deployments(with_more, model, model_deployment, expected) -> None:
    assert with_more.resolve_model(model, model_deployment).name == expected


@pytest.mark.parametrize(
    ("model", "model_deployment", "message"),
    [
        ("acme/m", "acme/same", "deployment 'acme/same' serves model 'acme/same', not 'acme/m'"),
        ("acme/mm", None, "unknown model 'acme/mm'. Did you mean 'acme/m'?"),
        ("a/b/c", None, "unknown model 'a/b/c'"),
        (None, "one/mm", "unknown deployment 'one/mm'. Did you mean 'one/m'?"),
        ("all", None, "--models-to-run"),
        (None, None, "neither a model nor a deployment"),
    ],
)
def test_names_that_stand_for_nothing(with_more, model, model_deployment, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_more.resolve_model(model, model_deployment)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("access_level: public", "access_level: secret", "allowed: 'public', 'gated' or 'private'"),
        ("shape: tabular", "shap: tabular", "unknown key shap; did you mean 'shape'?"),
        ("groups:", "category: Clinical\ngroups:", "unknown category 'Clinical'"),
        (
            "groups:",
            "category: Medical Research Assistance\nsubcategory: Conducting Research\ngroups:",
            "unknown subcategory 'Conducting Research'. Did you mean",
        ),
    ],
)
def test_a_bad_card_names_its_file(site, old: str, new: str, message: str) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_site(site)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_two_cards_of_one_name_in_one_folder_are_refused(site) -> None:
    card = (site / "scenarios" / "triage.yaml").read_text()
    (site / "scenarios" / "zcopy.yaml").write_text(card)
    with pytest.raises(
        ConfigError, match=r"scenario 'triage' is already defined in .*triage\.yaml"
    ):
        load_site(site)


def test_unknown_names_are_also_config_errors(shipped) -> None:
    with pytest.raises(UnknownNameError):
        shipped.resolve_model("acme/none")
