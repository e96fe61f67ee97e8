"""SmolLM2 as the folder of safetensors that vLLM reads, made once from the embedded GGUF file."""

import json
import shutil
from pathlib import Path

from medhelm_spark.cache import cache_folder
from medhelm_spark.engines.model_files import MODELS, fetch_model

FOLDER = "SmolLM2-135M-Instruct"


def smollm2() -> Path:
    """The folder in the cache; converting takes half a minute."""
    folder = cache_folder() / MODELS / FOLDER
    if not folder.is_dir():
        unfinished = folder.with_name(f".{FOLDER}")
        shutil.rmtree(unfinished, ignore_errors=True)
        _convert(fetch_model(), unfinished)
        unfinished.replace(folder)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)
    plain = GgufConfig(dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16, quantization_config=plain
    )
    model.save_pretrained(folder)
    config = folder / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    # The weights are plain numbers now; vLLM would look for a quantised model.
    settings.pop("quantization_config", None)
    config.write_text(json.dumps(settings, indent=2), encoding="utf-8")
