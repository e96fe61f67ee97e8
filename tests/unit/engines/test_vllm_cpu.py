"""Memory that vLLM frees on a CPU is used again."""

import platform
import subprocess
import sys

import pytest

# Pages that a block of 40 MB takes when it is asked for a second time, counted by the kernel.
TWICE = """
import resource
from medhelm_spark.engines.vllm_cpu import keep_memory

if KEEP:
    assert keep_memory()
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = bytearray(40_000_000)
    block[::4096] = bytes(len(block[::4096]))
    del block
    found = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(found)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_freed_memory_is_used_again() -> None:
    def pages(keep: bool) -> int:
        code = TWICE.replace("KEEP", str(keep))
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    # Allocated and touched anew without it, or the test would show nothing.
    assert pages(keep=False) > 1000
    assert pages(keep=True) < 100
