"""`sampling` wherever it is written: its forms, which one is used, and what is refused."""

from pathlib import Path

import pytest

from medhelm_spark.config.sampling import load_sampling
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Condition, Sampling, SamplingOrder
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm.suites import load_suite
from tests.unit.runs import SMALL, expand_one

WRITTEN = """
order: hash
seed: 7
count: 200
filter:
  split: test
  sub_split: [cardiology, surgery]
  extra.category: lab
  characters: {minimum: 10, maximum: 4000}
"""
READ = Sampling(
    seed=7,
    max_eval_instances=200,
    filter={
        "split": Condition(values=("test",)),
        "sub_split": Condition(values=("cardiology", "surgery")),
        "extra.category": Condition(values=("lab",)),
        "characters": Condition(minimum=10, maximum=4000),
    },
)
MEDHELM = Sampling(order=SamplingOrder.MEDHELM)


def read(benchmark: Path, text: str) -> Sampling:
    benchmark.write_text(f"{benchmark.read_text()}sampling: {text}\n")
    return load_benchmark(benchmark).card.sampling


def indented(text: str) -> str:
    return "\n" + "".join(f"  {line}\n" for line in text.strip().splitlines())


def test_a_benchmark_writes_it_whole_or_short(benchmark: Path) -> None:
    assert load_benchmark(benchmark).card.sampling == EVERY_INSTANCE
    assert read(benchmark, indented(WRITTEN)) == READ


@pytest.mark.parametrize("order", SamplingOrder)
def test_an_order_alone_is_a_rule(benchmark: Path, order: SamplingOrder) -> None:
    assert read(benchmark, order.value) == Sampling(order=order)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("random", "sampling.order is 'random'; allowed: 'hash', 'source' or 'medhelm'"),
        ("{seed: -1}", "sampling.seed is -1; allowed: 0 to 4294967295"),
        ("{seed: 4294967296}", "sampling.seed is 4294967296; allowed: 0 to"),
        ("{seed: '7'}", "sampling.seed is '7'; allowed: a whole number"),
        ("{order: source, seed: 3}", "the order source draws nothing"),
        ("{count: 0}", "sampling.max_eval_instances is 0; allowed: 1 or more"),
        ("{sed: 1}", "unknown key sampling.sed; did you mean 'seed'"),
        ("{filter: {length: [a]}}", "unknown column 'length'. Known: characters, extra.NAME, spl"),
        ("{filter: {extra.: a}}", "unknown column 'extra.'"),
        ("{filter: {split: train}}", "filter.split is 'train'; allowed: valid, test"),
        ("{filter: {sub_split: {minimum: 1}}}", "filter.sub_split takes values"),
        ("{filter: {sub_split: []}}", "filter.sub_split takes values"),
        ("{filter: {characters: {values: [a]}}}", "filter.characters takes minimum, maximum"),
        ("{filter: {characters: {}}}", "filter.characters takes minimum, maximum"),
        ("{filter: {characters: {minimum: 9, maximum: 8}}}", "0 <= minimum <= maximum"),
    ],
)
def test_what_cannot_be_followed_is_refused(benchmark: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(benchmark, text)
    assert message in str(caught.value)


def test_a_card_is_checked_like_a_benchmark(site: Path) -> None:
    card = site / "scenarios" / "triage.yaml"
    card.write_text(f"{card.read_text()}sampling: medhelm\n")
    assert load_site(site).cards["triage"].sampling == MEDHELM
    card.write_text(card.read_text().replace("sampling: medhelm", "sampling: {count: -2}"))
    with pytest.raises(ConfigError, match=r"triage.yaml: sampling.max_eval_instances is -2"):
        load_site(site)


def test_a_suite_file_may_say_it(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("description: d\nrun_entries: [triage]\nsampling: source\n")
    suite, _ = load_suite(str(path), site)
    assert suite.sampling == Sampling(order=SamplingOrder.SOURCE)


def sampled(run: ResolvedRun) -> tuple[SamplingOrder, int, int | None]:
    return run.card.sampling.order, run.card.sampling.seed, run.adapter_spec.max_eval_instances


def test_an_entry_beats_the_flag_which_beats_the_card(site: Path) -> None:
    card = site / "scenarios" / "triage.yaml"
    card.write_text(f"{card.read_text()}sampling: {{order: source, count: 5}}\n")
    registry = load_site(site)
    plain, named = f"triage:{SMALL}", f"triage:{SMALL},sampling=medhelm"
    assert sampled(expand_one(registry, plain)) == (SamplingOrder.SOURCE, 0, 5)
    flag = Sampling(seed=3, max_eval_instances=9)
    assert sampled(expand_one(registry, plain, sampling=flag)) == (SamplingOrder.HASH, 3, 9)
    assert sampled(expand_one(registry, named, sampling=flag)) == (SamplingOrder.MEDHELM, 0, 5)
    run = expand_one(registry, named)
    assert run.name == "triage:model=acme_small,sampling=medhelm"


def test_max_eval_instances_beats_the_rules_count(site: Path) -> None:
    registry = load_site(site)
    flag = Sampling(max_eval_instances=9)
    entry = f"triage:{SMALL}"
    assert sampled(expand_one(registry, entry, sampling=flag, max_eval_instances=4))[2] == 4
    entry = f"triage:{SMALL},max_eval_instances=6"
    assert sampled(expand_one(registry, entry, sampling=flag, max_eval_instances=4))[2] == 6


def test_an_entry_keeps_the_filter_of_its_card(site: Path) -> None:
    card = site / "scenarios" / "triage.yaml"
    card.write_text(f"{card.read_text()}sampling: {{seed: 7, filter: {{sub_split: a}}}}\n")
    run = expand_one(load_site(site), f"triage:{SMALL},sampling=medhelm")
    conditions = {"sub_split": Condition(values=("a",))}
    assert run.card.sampling == Sampling(order=SamplingOrder.MEDHELM, filter=conditions)


def test_an_entry_names_an_order_that_exists(site: Path) -> None:
    with pytest.raises(ConfigError, match="sampling is 'best'; allowed: hash, source, medhelm"):
        expand_one(load_site(site), f"triage:{SMALL},sampling=best")


def test_the_flag_is_an_order_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rule.yaml"
    path.write_text(WRITTEN)
    assert load_sampling(str(path)) == READ
    assert load_sampling("medhelm") == MEDHELM
    with pytest.raises(ConfigError, match="--sampling is 'medhlem'; allowed: hash, source, medhe"):
        load_sampling("medhlem")
    path.write_text("filter: {age: old}\n")
    with pytest.raises(ConfigError, match=r"rule.yaml: sampling.filter: unknown column 'age'"):
        load_sampling(str(path))
