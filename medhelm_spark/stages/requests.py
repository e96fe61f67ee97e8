"""Requests and their links, for whoever makes prompts: plan for models, annotate for judges."""

from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame

from medhelm_spark.adaptation.decoding import CHARACTERS_PER_TOKEN, OUTPUT_WEIGHT
from medhelm_spark.domain.request import RequestLink, RequestRow
from medhelm_spark.lake.lake import Lake

# The twin of adaptation.decoding.estimate_tokens, over a prompt `k` and a call `c`.
ESTIMATED_TOKENS = (
    f"greatest(1, CAST(ceil(k.num_characters / {CHARACTERS_PER_TOKEN}"
    f" + {OUTPUT_WEIGHT} * c.decoding.max_tokens * c.decoding.num_completions) AS BIGINT))"
)

NEW_REQUESTS = """
SELECT request_id, first(prompt_id) AS prompt_id, first(model_deployment) AS model_deployment,
       first(decoding) AS decoding, first(access_level) AS access_level,
       first(estimated_tokens) AS estimated_tokens
FROM {linked} n
WHERE NOT EXISTS (SELECT 1 FROM {requests} r WHERE r.request_id = n.request_id)
GROUP BY request_id
"""


def append_requests(lake: Lake, linked: DataFrame, write_id: str) -> None:
    """Write the links of `linked` (RequestLink's and RequestRow's columns) and its new requests.

    Both commits run side by side; a link whose request is not there yet belongs to a write that
    `runs` does not mark finished, so nobody reads it.
    """
    links = linked.select(*RequestLink.__dataclass_fields__).sortWithinPartitions("run_spec_id")
    new = lake.query(NEW_REQUESTS, linked=linked).select(*RequestRow.__dataclass_fields__)
    with ThreadPoolExecutor(2) as pool:
        commits = [
            pool.submit(lake.append, "request_links", links, write_id),
            pool.submit(lake.append, "requests", new, write_id),
        ]
        for commit in commits:
            commit.result()
