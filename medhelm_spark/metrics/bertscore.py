"""BERTScore precision, recall and F (Zhang et al. 2020) by the `bert-score` package, offline.

MedHELM's settings: distilbert-base-uncased, its fifth layer, English, no rescaling, no idf weights.
The metric removes one outer brace at each end of a text. Precision, recall and F are each the
highest over all references. An empty text scores 0 without a call of the package, which fails on an
empty text with transformers 5.

The metric reads the model from a folder and downloads nothing. The folder is params["model_path"];
else, for the default model, MEDHELM_SPARK_BERTSCORE_MODEL (set on every host) or the Hugging Face
cache. Any other model needs params["num_layers"], and its name is part of the stats' names, as
`BERTScore-F[all-MiniLM-L6-v2]`: params["model"], else the name of its folder.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow, first_text, scored, unscored

DEFAULT_MODEL = "distilbert-base-uncased"
MODEL_FOLDER_VARIABLE = "MEDHELM_SPARK_BERTSCORE_MODEL"
_DEFAULT_LAYERS = 5
_BATCH_SIZE = 64
_LETTERS = {"P": "precision", "R": "recall", "F": "F-measure"}

Triple = tuple[float, float, float]
_ZERO: Triple = (0.0, 0.0, 0.0)


def _folder_name(folder: Path) -> str:
    """The folder's name; in a Hugging Face cache the model's name, which is two levels up."""
    if folder.parent.name == "snapshots":
        return folder.parent.parent.name.rpartition("--")[2]
    return folder.name


def _model_name(params: Params) -> str:
    if name := params.get("model"):
        return name
    return _folder_name(Path(params["model_path"])) if "model_path" in params else DEFAULT_MODEL


def _infos(params: Params) -> tuple[MetricInfo, ...]:
    model = _model_name(params)
    suffix = "" if model == DEFAULT_MODEL else f"[{model}]"
    return tuple(
        MetricInfo(
            name=f"BERTScore-{letter}{suffix}",
            display_name=f"BERTScore {letter}{suffix}",
            minimum=None,
            description=f"Token {word} by similarity of contextual vectors.",
        )
        for letter, word in _LETTERS.items()
    )


def _cached_default() -> Iterable[Path]:
    from huggingface_hub import try_to_load_from_cache

    for repository in (DEFAULT_MODEL, f"distilbert/{DEFAULT_MODEL}"):
        path = try_to_load_from_cache(repository, "config.json")
        if isinstance(path, str):
            yield Path(path).parent


def _model_folder(params: Params) -> Path:
    """The first folder that contains a model; raises SetupError where there is none."""
    model = _model_name(params)
    is_default = model == DEFAULT_MODEL
    path = params.get("model_path") or (
        os.environ.get(MODEL_FOLDER_VARIABLE) if is_default else None
    )
    folders = [Path(path)] if path else list(_cached_default()) if is_default else []
    for folder in folders:
        if (folder / "config.json").is_file() and any(
            (folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin")
        ):
            return folder
    where = f"not in {path!r}" if path else "not on this machine"
    raise SetupError(
        f"BERTScore: the model {model} is {where}; give its folder (config.json and weights) as "
        f"model_path of the metric or, for {DEFAULT_MODEL}, in {MODEL_FOLDER_VARIABLE}."
    )


def _num_layers(params: Params) -> int:
    text = params.get("num_layers")
    if text is None and _model_name(params) == DEFAULT_MODEL:
        return _DEFAULT_LAYERS
    if text is None or not text.isdecimal() or int(text) < 1:
        raise ConfigError(
            f"BERTScore: num_layers is {text!r} for the model {_model_name(params)}; the number "
            "of the layer to compare is needed, from 1 to the model's own number of layers."
        )
    return int(text)


def preflight(params: Params) -> None:
    """Raise SetupError or ConfigError unless this machine can score with these params."""
    if find_spec("bert_score") is None:
        raise SetupError(
            "BERTScore needs the package bert-score: install 'medhelm-spark[summarization]' and "
            "give the model's folder as model_path of the metric."
        )
    _num_layers(params)
    _model_folder(params)


@lru_cache(maxsize=1)
def _scorer(folder: str, num_layers: int) -> Callable[[list[str], list[str]], list[Triple]]:
    """The function that compares texts by the model; a worker process loads the model once."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # the import reads it
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=folder, num_layers=num_layers, batch_size=_BATCH_SIZE)

    def compare(predictions: list[str], references: list[str]) -> list[Triple]:
        columns = scorer.score(predictions, references, batch_size=_BATCH_SIZE)
        triples = zip(*(column.nan_to_num(0.0).tolist() for column in columns), strict=True)
        return [(p, r, f) for p, r, f in triples]

    return compare


def _without_braces(text: str) -> str:
    return text.removeprefix("{").removesuffix("}")


def _pairs(text: str, state: RequestState) -> list[tuple[str, str]]:
    return [
        (_without_braces(text), _without_braces(reference.text)) for reference in state.references
    ]


def _compare(pairs: Sequence[tuple[str, str]], params: Params) -> dict[tuple[str, str], Triple]:
    """Scores by (prediction, reference); the model compares each distinct pair once."""
    results = dict.fromkeys(pairs, _ZERO)
    nonempty = [pair for pair in results if pair[0].strip() and pair[1].strip()]
    if nonempty:
        compare = _scorer(str(_model_folder(params)), _num_layers(params))
        triples = compare([pair[0] for pair in nonempty], [pair[1] for pair in nonempty])
        results.update(zip(nonempty, triples, strict=True))
    return results


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    names = tuple(info.name for info in _infos(params))
    texts = [first_text(state) for state in states]
    by_state = [
        [] if text is None else _pairs(text, state)
        for state, text in zip(states, texts, strict=True)
    ]
    results = _compare([pair for pairs in by_state for pair in pairs], params)
    rows = []
    for text, pairs in zip(texts, by_state, strict=True):
        if pairs:
            best = zip(*(results[pair] for pair in pairs), strict=True)
            rows.append(scored(names, [max(column) for column in best]))
        else:
            status = ScoreStatus.NO_ANSWER if text is None else ScoreStatus.NO_REFERENCE
            rows.append(unscored(names, status))
    return rows


BERTSCORE = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=_infos({}),
    version="1",
    extra="summarization",
    renamed=_infos,
    preflight=preflight,
    loads=_model_name,
)

METRICS = {"bertscore": BERTSCORE}
