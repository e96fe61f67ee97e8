"""Text, choice, overlap, calibration and classification: the same values as MedHELM's own classes.

MedHELM's code runs as it is, but for what it would download:

- BLEU splits words by NLTK's `punkt_tab` in MedHELM. Both sides get our words, so that formula,
  weights and penalty are compared and the splitting is not.
- coverage, density and compression use spaCy's English tokenizer without the model around it.
- BERTScore (distilbert-base-uncased) and SummaC (albert-xlarge-vitaminc-mnli) need models that no
  package carries, and SummarizationMetric leaves them out where there is no GPU: not compared here.
  `make test-summarization` compares our BERTScore with the package that MedHELM calls.
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
from tests.parity.pairs import (
    Row,
    choice_rows,
    chooser,
    generated_rows,
    noise,
    questions,
    row,
    variant_of,
    written_rows,
)
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
    states = [state(example) for example in rows]
    names = ("exact_match", ARTICLES, "f1_score")
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in zip(*(ours(name, states, **params) for name in names), strict=True)
    ]


@pytest.mark.parametrize("kind", ["real", "made"])
def test_exact_match_and_word_f1(medhelm: Peer, real_data: Path, kind: str) -> None:
    exam_questions = questions(real_data)
    golds = [texts[right] for texts, right in exam_questions]
    rng = chooser("golds")
    rows = [row(variant_of(rng, gold), [gold]) for gold in golds[:800]]
    rows = (
        rows
        if kind == "real"
        else [*generated_rows("text match", 800), row("x" * 200_000, ["x" * 200_000])]
    )
    rows += [row("a\ud800b", ["A \ud800b."]), row("the", [""], ["the"]), row("", [""])]
    names = [*EXACT, ARTICLES, "f1_score"]
    theirs = medhelm.ask("basic", names=names, rows=rows)
    assert differing(text_match(rows), theirs, names) == []


def test_letters_of_a_multiple_choice_and_the_likeliest_completion(
    medhelm: Peer, real_data: Path
) -> None:
    rows = choice_rows("letters", 900, questions(real_data))
    names = [*EXACT, ARTICLES]
    theirs = medhelm.ask("basic", names=names, rows=rows)
    assert differing(text_match(rows), theirs, names) == []


def test_letters_cut_out_by_a_pattern(medhelm: Peer, real_data: Path) -> None:
    """Looked up is a group here, the whole match in MedHELM; without groups the whole answer."""
    rows = choice_rows("patterns", 900, questions(real_data))
    for pattern in (r"[A-E]", r"\b([A-E])\b", r"answer is ([A-E])"):
        theirs = medhelm.ask("basic", names=list(EXACT), rows=rows, pattern=pattern)
        own_values = text_match(rows, output_mapping_pattern=pattern)
        for index in differing(own_values, theirs, EXACT):
            texts = {one["text"].strip() for one in rows[index]["completions"]}
            assert not texts <= {*rows[index]["output_mapping"], ""}


def test_rouge_of_text_match_on_correct_references(medhelm: Peer, real_data: Path) -> None:
    rows = [*generated_rows("rouge", 400), *written_rows(real_data)[:150]]
    rows = [
        {**example, "references": [pair for pair in example["references"] if pair[1]]}
        for example in rows
    ]
    theirs = medhelm.ask("basic", names=list(ROUGE), rows=rows)
    assert (
        differing(ours("rouge", [state(example) for example in rows]), theirs, ROUGE, MEDHELM) == []
    )


def test_bleu_on_the_same_words(medhelm: Peer, real_data: Path) -> None:
    rows = [*generated_rows("bleu", 500), *written_rows(real_data)[:200]]
    own_values = ours("bleu", [state(example) for example in rows])

    def spaced(text: str) -> str:
        return " ".join(words(text))

    medhelm_rows = [
        row(
            spaced(example["completions"][0]["text"]),
            [spaced(text) for text, right in example["references"] if right],
        )
        for example in rows
    ]
    names = ["bleu_1", "bleu_4"]
    assert differing(own_values, medhelm.ask("basic", names=names, rows=medhelm_rows), names) == []


@pytest.fixture(scope="module")
def summaries(medhelm: Peer, real_data: Path) -> tuple[list[Row], list[dict[str, Any]]]:
    """Rows of which many have the same words by our rule and by spaCy's, and MedHELM's stats."""
    rng = chooser("plain")
    plain = ["patient", "has", "no", "fever", "cough", "pain", "in", "chest", "takes", "drug", "."]
    texts = [" ".join(rng.choices(plain, k=rng.randint(1, 30))) for _ in range(800)]
    rows = [
        row(answer, [gold], input=answer + " " + gold)
        for answer, gold in zip(texts[::2], texts[1::2], strict=True)
    ]
    rows += [
        row(variant_of(rng, texts[index]), [texts[index + 1]], input=texts[index + 2])
        for index in range(200)
    ]
    rows += [
        *generated_rows("summaries", 300),
        *written_rows(real_data)[:60],
        *written_rows(real_data)[-250:],
    ]
    return rows, medhelm.ask("summarization", rows=rows)


def test_rouge_of_summaries_on_all_references(
    summaries: tuple[list[Row], list[dict[str, Any]]],
) -> None:
    rows, theirs = summaries
    assert (
        differing(ours("rouge", [state(example) for example in rows]), theirs, ROUGE, MEDHELM) == []
    )


def test_coverage_and_density_of_the_same_words(
    summaries: tuple[list[Row], list[dict[str, Any]]],
) -> None:
    """Where our words are spaCy's the stats are equal; where they are not the formula still is."""
    rows, theirs = summaries
    own_values = ours("summarization", [state(example) for example in rows])
    equal = [
        index
        for index, (example, their_stats) in enumerate(zip(rows, theirs, strict=True))
        if has_same_words(example, their_stats)
    ]
    assert len(equal) >= NUM_ROWS
    assert not set(differing(own_values, theirs, COPIED)) & set(equal)
    for index in equal:
        compression = own_values[index][COMPRESSION]
        assert same(0.0 if compression is None else compression, theirs[index][COMPRESSION])
    for their_stats in theirs:
        size = len(their_stats["answer_words"])
        lengths = list(fragments(their_stats["input_words"], their_stats["answer_words"]))
        sums = sum(lengths), sum(length * length for length in lengths)
        assert all(
            same(total / size if size else 0.0, their_stats[name])
            for total, name in zip(sums, COPIED, strict=True)
        )


def has_same_words(example: Row, their_stats: dict[str, Any]) -> bool:
    """Whether both texts have the same words here as by spaCy."""
    texts = example["input"], example["completions"][0]["text"].strip()
    bare = [text.removeprefix("{").removesuffix("}").lower() for text in texts]
    return [words(text) for text in bare] == [
        their_stats["input_words"],
        their_stats["answer_words"],
    ]


def row_with_tokens(rng: Any) -> Row:
    """A completion with tokens, and the facts of its request."""
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
    rows = [row_with_tokens(rng) for _ in range(NUM_ROWS)]
    theirs = medhelm.ask("basic", names=[], rows=rows)
    states = [state(example) for example in rows]
    request = ("num_references", "num_train_instances", "prompt_truncated")
    reason_names = tuple(f"finish_reason_{reason}" for reason in ("stop", "length", "unknown"))
    assert differing(ours("general_information", states), theirs, (*request, *reason_names)) == []
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

    def random_run() -> list[tuple[float, int, int]]:
        size = rng.randint(1, 30)
        return [
            (-rng.expovariate(0.1), rng.randint(1, 50), rng.randint(1, 300)) for _ in range(size)
        ]

    runs = [random_run() for _ in range(NUM_ROWS)]
    medhelm_runs = [[dict(zip(names, each, strict=True)) for each in run] for run in runs]
    own_values = [run_level("perplexity", run) for run in runs]
    theirs = medhelm.ask("perplexity", runs=medhelm_runs)
    assert differing(own_values, theirs, ("perplexity", "bits_per_byte", "logprob_per_byte")) == []


def confidences(name: str, draw: Callable[[Any], float]) -> list[list[tuple[float, float]]]:
    rng = chooser(name)

    def random_run() -> list[tuple[float, float]]:
        pairs = [(draw(rng), float(rng.random() < 0.6)) for _ in range(rng.randint(1, 120))]
        return [*pairs, (draw(rng), 1.0), (draw(rng), 0.0)]  # never all right or all wrong

    return [random_run() for _ in range(NUM_ROWS)]


def test_calibration_of_runs(medhelm: Peer) -> None:
    runs = confidences("distinct", lambda rng: rng.random())
    own_values = [run_level("calibration", run) for run in runs]
    theirs = medhelm.ask("calibration", runs=runs)
    names = ("ece_10_bin", "ece_1_bin", "selective_cov_acc_area")
    assert differing(own_values, theirs, names) == []
    assert differing(own_values, theirs, ("selective_acc@10",), MEDHELM) == []
    # The corrected tenth is MedHELM's wherever n / 10 is no whole number.
    differing_runs = differing(own_values, theirs, ("selective_acc@10",))
    assert {len(runs[index]) % 10 for index in differing_runs} == {0}


def test_calibration_errors_where_confidences_are_equal(medhelm: Peer) -> None:
    runs = confidences("equal", lambda rng: rng.choice([0.1, 0.25, 0.5, 0.5, 0.9, 1.0]))
    theirs = medhelm.ask("calibration", runs=runs)
    own_values = [run_level("calibration", run) for run in runs]
    assert differing(own_values, theirs, ("ece_10_bin", "ece_1_bin")) == []


LABELS = {
    "": ["yes", "no", "maybe", "Hepatitis A", "hepatitis", "an ulcer"],
    ";": ["I10", "E11.9", "J45", "the flu", "flu", "Type A"],
}
F1 = ("classification_macro_f1", "classification_micro_f1")


def classification_stats(rows: list[Row], **params: str) -> dict[str, float | None]:
    class_codes = ours("classes", [state(one) for one in rows], **params)
    return run_level("classification", [list(one.values()) for one in class_codes], **params)


@pytest.mark.parametrize("delimiter", LABELS)
def test_classification_of_runs(medhelm: Peer, delimiter: str) -> None:
    rng, labels = chooser(f"classes{delimiter}"), LABELS[delimiter]
    max_labels = 3 if delimiter else 1

    def random_row() -> Row:
        golds = rng.sample(labels, rng.randint(1, max_labels))
        answer_labels = [
            rng.choice([*labels, *golds, "another"]) for _ in range(rng.randint(1, max_labels))
        ]
        label_texts = [
            rng.choice([text, text.upper(), f" {text}.", f"the {text}"]) for text in answer_labels
        ]
        return row((delimiter or " ").join(label_texts) if rng.random() < 0.95 else "", golds)

    runs = [[random_row() for _ in range(rng.randint(1, 25))] for _ in range(NUM_ROWS)]
    medhelm_runs = [{"rows": run, "labels": labels, "delimiter": delimiter or None} for run in runs]
    params = {"labels": "|".join(labels), "delimiter": delimiter}
    own_values = [classification_stats(run, **params) for run in runs]
    assert (
        differing(own_values, medhelm.ask("classification", runs=medhelm_runs), F1, MEDHELM) == []
    )


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
    own_values = [classification_stats(run) for run in runs]
    theirs = medhelm.ask("classification", runs=[{"rows": run} for run in runs])
    assert differing(own_values, theirs, F1) == []
