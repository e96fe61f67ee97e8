"""What surrounds a start of vLLM."""

import stat
import sys
from pathlib import Path

from medhelm_spark.engines import vllm_child
from medhelm_spark.engines.vllm_start import VllmStart


def test_only_this_user_can_enter_the_folder_of_the_sockets_which_goes_with_the_engine():
    start = VllmStart()
    folder = Path(start.env[vllm_child.FOLDER])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(f"{folder}/{'x' * 36}") < 107, "a socket's path has a limit"
    start.close()
    assert not folder.exists()


def test_our_program_is_hidden_while_vllm_starts_and_reasons_are_taken():
    start, main = VllmStart(), sys.modules["__main__"]
    reasons = Path(start.env[vllm_child.FOLDER]) / vllm_child.REASONS
    with start.takes_reasons():
        assert not hasattr(sys.modules["__main__"], "__file__")
        assert start.reason(OSError("a port")) == "OSError: a port"
        reasons.write_text("ValueError: first\nRuntimeError: second\n")
        assert start.reason(OSError("a port")) == "ValueError: first"
    assert sys.modules["__main__"] is main
    assert not reasons.exists()
    start.close()
