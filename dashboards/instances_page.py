"""The answers behind a number: one instance's request, answer, references, scores and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from answer_notes import flags_text, notes_of, show_note
from answer_reading import AnswerReading
from answer_table import AnswerRow, show_table
from loaded import answers_for, groups_for
from one_answer import pick_beside, show_beside, show_detail
from page_context import PageContext, nothing
from page_markup import note, view_note
from records import record_search, recorded
from streamlit.delta_generator import DeltaGenerator

from medhelm_spark.board import (
    AnswerFilter,
    BoardRun,
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Order,
    Viewer,
    first_page,
    instance_detail,
    instances_of,
    visible_details,
)
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.errors import PolicyError
from medhelm_spark.features import part
from medhelm_spark.lake.reader import Reader

ABOUT = (
    "Each row of the table is one answer of a model to one instance of a benchmark; # and Score "
    "sort it, j and k open the next and the previous answer. Below the table are prompt, "
    "references, answer, scores and the verdict of each judge. The address names the answer by its "
    "id, so that a link opens it again."
)
PAGE_ROWS = 10
FEW_ANSWERS = 50_000
"""With at most so many answers, all are read for the first page."""
MAX_SEARCHED = 200
ONLY = {
    "": "all",
    AnswerFilter.WRONG.value: "wrong",
    AnswerFilter.MISSED.value: "missed: positive, not answered so",
    AnswerFilter.FALSE_ALARM.value: "false alarm: negative, answered as positive",
    AnswerFilter.UNREAD.value: "unread",
    AnswerFilter.FAILED.value: "failed",
}
SEPARATOR = "~"
EVERY_GROUP = "all"
FROM_END = "from-end"
"""The session's key after a step back to the page before, whose last answer is then chosen."""
_NO_CLASS = "This benchmark declares no positive class, so that no case is missed or a false alarm."
_UNKNOWN = {
    AnswerFilter.WRONG: "The main metric does not say which answers are wrong.",
    AnswerFilter.MISSED: _NO_CLASS,
    AnswerFilter.FALSE_ALARM: _NO_CLASS,
}
"""Why a filter that does not apply to a run lists nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which answers of a run are listed. `matching` and `group` may be clinical text."""

    only: str
    group: str
    matching: str

    @property
    def is_all(self) -> bool:
        return not (self.only or self.group or self.matching)


def show(context: PageContext) -> None:
    """Pickers, the table of answers, and one answer, if the viewer may see its text."""
    reader, viewer = context.reader, context.viewer
    st.html(note(view_note(context.viewer)))
    scored = [run for run in context.runs if run.cell]
    if not scored:
        st.info(nothing(context))
        return
    model, benchmark, *more = st.columns([1.3, 1.5, 0.9, 0.9, 1.4], vertical_alignment="bottom")
    run = _pick_run(scored, model, benchmark)
    if not run.is_current:
        source = f"{context.source.kind} {context.source.name}"
        again = f"This run was scored again after the numbers of {source}."
        st.html(note(again, "warning"))
    reading = answers_for(reader.location, context.source, reader, run.run_spec)
    notes = notes_of(reader, run.run_spec, viewer)
    picked = _pick_answer(context, run, more, reading, notes)
    if picked is not None:
        chosen, detail = picked
        detail = detail or instance_detail(reader, run.run_spec, chosen.key, viewer=viewer)
        if detail and recorded(context, run, {chosen.key: detail}):
            with show_detail(run, chosen, detail):
                show_note(reader, run.run_spec, chosen.key, detail, notes.get(chosen.key), viewer)
            if others := pick_beside(run, scored):
                show_beside(context, [run, *others], chosen.key)
    if not reading.has_ended:
        _read_on(reading)


@st.fragment(run_every=1.0)
def _read_on(reading: AnswerReading) -> None:
    """Read all answers behind a first page, and show how many there are of each kind."""
    if reading.begin().done():
        st.rerun()


def _pick_run(
    runs: Sequence[BoardRun], model_column: DeltaGenerator, benchmark_column: DeltaGenerator
) -> BoardRun:
    """Model and benchmark, then the run where there are several; the address names the run."""
    in_address = st.query_params.get("run")
    start = next((run for run in runs if run.run_spec.run_spec_id == in_address), runs[0])
    models = sorted({run.run_spec.model_deployment for run in runs}, key=in_natural_order)
    with model_column:
        model = st.selectbox("Model", models, index=models.index(start.run_spec.model_deployment))
    of_model = [run for run in runs if run.run_spec.model_deployment == model]
    names = [_run_text(run, of_model) for run in of_model]
    same = [i for i, run in enumerate(of_model) if _benchmark(run) == _benchmark(start)]
    exact = [i for i in same if of_model[i].run_spec.run_spec_id == start.run_spec.run_spec_id]
    with benchmark_column:
        name = st.selectbox("Benchmark", names, index=(exact or same or [0])[0], key=f"b-{model}")
    run = of_model[names.index(name)]
    if in_address != run.run_spec.run_spec_id:
        st.query_params["run"] = run.run_spec.run_spec_id
        st.query_params.pop("instance", None)
    return run


def _benchmark(run: BoardRun) -> str:
    return run.run_spec.scenario_name


def _run_text(run: BoardRun, others: Sequence[BoardRun]) -> str:
    """The benchmark's name, with the run's name where the model has several runs of it."""
    title = run.cell.display_name if run.cell else _benchmark(run)
    is_only = [_benchmark(other) for other in others].count(_benchmark(run)) == 1
    return title if is_only else f"{title}: {run.run_spec.name}"


def key_text(key: InstanceKey) -> str:
    """A key as text in the address: the instance, and the trials unless both are 0."""
    name, _, train, trial = astuple(key)
    return SEPARATOR.join([name, str(train), str(trial)]) if train or trial else name


def key_of(written: str) -> InstanceKey:
    """The key that `key_text` wrote."""
    name, *trials = written.split(SEPARATOR)
    if len(trials) == 2 and all(trial.isdecimal() for trial in trials):
        return InstanceKey(
            instance_id=name, train_trial_index=int(trials[0]), trial_index=int(trials[1])
        )
    return InstanceKey(instance_id=name)


def _pick_answer(
    context: PageContext,
    run: BoardRun,
    columns: Sequence[DeltaGenerator],
    reading: AnswerReading,
    notes: Mapping[InstanceKey, Any],
) -> tuple[InstanceScore, InstanceDetail | None] | None:
    """One page of the table: the page with the answer that the address names, if it names one."""
    reader, viewer = context.reader, context.viewer
    written, order = st.query_params.get("instance"), _order()
    state = f"{run.run_spec.run_spec_id}-{order}"
    offset = f"offset-{state}"
    start = st.session_state.get(offset, 0)
    only_column, group_column, search_column = columns
    in_address = st.query_params.get("only", "")
    with search_column:
        matching = _search(run, viewer, offset)
    with group_column:
        groups = groups_for(reader.location, context.source, reader, run.run_spec)
        group, among = _pick_group(context, run, groups, offset)
    listing = Listing(only=in_address if in_address in ONLY else "", group=group, matching=matching)
    page = None
    if not (start or order is not Order.SOURCE or reading.has_ended) and listing.is_all:
        page = _first_of_many(reader, run, written)
    if page is None:
        with st.spinner("Reading the answers …", show_time=False):
            answers = reading.result()
        listed_page = partial(
            instances_of,
            reader,
            run.run_spec,
            limit=PAGE_ROWS,
            offset=start,
            order=order,
            holding=key_of(written) if written else None,
            only=AnswerFilter(listing.only) if listing.only else None,
            among=among,
            viewer=viewer,
            answers=answers,
        )
        try:
            page = listed_page(matching=listing.matching)
            record_search(context, run, page, listing.matching)
        except PolicyError as error:  # a row of a public run may have another level by now
            st.html(note(f"Not searched, all are listed: {error}", "warning"))
            listing = replace(listing, matching="")
            page = listed_page()
    with only_column:
        _pick_only(page, listing.only, state)
    if not page.scores:
        st.info(_none(page, listing))
        return None
    index = _chosen_index(page, written)
    _turn_pages(page, offset, index)
    scores = page.scores
    details = visible_details(reader, run.run_spec, [each.key for each in scores], viewer=viewer)
    details = recorded(context, run, details)
    of_rows = _groups(context, run, details) if groups else {}
    rows = [_row(score, details.get(score.key), of_rows, notes) for score in scores]
    show_table(
        run,
        rows,
        chosen=index,
        order=order,
        on_pick=partial(_open, page),
        on_sort=_sort,
    )
    return scores[index], details.get(scores[index].key)


def _order() -> Order:
    """How the answers are sorted, as the address says."""
    named = st.query_params.get("order", "")
    return Order(named) if named in list(Order) else Order.SOURCE


def _sort(order: Order) -> None:
    st.query_params["order"] = order.value
    st.query_params.pop("instance", None)


def _groups(
    context: PageContext, run: BoardRun, details: Mapping[InstanceKey, InstanceDetail]
) -> Mapping[str, Mapping[str, str]]:
    """By instance the groups of those whose text the viewer may see."""
    view, ids = part("subgroups", "of_instances"), [key.instance_id for key in details]
    version = run.run_spec.data_version
    groups: Mapping[str, Mapping[str, str]] = view.groups_of_instances(
        context.reader, version, ids, viewer=context.viewer
    )
    return groups


def _row(
    score: InstanceScore,
    detail: InstanceDetail | None,
    groups: Mapping[str, Mapping[str, str]],
    notes: Mapping[InstanceKey, Any],
) -> AnswerRow:
    """A row of the table; groups and flags are there where its text is shown."""
    if detail is None:
        return AnswerRow(score=score, detail=None, flags="", groups={})
    flags = flags_text(notes.get(score.key))
    return AnswerRow(
        score=score, detail=detail, flags=flags, groups=groups.get(score.key.instance_id, {})
    )


def _chosen_index(page: InstancePage, written: str | None) -> int:
    """The index on the page of the chosen answer, else the first; after a step back the last."""
    keys = [key_text(score.key) for score in page.scores]
    start = len(keys) - 1 if st.session_state.pop(FROM_END, False) else 0
    return keys.index(written) if written in keys else start


def _open(page: InstancePage, index: int | None) -> None:
    if index is not None and 0 <= index < len(page.scores):
        st.query_params["instance"] = key_text(page.scores[index].key)


def _pick_group(
    context: PageContext, run: BoardRun, groups: Mapping[str, Any], offset: str
) -> tuple[str, list[str] | None]:
    """A group of patients and its instances; a group has the level of rows: no address names it."""
    reader, viewer, spec = context.reader, context.viewer, run.run_spec
    view = part("subgroups", "of_instances")
    if not groups or not viewer.may_see(spec.access_level):
        return "", None
    label = st.selectbox(
        "Group",
        [EVERY_GROUP, *groups],
        key=f"group-{spec.run_spec_id}",
        on_change=_go,
        args=(offset, 0),
    )
    if label == EVERY_GROUP:
        return "", None
    return label, view.instances_in(reader, spec.data_version, groups[label], viewer=viewer)


def _first_of_many(reader: Reader, run: BoardRun, written: str | None) -> InstancePage | None:
    """The first page of a run of so many answers that their list takes seconds.

    None where there are fewer, or where the address names an answer that is not on it.
    """
    cell = run.cell
    if cell is None or cell.total <= FEW_ANSWERS:
        return None
    page = first_page(reader, run.run_spec, limit=PAGE_ROWS)
    is_elsewhere = written and page and key_of(written) not in [each.key for each in page.scores]
    return None if is_elsewhere else page


def _search(run: BoardRun, viewer: Viewer, offset: str) -> str:
    """The text to search for. It may be clinical text, so the address does not keep it."""
    if not viewer.may_see(run.run_spec.access_level):
        level = run.run_spec.access_level
        where = (
            f"{level} text is not shown to you"
            if viewer.name
            else (f"{level} text is searched only at the machine that serves this")
        )
        st.html(note(f"No search: {where}."))
        return ""
    return st.text_input(
        "Search",
        key="search",
        max_chars=MAX_SEARCHED,
        placeholder="id, input, references, answer",
        help="Answers with this text, in any case. The address does not keep it.",
        autocomplete="off",
        on_change=_go,
        args=(offset, 0),
    ).strip()


def _pick_only(page: InstancePage, only: str, state: str) -> None:
    """All answers, or those of one kind; the address keeps which."""
    key = f"only-{state}"
    of_class = (AnswerFilter.MISSED.value, AnswerFilter.FALSE_ALARM.value)
    labels = {
        name: f"{label} ({page.counts.get(AnswerFilter(name), '–') if name else page.num_answers})"
        for name, label in ONLY.items()
        if name not in of_class or name == only or AnswerFilter(name) in page.counts
    }
    st.selectbox(
        "Show",
        list(labels),
        index=list(labels).index(only),
        format_func=labels.__getitem__,
        key=key,
        on_change=_only_follows,
        args=(key, f"offset-{state}"),
    )


def _only_follows(key: str, offset: str) -> None:
    only = st.session_state[key]
    if only:
        st.query_params["only"] = only
    else:
        st.query_params.pop("only", None)
    _go(offset, 0)


def _none(page: InstancePage, listing: Listing) -> str:
    """Why no answer is listed."""
    if not page.num_answers or listing.is_all:
        return "No answers were scored."
    if listing.only and AnswerFilter(listing.only) not in page.counts:
        return _UNKNOWN[AnswerFilter(listing.only)]
    lead = f"None of the {page.num_answers:,} answers "
    kinds = {
        AnswerFilter.WRONG: "is wrong",
        AnswerFilter.MISSED: "is a missed case",
        AnswerFilter.FALSE_ALARM: "is a false alarm",
        AnswerFilter.UNREAD: "is unread",
        AnswerFilter.FAILED: "failed",
    }
    parts = [kinds[AnswerFilter(listing.only)]] if listing.only else []
    parts += ["is in this group"] if listing.group else []
    parts += ["has the text that was searched for"] if listing.matching else []
    return f"{lead}{' and '.join(parts)}."


def _turn_pages(page: InstancePage, offset: str, index: int) -> None:
    """How many answers are listed, and the ways on: by pages, and by keys from answer to answer."""
    last = page.offset + len(page.scores)
    count = f"{page.total:,} of {page.num_answers:,} answers"
    listed = f", {page.offset + 1:,}–{last:,} listed" if page.total > PAGE_ROWS else ""
    at = page.offset + index
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="ms-count">{count}{listed}</p>', width="stretch")
        for label, step, shortcut in (("Previous answer", -1, "k"), ("Next answer", 1, "j")):
            st.button(
                label,
                key=f"{label}-{offset}",
                shortcut=shortcut,
                disabled=not 0 <= at + step < page.total,
                on_click=_step,
                args=(page, offset, index + step),
            )
        if page.total <= PAGE_ROWS:
            return
        for label, start in (
            ("Previous page", page.offset - PAGE_ROWS),
            ("Next page", page.offset + PAGE_ROWS),
        ):
            st.button(
                label,
                key=f"{label}-{offset}",
                disabled=not 0 <= start < page.total,
                on_click=_go,
                args=(offset, start),
            )


def _step(page: InstancePage, offset: str, index: int) -> None:
    """Open the answer at this index of the page, or the nearest one of the page beside it."""
    if 0 <= index < len(page.scores):
        _open(page, index)
        return
    st.session_state[FROM_END] = index < 0
    _go(offset, page.offset + (PAGE_ROWS if index >= 0 else -PAGE_ROWS))


def _go(offset: str, start: int) -> None:
    st.session_state[offset] = start
    st.query_params.pop("instance", None)
