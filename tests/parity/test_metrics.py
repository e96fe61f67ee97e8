"""Text, choice, overlap, calibration and classification: the same values as MedHELM's own classes.

MedHELM's code runs as it is, but for what it would download:

- BLEU splits words by NLTK's `punkt_tab` in MedHELM. Both sides get our words, so that formula,
  weights and penalty are compared and the splitting is not.
- coverage, density and compression use spaCy's English tokenizer without the model around it.
- BERTScore (distilbert-base-uncased) and SummaC (albert-xlarge-vitaminc-mnli) need models that no
  package carries, and SummarizationMetric leaves them out where there is no GPU: not compared here.
  `make test-summarization` holds our BERTScore to the package that MedHELM calls.
- the efficiency metric counts prompts by a model's tokenizer, which is downloaded: not compared.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medhelm_spark.metrics import RUN_METRICS
from medhelm_spark.metrics.extractive import fragments
from medhelm_spark.metrics.text import words
from tests.parity.compare import MEDHELM, NUM_ROWS, differing, ours, same, state
from tests.parity.pairs import Row, bent, chooser, chosen, made, noise, questions, row, written
from tests.parity.peer import Peer

EXACT = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
)
ARTICLES = "quasi_leave_articles_exact_match"
ROUGE = ("rouge_1", "rouge_2", "rouge_l")
COPIED = ("summarization_coverage", "summarization_density")
COMPRESSION = "summarization_compression"


def text_match(rows: list[Row], **params: str) -> list[dict[str, float | None]]:
    states = [state(one) for one in rows]
    names = ("exact_match", ARTICLES, "f1_score")
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in zip(*(ours(name, states, **params) for name in names), strict=True)
    ]


@pytest.mark.parametrize("kind", ["real", "made"])
def test_exact_match_and_word_f1(medhelm: Peer, real_data: Path, kind: str) -> None:
    known = questions(real_data)
    golds = [texts[right] for texts, right in known]
    rng = chooser("golds")
    rows = [row(bent(rng, gold), [gold]) for gold in golds[:800]]
    rows = (
        rows if kind == "real" else [*made("text match", 800), row("x" * 200_000, ["x" * 200_000])]
    )
    rows += [row("a\ud800b", ["A \ud800b."]), row("the", [""], ["the"]), row("", [""])]
    names = [*EXACT, ARTICLES, "f1_score"]
    theirs = medhelm.ask("basic", names=names, rows=rows)
    assert differing(text_match(rows), theirs, names) == []


def test_letters_of_a_multiple_choice_and_the_likeliest_completion(
    medhelm: Peer, real_data: Path
) -> None:
    rows = chosen("letters", 900, questions(real_data))
    names = [*EXACT, ARTICLES]
    theirs = medhelm.ask("basic", names=names, rows=rows)
    assert differing(text_match(rows), theirs, names) == []


def test_letters_cut_out_by_a_pattern(medhelm: Peer, real_data: Path) -> None:
    """Looked up is a group here, the whole match in MedHELM; without groups the whole answer."""
    rows = chosen("patterns", 900, questions(real_data))
    for pattern in (r"[A-E]", r"\b([A-E])\b", r"answer is ([A-E])"):
        theirs = medhelm.ask("basic", names=list(EXACT), rows=rows, pattern=pattern)
        mine = text_match(rows, output_mapping_pattern=pattern)
        for place in differing(mine, theirs, EXACT):
            texts = {one["text"].strip() for one in rows[place]["completions"]}
            assert not texts <= {*rows[place]["output_mapping"], ""}


def test_rouge_of_text_match_on_correct_references(medhelm: Peer, real_data: Path) -> None:
    rows = [*made("rouge", 400), *written(real_data)[:150]]
    rows = [{**one, "references": [pair for pair in one["references"] if pair[1]]} for one in rows]
    theirs = medhelm.ask("basic", names=list(ROUGE), rows=rows)
    assert differing(ours("rouge", [state(one) for one in rows]), theirs, ROUGE, MEDHELM) == []


def test_bleu_on_the_same_words(medhelm: Peer, real_data: Path) -> None:
    rows = [*made("bleu", 500), *written(real_data)[:200]]
    mine = ours("bleu", [state(one) for one in rows])

    def spaced(text: str) -> str:
        return " ".join(words(text))

    asked = [
        row(
            spaced(one["completions"][0]["text"]),
            [spaced(text) for text, right in one["references"] if right],
        )
        for one in rows
    ]
    names = ["bleu_1", "bleu_4"]
    assert differing(mine, medhelm.ask("basic", names=names, rows=asked), names) == []


@pytest.fixture(scope="module")
def summaries(medhelm: Peer, real_data: Path) -> tuple[list[Row], list[dict[str, Any]]]:
    """Rows of which many have the same words by our rule and by spaCy's, and MedHELM's stats."""
    rng = chooser("plain")
    plain = ["patient", "has", "no", "fever", "cough", "pain", "in", "chest", "takes", "drug", "."]
    texts = [" ".join(rng.choices(plain, k=rng.randint(1, 30))) for _ in range(800)]
    rows = [
        row(one, [two], input=one + " " + two)
        for one, two in zip(texts[::2], texts[1::2], strict=True)
    ]
    rows += [row(bent(rng, texts[at]), [texts[at + 1]], input=texts[at + 2]) for at in range(200)]
    rows += [*made("summaries", 300), *written(real_data)[:60], *written(real_data)[-250:]]
    return rows, medhelm.ask("summarization", rows=rows)


def test_rouge_of_summaries_on_all_references(
    summaries: tuple[list[Row], list[dict[str, Any]]],
) -> None:
    rows, theirs = summaries
    assert differing(ours("rouge", [state(one) for one in rows]), theirs, ROUGE, MEDHELM) == []


def test_coverage_and_density_of_the_same_words(
    summaries: tuple[list[Row], list[dict[str, Any]]],
) -> None:
    """Where our words are spaCy's the stats are equal; where they are not the formula still is."""
    rows, theirs = summaries
    mine = ours("summarization", [state(one) for one in rows])
    equal = [
        place
        for place, (one, other) in enumerate(zip(rows, theirs, strict=True))
        if alike(one, other)
    ]
    assert len(equal) >= NUM_ROWS
    assert not set(differing(mine, theirs, COPIED)) & set(equal)
    for place in equal:
        compression = mine[place][COMPRESSION]
        assert same(0.0 if compression is None else compression, theirs[place][COMPRESSION])
    for other in theirs:
        size = len(other["answer_words"])
        lengths = list(fragments(other["input_words"], other["answer_words"]))
        sums = sum(lengths), sum(length * length for length in lengths)
        assert all(
            same(each / size if size else 0.0, other[name])
            for each, name in zip(sums, COPIED, strict=True)
        )


def alike(one: Row, other: dict[str, Any]) -> bool:
    """Whether both texts have the same words here as by spaCy."""
    texts = one["input"], one["completions"][0]["text"].strip()
    bare = [text.removeprefix("{").removesuffix("}").lower() for text in texts]
    return [words(text) for text in bare] == [other["input_words"], other["answer_words"]]


def told(rng: Any) -> Row:
    """A completion with tokens, and what a request says of itself."""
    tokens = [(noise(rng, 2), -rng.expovariate(1)) for _ in range(rng.randint(1, 12))]
    completion = {
        "text": "".join(text for text, _ in tokens),
        "tokens": tokens,
        "logprob": sum(value for _, value in tokens),
        "ended": rng.choice(["stop", "length", "unknown"]),
    }
    return {
        "completions": [completion],
        "references": [["a", True], ["b", False]][: rng.randint(1, 2)],
        "num_train_instances": rng.randint(0, 5),
        "prompt_truncated": rng.random() < 0.5,
    }


def test_general_information_and_log_probabilities(medhelm: Peer) -> None:
    rng = chooser("told")
    rows = [told(rng) for _ in range(NUM_ROWS)]
    theirs = medhelm.ask("basic", names=[], rows=rows)
    states = [state(one) for one in rows]
    request = ("num_references", "num_train_instances", "prompt_truncated")
    ends = tuple(f"finish_reason_{reason}" for reason in ("stop", "length", "unknown"))
    assert differing(ours("general_information", states), theirs, (*request, *ends)) == []
    names = ("logprob", "num_perplexity_tokens", "num_bytes", "max_prob")
    assert differing(ours("language_model", states), theirs, names) == []


def run_level(name: str, rows: Any, **params: str) -> dict[str, float | None]:
    metric = RUN_METRICS[name]
    columns = np.array(rows, dtype=np.float64)
    values = metric.fn(columns, np.ones(len(columns), np.int64), params)
    return {info.name: value for info, value in zip(metric.emitted(params), values, strict=True)}


def test_perplexity_of_runs(medhelm: Peer) -> None:
    rng = chooser("perplexity")
    names = ("logprob", "num_perplexity_tokens", "num_bytes")

    def one() -> list[tuple[float, int, int]]:
        size = rng.randint(1, 30)
        return [
            (-rng.expovariate(0.1), rng.randint(1, 50), rng.randint(1, 300)) for _ in range(size)
        ]

    runs = [one() for _ in range(NUM_ROWS)]
    asked = [[dict(zip(names, each, strict=True)) for each in run] for run in runs]
    mine = [run_level("perplexity", run) for run in runs]
    theirs = medhelm.ask("perplexity", runs=asked)
    assert differing(mine, theirs, ("perplexity", "bits_per_byte", "logprob_per_byte")) == []


def confidences(name: str, draw: Callable[[Any], float]) -> list[list[tuple[float, float]]]:
    rng = chooser(name)

    def one() -> list[tuple[float, float]]:
        pairs = [(draw(rng), float(rng.random() < 0.6)) for _ in range(rng.randint(1, 120))]
        return [*pairs, (draw(rng), 1.0), (draw(rng), 0.0)]  # all right or all wrong is told apart

    return [one() for _ in range(NUM_ROWS)]


def test_calibration_of_runs(medhelm: Peer) -> None:
    runs = confidences("distinct", lambda rng: rng.random())
    mine = [run_level("calibration", run) for run in runs]
    theirs = medhelm.ask("calibration", runs=runs)
    names = ("ece_10_bin", "ece_1_bin", "selective_cov_acc_area")
    assert differing(mine, theirs, names) == []
    assert differing(mine, theirs, ("selective_acc@10",), MEDHELM) == []
    # The corrected tenth is MedHELM's wherever n / 10 is no whole number.
    apart = differing(mine, theirs, ("selective_acc@10",))
    assert {len(runs[place]) % 10 for place in apart} == {0}


def test_calibration_errors_where_confidences_are_equal(medhelm: Peer) -> None:
    runs = confidences("equal", lambda rng: rng.choice([0.1, 0.25, 0.5, 0.5, 0.9, 1.0]))
    theirs = medhelm.ask("calibration", runs=runs)
    mine = [run_level("calibration", run) for run in runs]
    assert differing(mine, theirs, ("ece_10_bin", "ece_1_bin")) == []


LABELS = {
    "": ["yes", "no", "maybe", "Hepatitis A", "hepatitis", "an ulcer"],
    ";": ["I10", "E11.9", "J45", "the flu", "flu", "Type A"],
}
F1 = ("classification_macro_f1", "classification_micro_f1")


def classified(rows: list[Row], **params: str) -> dict[str, float | None]:
    coded = ours("classes", [state(one) for one in rows], **params)
    return run_level("classification", [list(one.values()) for one in coded], **params)


@pytest.mark.parametrize("delimiter", LABELS)
def test_classification_of_runs(medhelm: Peer, delimiter: str) -> None:
    rng, labels = chooser(f"classes{delimiter}"), LABELS[delimiter]
    most = 3 if delimiter else 1

    def one() -> Row:
        golds = rng.sample(labels, rng.randint(1, most))
        said = [rng.choice([*labels, *golds, "another"]) for _ in range(rng.randint(1, most))]
        given = [rng.choice([text, text.upper(), f" {text}.", f"the {text}"]) for text in said]
        return row((delimiter or " ").join(given) if rng.random() < 0.95 else "", golds)

    runs = [[one() for _ in range(rng.randint(1, 25))] for _ in range(NUM_ROWS)]
    asked = [{"rows": run, "labels": labels, "delimiter": delimiter or None} for run in runs]
    params = {"labels": "|".join(labels), "delimiter": delimiter}
    mine = [classified(run, **params) for run in runs]
    assert differing(mine, medhelm.ask("classification", runs=asked), F1, MEDHELM) == []


def test_classification_of_choices(medhelm: Peer) -> None:
    """Every instance has the same options in the same places, and every answer is a letter."""
    rng, texts = chooser("choices"), ["yes", "no", "maybe"]
    mapping = dict(zip("ABC", texts, strict=True))
    rows = {
        (letter, right): row(letter, [], output_mapping=mapping)
        | {"references": [[text, text == right] for text in texts]}
        for letter, right in product(mapping, texts)
    }
    runs = [rng.choices([*rows.values()], k=rng.randint(1, 30)) for _ in range(NUM_ROWS)]
    mine = [classified(run) for run in runs]
    theirs = medhelm.ask("classification", runs=[{"rows": run} for run in runs])
    assert differing(mine, theirs, F1) == []
