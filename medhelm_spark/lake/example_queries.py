"""Queries over a lake for a person to copy; `docs/tables.md` shows them, and a test runs them.

Names between braces are tables and views; the page has the bare names.
"""

from collections.abc import Mapping
from types import MappingProxyType

from medhelm_spark.lake.views import CURRENT_RESULTS, CURRENT_RUN_SPECS, CURRENT_RUNS

# The value of a run's main metric for each answer. `explode` is Spark's.
CURRENT_SCORES = """
SELECT p.suite, p.run_spec['scenario_name'] AS scenario_name,
       p.run_spec['model_deployment'] AS model_deployment,
       p.run_spec['data_version'] AS data_version, p.run_spec_id,
       t.instance_id, t.train_trial_index, t.trial_index, t.score.value, t.score.status
FROM {current_run_specs} p
JOIN {current_runs} r ON r.stage = 'score' AND r.unit_id = p.run_spec_id
JOIN (SELECT *, explode(stats) AS score FROM {per_instance_stats} WHERE perturbation = '') t
  ON t.run_spec_id = r.unit_id AND t.write_id = r.write_id
WHERE t.score.name = p.run_spec['main_metric'] AND t.split = p.run_spec['main_split']
"""

VIEWS: Mapping[str, str] = MappingProxyType(
    {
        "current_runs": CURRENT_RUNS,
        "current_run_specs": CURRENT_RUN_SPECS,
        "current_results": CURRENT_RESULTS,
        "current_scores": CURRENT_SCORES,
    }
)
"""The rows that count, by the name of a view; each may use those before it."""

MEANS = """
SELECT p.run_spec['scenario_name'] AS scenario, p.run_spec['model_deployment'] AS model,
       s.name AS metric, s.mean, s.ci_low, s.ci_high, s.count, s.num_unscored
FROM {current_run_specs} p
JOIN {current_runs} r ON r.stage = 'summarize' AND r.unit_id = p.run_spec_id
JOIN {stats} s ON s.run_spec_id = r.unit_id AND s.write_id = r.write_id
WHERE p.suite = 'letters' AND s.perturbation = ''
  AND s.name = p.run_spec['main_metric'] AND s.split = p.run_spec['main_split']
ORDER BY scenario, s.mean DESC, model
"""

WORST = """
SELECT n.*, s.model_deployment, a.completions[0].text AS answer,
       i.references[0].text AS reference, s.value
FROM {current_scores} s
JOIN {current_runs} g ON g.stage = 'ingest' AND g.unit_id = s.data_version
JOIN {instances} i ON i.data_version = g.unit_id AND i.write_id = g.write_id
  AND i.instance_id = s.instance_id
JOIN {current_runs} r ON r.stage = 'plan' AND r.unit_id = s.run_spec_id
JOIN {requests} q ON q.run_spec_id = r.unit_id AND q.write_id = r.write_id
  AND q.instance_id = s.instance_id AND q.purpose = 'evaluate' AND q.perturbation = ''
  AND q.train_trial_index = s.train_trial_index AND q.trial_index = s.trial_index
JOIN {current_results} a ON a.request_id = q.request_id
JOIN clinic.letters n ON CAST(n.letter_id AS STRING) = i.source_id
WHERE s.suite = 'letters' AND s.value IS NOT NULL
ORDER BY s.value, s.model_deployment, i.source_id
LIMIT 20
"""

DISAGREEMENT = """
SELECT x.scenario_name, x.instance_id, x.model_deployment AS first, x.value AS first_value,
       y.model_deployment AS second, y.value AS second_value
FROM {current_scores} x
JOIN {current_scores} y ON y.suite = x.suite AND y.data_version = x.data_version
  AND y.instance_id = x.instance_id AND y.trial_index = x.trial_index
  AND y.train_trial_index = x.train_trial_index AND x.model_deployment < y.model_deployment
WHERE x.suite = 'letters' AND x.value <> y.value
ORDER BY abs(x.value - y.value) DESC, x.instance_id
"""

QUERIES: Mapping[str, str] = MappingProxyType(
    {
        "The mean of each model, with its interval": MEANS,
        "The worst answers beside the notes": WORST,
        "Where two models disagree": DISAGREEMENT,
    }
)
"""By title; `clinic.letters` is a table of one's own, `letters` the suite."""


class _Bare(dict[str, str]):
    """Every name as it is."""

    def __missing__(self, name: str) -> str:
        return name


def plain_sql(sql: str) -> str:
    """SQL as a person copies it.

    >>> shown("SELECT 1 FROM {stats}")
    'SELECT 1 FROM stats'
    """
    return sql.strip().format_map(_Bare())


def without_views(sql: str) -> str:
    """SQL with every view written out, for a reader that has none; tables stay between braces."""
    for name, view in reversed(list(VIEWS.items())):
        sql = sql.replace(f"{{{name}}}", f"({view})")
    return sql
