"""The requests of a wave, assigned to the slots that will ask them.

All slots begin together and none takes over another's requests, so each gets the same share of a
deployment's estimated tokens: otherwise most would wait for the one that got most.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.partitions import numbers_for

SLOT = "slot"

# What is kept `together` goes whole to the slot in whose share it ends. With ORDER BY, `sum` goes
# up to the last row of equal `together`.
ASSIGNED = """
SELECT *, element_at(array({numbers}), CAST(greatest(1, ceil({slots} * upto / total)) AS INT))
          AS slot
FROM (SELECT *,
        sum(estimated_tokens) OVER (PARTITION BY model_deployment ORDER BY together) AS upto,
        greatest(1, sum(estimated_tokens) OVER (PARTITION BY model_deployment)) AS total
    FROM {wave})
"""


def assign_slots(lake: Lake, wave: DataFrame, slots: int) -> DataFrame:
    """The wave with a column `SLOT`; `repartition(slots, SLOT)` makes one partition per slot."""
    if slots == 1:
        return wave.withColumn(SLOT, F.lit(0))
    numbers = ", ".join(str(number) for number in numbers_for(slots))
    sql = ASSIGNED.replace("{slots}", str(slots)).replace("{numbers}", numbers)
    return lake.query(sql, wave=wave)
