"""Eight fake GPUs, by the benchmark that is compared with the simulation: counts, never times."""

from pathlib import Path

import pytest

from benchmarks.fake_gpus import GPUS, play

pytestmark = pytest.mark.long


@pytest.mark.parametrize("models", [1, 3, 12])
def test_every_gpu_answers_and_no_engine_starts_for_nothing(tmp_path: Path, models: int) -> None:
    run = play(tmp_path, models, 1_200 // models, start=2.0, restart=0.5)
    assert run.answers == 1_200 // models * models
    assert run.slots == GPUS
    assert run.starts <= GPUS + models - 1
