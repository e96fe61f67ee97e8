"""Stored: a value that came with an answer, as the package that computed it wrote it down.

It is taken over and never computed: `params["stat"]` is its name there, and the stat is called
`STAT@medhelm-0.8`. What `params` say more is how to read it: `lower_is_better` (`true`, `false`;
absent: neither), `minimum` and `maximum` of its scale (absent: an open end). Any other param is
something that the value rests on, such as the jury that judged; two values with other ones are not
compared.
"""

from collections.abc import Sequence

from medhelm_spark.domain.helm_results import STORED, STORED_STAT, SUFFIX
from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics.metric import About, Metric, Params, ScoreRow, unscored

DIRECTIONS = {"true": True, "false": False}


def _infos(params: Params) -> tuple[MetricInfo, ...]:
    stat = params.get(STORED_STAT, "")
    return (
        MetricInfo(
            name=stat + SUFFIX,
            display_name=f"{stat} (MedHELM 0.8)",
            lower_is_better=DIRECTIONS.get(params.get("lower_is_better", "")),
            minimum=float(params["minimum"]) if "minimum" in params else None,
            maximum=float(params["maximum"]) if "maximum" in params else None,
            description="As the imported results have it.",
        ),
    )


def _stored(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    stat, (info,) = params.get(STORED_STAT), _infos(params)
    nothing = unscored([info.name], ScoreStatus.NO_ANSWER)
    rows: list[ScoreRow] = []
    for state in states:
        value = next((score.value for score in state.stored or () if score.name == stat), None)
        rows.append(nothing if value is None else (Score(name=info.name, value=value),))
    return rows


def _check(params: Params) -> None:
    if not params.get(STORED_STAT):
        raise ConfigError(f"metric 'stored' needs the argument {STORED_STAT!r}.")


STORED_VALUE = Metric(
    fn=_stored,
    needs=frozenset({"stored"}),
    emits=(),
    version="1",
    renamed=_infos,
    preflight=_check,
    about=About.REQUEST,
)

METRICS = {STORED: STORED_VALUE}
