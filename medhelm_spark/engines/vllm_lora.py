"""The adapter (LoRA) of a deployment: one folder, which vLLM applies to every request."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONFIG = "adapter_config.json"
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts as `max_lora_rank`."""


def arguments(folder: str) -> Mapping[str, Any]:
    """The engine arguments for this one adapter, with the smallest rank of RANKS that fits it."""
    args = {"enable_lora": True, "max_loras": 1}
    rank = _rank(Path(folder).expanduser())
    fitting = next((room for room in RANKS if rank and room >= rank), None)
    return {**args, "max_lora_rank": fitting} if fitting else args


def _rank(folder: Path) -> int:
    """The largest rank in the adapter's configuration; 0 where the file states none."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return max([int(config["r"]), *map(int, (config.get("rank_pattern") or {}).values())])
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        return 0


def request(folder: str) -> Any:
    """The adapter to pass to vLLM with a prompt: one name and number for all requests."""
    from vllm.lora.request import LoRARequest

    path = str(Path(folder).expanduser().absolute())
    return LoRARequest(lora_name="adapter", lora_int_id=1, lora_path=path)
