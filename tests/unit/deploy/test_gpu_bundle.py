"""The GPU benchmark without a GPU: its bundle is joined as it was packed, its watch records."""

import subprocess
import time

from benchmarks import gpu_bundle
from benchmarks.gpu import end_session, flags, trouble
from benchmarks.gpu_setup import FULL, TINY
from benchmarks.gpu_watch import Watch, of_session


def test_parts_are_small_enough_and_join_to_the_archive(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_bundle, "PART_BYTES", 10_000)
    content, output, joined = (tmp_path / name for name in ("content", "output", "joined"))
    (content / "wheels").mkdir(parents=True)
    (content / "wheels" / "large.whl").write_bytes(bytes(range(256)) * 200)
    (content / "requirements.txt").write_text("vllm==0.33.0\n")
    gpu_bundle.bundle(content, output, "3.12")
    parts = sorted(output.glob("gpu.tar.*"))
    assert len(parts) > 4
    assert all(path.stat().st_size <= 10_000 for path in parts)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=output, check=True)
    joined.mkdir()
    command = f"cat {output}/gpu.tar.* | tar -x -C {joined}"
    subprocess.run(command, shell=True, check=True)
    assert (joined / "wheels" / "large.whl").read_bytes() == bytes(range(256)) * 200
    subprocess.run(["sh", "-n", str(output / "install.sh")], check=True)


def test_a_second_bundle_leaves_no_part_of_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_bundle, "PART_BYTES", 10_000)
    content, output = tmp_path / "content", tmp_path / "output"
    content.mkdir()
    (content / "a").write_bytes(bytes(100_000))
    gpu_bundle.bundle(content, output, "3.12")
    (content / "a").write_bytes(b"")
    gpu_bundle.bundle(content, output, "3.12")
    listed = (output / "SHA256SUMS").read_text().splitlines()
    assert len(listed) == len(list(output.glob("gpu.tar.*")))


def test_arguments_as_vllms_command_line_has_them():
    args = {"max_model_len": 4096, "enforce_eager": True, "enable_prefix_caching": False}
    assert flags(args) == [
        *("--max-model-len", "4096", "--enforce-eager", "--no-enable-prefix-caching"),
    ]


def test_a_log_is_shown_by_its_last_error(tmp_path):
    log = tmp_path / "log"
    log.write_text("torch.Error: one\nValueError: a | b\n  warnings.warn('x')\n")
    assert trouble(log) == "ValueError: a / b"
    log.write_text("")
    assert trouble(log) == ""


def test_what_nvidia_smi_says_is_read_with_its_time(tmp_path, monkeypatch):
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\nprintf '90, 1024\\n[N/A], 1\\n70, 2048\\n'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    began = time.time()
    with Watch() as watch:
        now = time.time()
        assert watch.busy(began, now) == 80.0
        assert watch.memory(now) == 2.0
        assert watch.memory(began - 1) is None


def test_the_processes_of_a_session_are_seen_after_their_parent():
    command = ["sh", "-c", "sleep 30 & exec sleep 30"]
    process = subprocess.Popen(command, start_new_session=True)
    while len(of_session(process.pid)) < 2:
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert len(of_session(process.pid)) == 1
    end_session(process)
    while of_session(process.pid):  # a killed process ends when the kernel comes to it
        time.sleep(0.05)


def test_the_tiny_form_has_every_kind_of_load_of_the_full_one():
    def kinds(setup):
        return [
            [(load["name"].split(" (")[0], load.get("schema")) for load in engine["loads"]]
            for engine in setup.engines
        ]

    full, tiny = kinds(FULL), kinds(TINY)
    assert full[0] == tiny[0]
    assert [len(each) for each in full] == [len(each) for each in tiny]
    assert FULL.benched in [load["name"] for load in FULL.engines[-1]["loads"]]
    for load in (load for engine in FULL.engines for load in engine["loads"]):
        assert load["words"] + load["max_tokens"] < FULL.arguments["max_model_len"]
