"""Which GPUs an engine may take: pure planning, with the strings that platforms give."""

import pytest

from medhelm_spark.engines import slots
from medhelm_spark.engines.worker import executor_folder, task_context

FOUR = "0, GPU-aa\n1, GPU-bb\n2, GPU-cc\n3, GPU-dd\n"


@pytest.mark.parametrize(
    ("assigned", "visible", "listed", "size", "groups"),
    [
        # What Spark gave the task is one group, and stronger than what is visible.
        (["2"], "0,1,2,3", FOUR, None, [("2",)]),
        (["2", "3"], None, FOUR, None, [("2", "3")]),
        (["2", "3"], None, FOUR, 2, [("2", "3")]),
        (["2", "3"], None, FOUR, 1, [("2", "3")]),
        (["2"], "0,1,2,3", FOUR, 2, []),
        # Without GPU scheduling: the visible devices in groups; what does not fill one is left.
        ([], "0,1,2", FOUR, None, [("0",), ("1",), ("2",)]),
        ([], "0,1,2", FOUR, 2, [("0", "1")]),
        ([], None, FOUR, 2, [("0", "1"), ("2", "3")]),
        ([], " 4 , 5 ", FOUR, 2, [("4", "5")]),
        ([], "GPU-aa,MIG-1", "", 1, [("GPU-aa",), ("MIG-1",)]),
        # As CUDA reads the variable: set but empty hides all, -1 ends the list.
        ([], "", FOUR, None, []),
        ([], "-1", FOUR, None, []),
        ([], "1,-1,2", FOUR, None, [("1",)]),
        ([], "NoDevFiles", "", 2, []),
        ([], None, "", None, []),
        ([], None, "No devices were found\n", None, []),
    ],
)
def test_the_groups_an_engine_may_take(assigned, visible, listed, size, groups):
    assert slots.gpu_groups(assigned, visible, listed, size) == tuple(groups)


def test_a_gpu_is_named_by_its_identity_where_the_driver_tells_it():
    assert slots.lock_names(("1", "0"), FOUR, "") == ("gpu-GPU-aa", "gpu-GPU-bb")
    assert slots.lock_names(("1", "0"), "", "/x/blockmgr-1") == ("gpu-0", "gpu-1")


def test_overlapping_groups_share_a_lock():
    pair, single = slots.lock_names(("0", "1"), FOUR, ""), slots.lock_names(("1",), FOUR, "")
    assert set(pair) & set(single)


def test_the_cpu_slot_is_one_per_executor(tmp_path):
    folder = executor_folder({"SPARK_LOCAL_DIRS": f"{tmp_path}/,/other"})
    assert folder == str(tmp_path)
    assert slots.lock_names(slots.CPU, FOUR, folder) == (f"{tmp_path}/cpu",)
    assert executor_folder({}) == ""
    assert executor_folder({"SPARK_LOCAL_DIRS": str(tmp_path / "absent")}) == ""
    assert slots.lock_names(slots.CPU, "", "")[0].startswith("cpu-")


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (([], None, "", None), "needs 1 GPU, but this machine shows none"),
        (([], "", FOUR, None), "needs 1 GPU, but this machine shows none (CUDA_VISIBLE_DEVICES is"),
        (
            ([], "0", FOUR, 4),
            "needs 4 GPUs, but this machine shows 1 (CUDA_VISIBLE_DEVICES is '0')",
        ),
        ((["5"], "0", FOUR, 2), "needs 2 GPUs, but Spark gave the task 1"),
    ],
)
def test_too_few_is_said_with_the_numbers(seen, sentence):
    assert slots.too_few(*seen).startswith(sentence)


@pytest.fixture
def unbound(monkeypatch):
    monkeypatch.setattr(slots, "_bound", None)
    monkeypatch.delitem(slots.sys.modules, "torch", raising=False)
    monkeypatch.setenv(slots.VISIBLE, "0,1,2,3")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST")


def test_a_process_takes_its_gpus_once(unbound, monkeypatch):
    slots.bind(slots.CPU)
    assert slots.bound() is None
    slots.bind(("2", "3"))
    assert (slots.os.environ[slots.VISIBLE], slots.bound()) == ("2,3", ("2", "3"))
    slots.bind(("2", "3"))
    with pytest.raises(slots.SetupError, match="uses GPU 2,3 and cannot change to 1"):
        slots.bind(("1",))
    assert slots.os.environ[slots.VISIBLE] == "2,3"


def test_outside_a_task_spark_gives_nothing():
    assert task_context() is None
    assert slots.assigned_gpus() == ()
