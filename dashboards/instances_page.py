"""The answers behind a number: one instance's request, answer, references, scores and verdicts."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

import streamlit as st
from answer_markup import (
    GONE,
    answer_html,
    data_html,
    main_score,
    references_html,
    request_details,
    request_facts,
    request_html,
    scores_html,
    verdicts_html,
)
from loaded import answers_for
from page_markup import LOCAL_VIEW, chip, note, section, text
from shown import Shown, nothing

from medhelm_spark.board import (
    AnswerFilter,
    BoardRun,
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Kind,
    Order,
    Viewer,
    instance_detail,
    instance_details,
    instances_of,
)
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.errors import PolicyError
from medhelm_spark.features import part

ABOUT = (
    "Each entry on the left is one answer of a model to one instance of a benchmark. On the right "
    "stand its prompt, the references, the answer, its scores and what each judge said. The "
    "address names the answer by its id, so that a link opens it again."
)
PAGE_ROWS = 12
MAX_BESIDE = 3
MAX_SEARCHED = 200
ORDERS = {
    Order.SOURCE: "as in the data",
    Order.LOWEST: "lowest score first",
    Order.HIGHEST: "highest score first",
}
ONLY = {
    "": "all",
    AnswerFilter.WRONG.value: "wrong",
    AnswerFilter.MISSED.value: "missed: positive, not answered so",
    AnswerFilter.FALSE_ALARM.value: "false alarm: negative, answered as positive",
    AnswerFilter.UNREAD.value: "unread",
    AnswerFilter.FAILED.value: "failed",
}
SEPARATOR = "~"
_NO_CLASS = "This benchmark declares no positive class, so that no case is missed or a false alarm."
_UNKNOWN = {
    AnswerFilter.WRONG: "The main metric does not say which answers are wrong.",
    AnswerFilter.MISSED: _NO_CLASS,
    AnswerFilter.FALSE_ALARM: _NO_CLASS,
}
"""Why a filter lists nothing where nothing says of which answers it is true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which answers of a run are listed. `matching` may be clinical text."""

    only: str
    matching: str

    @property
    def is_all(self) -> bool:
        return not (self.only or self.matching)


def show(shown: Shown) -> None:
    """Pickers, the list of answers, and one answer, if the viewer may see its text."""
    reader, viewer = shown.reader, shown.viewer
    st.html(note(LOCAL_VIEW))
    scored = [run for run in shown.runs if run.cell]
    if not scored:
        st.info(nothing(shown))
        return
    run, order = _pick_run(scored)
    if not run.is_current:
        of = f"{shown.source.kind} {shown.source.name}"
        again = f"This run was scored again after the numbers of {of}."
        st.html(note(again, "warning"))
    left, right = st.columns([1, 4.2], gap="medium")
    with left:
        chosen = _pick_answer(shown, run, order)
    with right:
        others = _pick_beside(run, scored) if chosen else []
        if chosen:
            detail = instance_detail(reader, run.run_spec, chosen.key, viewer=viewer)
            if detail and _is_recorded(shown, run, chosen.key, detail):
                _show_detail(run, chosen, detail)
                if others:
                    _show_beside(shown, [run, *others], chosen.key)


def _is_recorded(shown: Shown, run: BoardRun, key: InstanceKey, detail: InstanceDetail) -> bool:
    """Whether it is on record that gated or private text is opened here, once for a session."""
    viewings = part("viewings", "record")
    opened = f"viewed-{run.run_spec.run_spec_id}-{key_text(key)}"
    if viewings is None or opened in st.session_state:
        return True
    release = shown.source.name if shown.source.kind is Kind.RELEASE else None
    try:
        viewings.record_opened(shown.reader.location, run, detail.levels, release)
    except PolicyError as error:
        st.html(note(str(error), "error"))
        return False
    st.session_state[opened] = True
    return True


def _pick_run(runs: Sequence[BoardRun]) -> tuple[BoardRun, Order]:
    """Model and benchmark, then the run where there are several; the address names the run."""
    in_address = st.query_params.get("run")
    start = next((run for run in runs if run.run_spec.run_spec_id == in_address), runs[0])
    model_column, benchmark_column, order_column = st.columns([1.4, 1.8, 1])
    models = sorted({run.run_spec.model_deployment for run in runs}, key=in_natural_order)
    with model_column:
        model = st.selectbox("Model", models, index=models.index(start.run_spec.model_deployment))
    of_model = [run for run in runs if run.run_spec.model_deployment == model]
    names = [_run_text(run, of_model) for run in of_model]
    same = [i for i, run in enumerate(of_model) if _benchmark(run) == _benchmark(start)]
    exact = [i for i in same if of_model[i].run_spec.run_spec_id == start.run_spec.run_spec_id]
    with benchmark_column:
        name = st.selectbox("Benchmark", names, index=(exact or same or [0])[0], key=f"b-{model}")
    with order_column:
        order = st.selectbox(
            "Order",
            list(ORDERS),
            format_func=ORDERS.__getitem__,
            key="order",
            bind="query-params",
        )
    run = of_model[names.index(name)]
    if in_address != run.run_spec.run_spec_id:
        st.query_params["run"] = run.run_spec.run_spec_id
        st.query_params.pop("instance", None)
    return run, order


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


def _pick_answer(shown: Shown, run: BoardRun, order: Order) -> InstanceScore | None:
    """One page of the list: the page with the answer that the address names, if it names one."""
    reader, viewer = shown.reader, shown.viewer
    answers = answers_for(reader.location, shown.source, reader, run.run_spec)
    written = st.query_params.get("instance")
    state = f"{run.run_spec.run_spec_id}-{order}"
    picker = st.container()
    in_address = st.query_params.get("only", "")
    listing = Listing(
        only=in_address if in_address in ONLY else "",
        matching=_search(run, viewer, f"offset-{state}"),
    )
    listed_page = partial(
        instances_of,
        reader,
        run.run_spec,
        limit=PAGE_ROWS,
        offset=st.session_state.get(f"offset-{state}", 0),
        order=order,
        holding=key_of(written) if written else None,
        only=AnswerFilter(listing.only) if listing.only else None,
        viewer=viewer,
        answers=answers,
    )
    try:
        page = listed_page(matching=listing.matching)
    except PolicyError as error:  # a row of a public run may have another level by now
        st.html(note(f"Not searched, all are listed: {error}", "warning"))
        listing = replace(listing, matching="")
        page = listed_page()
    with picker:
        _pick_only(page, listing.only, state)
    if not page.scores:
        st.info(_none(page, listing))
        return None
    _turn_pages(page, f"offset-{state}")
    keys = [key_text(score.key) for score in page.scores]
    labels = dict(zip(keys, map(_label, page.scores), strict=True))
    index = keys.index(written) if written in keys else 0
    listed = "-".join(str(score.number) for score in page.scores)
    radio = f"answers-{state}-{listed}-{index}"
    picked = st.radio(
        "Answers",
        keys,
        index=index,
        format_func=labels.__getitem__,
        key=radio,
        on_change=_address_follows,
        args=(radio,),
        label_visibility="collapsed",
    )
    return page.scores[keys.index(picked)]


def _search(run: BoardRun, viewer: Viewer, offset: str) -> str:
    """The text to search for. It may be clinical text, so the address does not keep it."""
    if not viewer.may_see(run.run_spec.access_level):
        level = run.run_spec.access_level
        st.html(note(f"No search: {level} text is searched only at the machine that serves this."))
        return ""
    return st.text_input(
        "Search",
        key="search",
        max_chars=MAX_SEARCHED,
        placeholder="input, references, answer",
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
        name: f"{label} ({page.counts.get(AnswerFilter(name), '–') if name else page.asked})"
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
    if not page.asked or listing.is_all:
        return "No answers were scored."
    if listing.only and AnswerFilter(listing.only) not in page.counts:
        return _UNKNOWN[AnswerFilter(listing.only)]
    of = f"None of the {page.asked:,} answers "
    kinds = {
        AnswerFilter.WRONG: "is wrong",
        AnswerFilter.MISSED: "is a missed case",
        AnswerFilter.FALSE_ALARM: "is a false alarm",
        AnswerFilter.UNREAD: "is unread",
        AnswerFilter.FAILED: "failed",
    }
    parts = [kinds[AnswerFilter(listing.only)]] if listing.only else []
    parts += ["has the text that was searched for"] if listing.matching else []
    return f"{of}{' and '.join(parts)}."


def _address_follows(radio: str) -> None:
    st.query_params["instance"] = st.session_state[radio]


def _turn_pages(page: InstancePage, state: str) -> None:
    last = page.offset + len(page.scores)
    count = f"{page.total:,} of {page.asked:,} answers"
    listed = f", {page.offset + 1}–{last} listed" if page.total > PAGE_ROWS else ""
    st.html(f'<p class="ms-count">{count}{listed}</p>')
    if page.total <= PAGE_ROWS:
        return
    before, after = st.columns(2)
    for column, label, step, is_end in (
        (before, "Previous", -PAGE_ROWS, page.offset == 0),
        (after, "Next", PAGE_ROWS, last >= page.total),
    ):
        column.button(
            label,
            key=f"{label}-{state}",
            disabled=is_end,
            width="stretch",
            on_click=_go,
            args=(state, page.offset + step),
        )


def _go(state: str, offset: int) -> None:
    st.session_state[state] = offset
    st.query_params.pop("instance", None)


def _label(score: InstanceScore) -> str:
    value = score.status.value.replace("_", " ") if score.value is None else f"{score.value:.3f}"
    trials = score.key.train_trial_index or score.key.trial_index
    trial = f" (trial {score.key.train_trial_index}.{score.key.trial_index})" if trials else ""
    return f"**#{score.number}**{trial} · {value}"


def _show_detail(run: BoardRun, chosen: InstanceScore, detail: InstanceDetail) -> None:
    title = run.cell.display_name if run.cell else _benchmark(run)
    facts = request_facts(detail.request, detail.result)
    st.html(
        f'<div class="ms-title"><h2>{text(title)} · #{chosen.number}</h2>'
        f"{chip(run.run_spec.access_level)}{''.join(chip(fact, 'fact') for fact in facts)}</div>"
    )
    left, right = st.columns(2, gap="medium")
    if detail.gone:
        st.html(note(f"{GONE}: {', '.join(detail.gone)}. The scores are kept.", "warning"))
    left.html(request_html(detail.prompt, detail.instance) + request_details(detail))
    right.html(answer_html(run, detail))
    right.html(scores_html(run, detail.stats))
    right.html(references_html(detail.instance))
    right.html(data_html(detail.instance))
    if detail.annotations:
        right.html(verdicts_html(detail.annotations, detail.instance))


def _pick_beside(run: BoardRun, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """Runs of other models on the same data; the address keeps their names."""
    spec = run.run_spec
    same = [
        other
        for other in runs
        if other.run_spec.data_version == spec.data_version
        and other.run_spec.scenario_name == spec.scenario_name
        and other.run_spec.model_deployment != spec.model_deployment
    ]
    models = [other.run_spec.model_deployment for other in same]
    named = {
        model if models.count(model) == 1 else f"{model}: {other.run_spec.name}": other
        for model, other in zip(models, same, strict=True)
    }
    if not named:
        return []
    picked = st.multiselect(
        "Beside it, the answers of",
        sorted(named, key=in_natural_order),
        key="beside",
        bind="query-params",
        max_selections=MAX_BESIDE,
    )
    return [named[name] for name in picked if name in named]


def _show_beside(shown: Shown, runs: Sequence[BoardRun], key: InstanceKey) -> None:
    """The answers of several runs to one instance in columns, with main score and verdicts."""
    cells = []
    for run in runs:
        details = instance_details(shown.reader, run.run_spec, [key], viewer=shown.viewer)
        detail = details.get(key)
        if detail and not _is_recorded(shown, run, key, detail):
            return
        if detail is None:
            empty = '<p class="ms-empty">this run does not have the instance</p>'
            cells.append(section("Answer", empty, aside=run.run_spec.model_deployment))
            continue
        parts = [answer_html(run, detail), main_score(run, detail.stats)]
        if detail.annotations:
            parts.append(verdicts_html(detail.annotations, detail.instance))
        cells.append(f"<div>{''.join(parts)}</div>")
    st.html(section("Side by side", f'<div class="ms-columns">{"".join(cells)}</div>'))
