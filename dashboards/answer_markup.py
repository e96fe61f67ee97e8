"""One answer as HTML: request, answer, references, scores, verdicts and what is stored beside."""

from collections.abc import Sequence

from page_markup import chip, passage, section, table, text

from medhelm_spark.board import TECHNICAL, BoardRun, InstanceDetail, chosen_option, own_columns
from medhelm_spark.domain.annotation import RubricItem, rubric_items
from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.domain.thinking import without_thinking

GONE = "No longer in the lake"


def main_score(run: BoardRun, stats: PerInstanceStats | None) -> str:
    """The main metric's value of one answer, or why it has none."""
    name = run.run_spec.main_metric
    score = next((each for each in stats.stats if each.name == name), None) if stats else None
    if score is None:
        value = "–"
    elif score.value is None:
        value = score.status.value.replace("_", " ")
    else:
        value = f"{score.value:.3f}"
    return f'<p class="ms-role">{text(name)}: <b>{text(value)}</b></p>'


def request_details(detail: InstanceDetail) -> str:
    """What is stored of the request but its text, folded; never the data set's own id."""
    rows = [
        (text(name), text(value))
        for name, value in (*_asked(detail), *_answered(detail.result))
        if value is not None
    ]
    if not rows:
        return ""
    summary = "<summary>Request details</summary>"
    return f"<details>{summary}{table(('Stored', 'Value'), rows)}</details>"


def _asked(detail: InstanceDetail) -> list[tuple[str, object]]:
    request, prompt = detail.request, detail.prompt
    rows: list[tuple[str, object]] = []
    if request:
        decoding = request.decoding
        rows += [
            ("deployment", request.model_deployment),
            ("temperature", f"{decoding.temperature:g}"),
            ("top_p", f"{decoding.top_p:g}"),
            ("max_tokens", decoding.max_tokens),
            ("stop_sequences", ", ".join(map(repr, decoding.stop_sequences)) or "none"),
            ("num_completions", decoding.num_completions),
            ("seed", "none" if decoding.seed is None else decoding.seed),
            ("logprobs", decoding.logprobs),
            ("response_schema", decoding.response_schema),
        ]
    if prompt:
        written = sum(len(turn.content) for turn in prompt.messages) or len(prompt.text)
        rows += [
            ("prompt characters", f"{written:,}"),
            ("prompt truncated", "yes" if prompt.prompt_truncated else "no"),
            ("examples in the prompt", prompt.num_train_instances),
        ]
    if request:
        rows += [
            ("instance_id", request.instance_id),
            ("request_id", request.request_id),
            ("prompt_id", request.prompt_id),
            ("run_spec_id", request.run_spec_id),
        ]
    return rows


def _answered(result: RequestResult | None) -> list[tuple[str, object]]:
    if result is None:
        return []
    reasons = [completion.finish_reason.value for completion in result.completions]
    return [
        ("prompt tokens", result.prompt_tokens),
        ("prompt tokens from the prefix cache", result.cached_tokens),
        ("completion tokens", result.completion_tokens),
        ("finish reason", ", ".join(reasons) or None),
        ("failure", result.failure and result.failure.value.replace("_", " ")),
        ("attempts", result.attempts),
        ("request time", None if result.request_time is None else f"{result.request_time:.3f} s"),
        ("completed", f"{result.completed_at:%Y-%m-%d %H:%M:%S %Z}"),
        ("engine fingerprint", result.engine_fingerprint),
        ("engine start", None if result.engine_start is None else f"{result.engine_start:.1f} s"),
        ("executor", result.executor),
        ("sent to", result.destination),
        ("locality", result.locality),
    ]


def request_facts(request: PlannedRequest | None, result: RequestResult | None) -> list[str]:
    """What a reader wants first of a request: decoding, tokens and time."""
    facts = []
    if request:
        decoding = request.decoding
        facts.append(f"temperature {decoding.temperature:g}, at most {decoding.max_tokens} tokens")
    if result and result.prompt_tokens is not None:
        facts.append(f"{result.prompt_tokens:,} tokens in, {result.completion_tokens or 0:,} out")
    if result and result.request_time is not None:
        facts.append(f"{result.request_time:.2f} s")
    return facts


def request_html(prompt: Prompt | None, instance: Instance | None, imported: str = "") -> str:
    """The prompt as it was sent; where none was, the instance's input.

    `imported`: what is on record of how answers made elsewhere were requested; the prompt is then
    the one that the run entry makes here.
    """
    aside = f"by the run entry; {imported}" if imported else ""
    if prompt and prompt.messages:
        turns = (
            f'<p class="ms-role">{text(turn.role)}</p>{passage(turn.content, turn.role)}'
            for turn in prompt.messages
        )
        return section("Request", *turns, aside=aside)
    if prompt:
        return section("Request", passage(prompt.text), aside=aside)
    if instance:
        return section("Input", passage(instance.input), aside="no request was made here")
    return section("Request", '<p class="ms-empty">the lake has no request</p>')


def answer_html(run: BoardRun, detail: InstanceDetail) -> str:
    """The completions, with thinking folded and the option that is read, or why there is none."""
    model, result = run.run_spec.model_deployment, detail.result
    if result is None:
        absent = GONE if "answer" in detail.gone else "never asked"
        return section("Answer", f'<p class="ms-empty">{text(absent)}</p>', aside=model)
    if result.failure:
        kind = result.failure.value.replace("_", " ")
        return section("Answer", f'<p class="ms-empty">no answer: {text(kind)}</p>', aside=model)
    parts = []
    for completion in map(without_thinking, result.completions):
        if completion.thinking:
            thought = passage(completion.thinking)
            parts.append(f"<details><summary>Thinking</summary>{thought}</details>")
        ended = f'<p class="ms-role">ended by {text(completion.finish_reason.value)}</p>'
        parts += [passage(completion.text, "answer"), ended]
    if chosen := chosen_option(run.run_spec, detail):
        parts.append(chosen_html(chosen))
    return section("Answer", *parts, aside=model)


def chosen_html(option: str) -> str:
    """The text of the option that an answer names."""
    return f'<p class="ms-role">option: {text(option)}</p>'


def data_html(instance: Instance) -> str:
    """What the data calls the instance, and the columns that its card keeps of the data."""
    rows = {"id": instance.source_id, **own_columns(instance.extra_data)}
    return section(
        "In the data", table(("column", "value"), [tuple(map(text, r)) for r in rows.items()])
    )


def references_html(instance: Instance | None) -> str:
    """The references, each marked as correct or not."""
    rows = [
        f'<p class="ms-role">{"correct" if reference.is_correct else "not correct"}</p>'
        + passage(reference.text, "correct" if reference.is_correct else "other")
        for reference in (instance.references if instance else ())
    ]
    return section("References", *(rows or ['<p class="ms-empty">none</p>']))


def scores_html(run: BoardRun, stats: PerInstanceStats | None) -> str:
    """All scores of one answer, the main metric's first; those of the request are folded."""
    rows, technical = [], []
    for score in stats.stats if stats else ():
        name = text(score.name)
        is_main = score.name == run.run_spec.main_metric
        absent = f"<em>{text(score.status.value.replace('_', ' '))}</em>"
        value = absent if score.value is None else f"{score.value:.3f}"
        target = technical if score.name in TECHNICAL and not is_main else rows
        target.append((f"<b>{name}</b> (on the board)" if is_main else name, value))
    rows.sort(key=lambda row: not row[0].startswith("<b>"))
    header = ("Metric", "Value")
    folded = (
        f"<details><summary>Of the request</summary>{table(header, technical)}</details>"
        if technical
        else ""
    )
    return section("Scores", table(header, rows), folded)


def verdicts_html(annotations: Sequence[Annotation], instance: Instance | None) -> str:
    """The verdict of each judge, criterion by criterion."""
    items = rubric_items(instance.extra_data) if instance else ()
    rows = []
    for verdict in annotations:
        judge = f"{text(verdict.judge)} {chip(verdict.status.value.replace('_', ' '), 'fact')}"
        item = _item(verdict.rubric_item, items)
        if not verdict.scores:
            rows.append((judge, item or "–", "–", ""))
        for score in verdict.scores:
            reason = passage(score.explanation) if score.explanation else ""
            rows.append(
                (
                    judge,
                    item or text(score.criterion),
                    text(score.label or f"{score.score:g}"),
                    reason,
                )
            )
            judge = ""
    aside = "a judge's score is a model's opinion"
    return section("Judges", table(("Judge", "Criterion", "Score", "Reason"), rows), aside=aside)


def _item(index: int | None, items: Sequence[RubricItem]) -> str:
    """The rubric item that a verdict is about, with its points; empty where it is about none."""
    if index is None:
        return ""
    if index >= len(items):
        return f"item {index + 1}"
    return passage(f"{items[index].points:+g}: {items[index].criterion}")
