"""vLLM, the engine for GPUs, one per slot (see `slots` and `engine_lock`).

On a GPU vLLM computes in a process of its own, which ends with this one (`vllm_child`): requests
are rendered and answers read while the GPU works, and a closed engine leaves no memory behind. On
a CPU, where both would share the cores, it computes in this process. Nothing of a prompt is
logged; an error is passed on as its kind.
"""

import contextlib
import gc
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from medhelm_spark.domain.answer_form import choices_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import canonical_json, digest
from medhelm_spark.domain.request import (
    Completion,
    Decoding,
    FailureKind,
    Request,
    RequestResult,
    TokenLogprob,
)
from medhelm_spark.engines import slots, vllm_args, vllm_child, vllm_lora, wire
from medhelm_spark.engines.apart import has_marker, markers_of, tokens_apart
from medhelm_spark.engines.chat_template import template_note
from medhelm_spark.engines.engine import Destinations, EngineFactory, Gate, any_form, in_this_job
from medhelm_spark.engines.faults import FAULTS, fault
from medhelm_spark.engines.model_files import folder_sha256
from medhelm_spark.engines.outcome import answered, completion, failed
from medhelm_spark.engines.stream import RefusedError, feed, in_flight
from medhelm_spark.engines.vllm_args import VllmPlan
from medhelm_spark.engines.vllm_names import OLDEST, SERVING
from medhelm_spark.engines.vllm_reasoning import ParsedText, Reasoning
from medhelm_spark.engines.vllm_start import VllmStart
from medhelm_spark.engines.worker import end_process, task_context
from medhelm_spark.errors import EngineError, SetupError
from medhelm_spark.operating_system import usable_cpus

logger = logging.getLogger(__name__)

TOO_LONG_PARAMETERS = ("input_text", "input_tokens")
TOO_LONG_WORDS = "longer than the maximum model length"
NO_ANSWER = ("abort", "error")


class VllmEngine:
    """The engine `vllm`."""

    def __init__(self, deployment: Deployment, plan: VllmPlan) -> None:
        hashes = _checked_files(deployment, plan)
        self.own_process = plan.own_process
        self._llm: Any
        self._llm, self._undo_env = _loaded(deployment, plan)
        self._lora = vllm_lora.request(plan.lora) if plan.lora else None
        self._template_kwargs = dict(plan.template_kwargs)
        try:
            self._reasoning = _reasoning(deployment, self._llm, plan)
        except EngineError:
            self.close()
            raise
        self.fingerprint = _fingerprint(self._llm, plan, hashes)
        sequences = self._llm.llm_engine.vllm_config.scheduler_config.max_num_seqs
        self._limit = in_flight(sequences)
        self._api = plan.api or (wire.CHAT if _template(self._llm) else wire.COMPLETIONS)
        self._markers = markers_of(self._llm.get_tokenizer())
        self._seen_errors: set[str] = set()

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine; a little more is in flight than vLLM runs at once."""
        if self._llm is None:
            raise EngineError("this engine was closed: another model has taken its place.")
        return feed(requests, gate, self, limit=self._limit, fingerprint=self.fingerprint)

    def close(self) -> None:
        """Ends vLLM's own processes, frees the memory as far as one process can, undoes `env`."""
        if self._llm is None:
            return
        from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

        # It returns when the processes have ended; those that do not end by themselves are killed.
        self._llm.llm_engine.engine_core.shutdown()
        self._llm = None
        gc.collect()
        if not self.own_process:
            cleanup_dist_env_and_memory()
        self._undo_env()

    def add(self, request: Request) -> str:
        """See Stepped; vLLM renders a conversation as its own `LLM.chat` would."""
        turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        if not turns and self._api == wire.CHAT:
            turns = [{"role": "user", "content": request.text}]
        beside = {"use_tqdm": False, "lora_request": self._lora}
        try:
            params = _sampling(request.decoding, self._keeps_special_tokens)
            conversation = turns or [{"content": request.text}]
            if has_marker([turn["content"] for turn in conversation], self._markers):
                template = _template(self._llm) if turns else None
                tokens = tokens_apart(
                    self._llm.get_tokenizer(), conversation, template, self._template_kwargs
                )
                keys = self._llm.enqueue({"prompt_token_ids": tokens}, params, **beside)
            elif turns:
                options = {"chat_template_kwargs": self._template_kwargs or None}
                keys = self._llm.enqueue_chat([turns], params, **options, **beside)
            else:
                keys = self._llm.enqueue(request.text, params, **beside)
        except FAULTS as error:
            raise fault(_this_vllm(), error) from None
        except Exception as error:
            self._note(error)
            raise RefusedError(_kind(error)) from None
        # Outputs carry the number before the dash only.
        return str(keys[0]).partition("-")[0]

    def step(self) -> Sequence[tuple[str, Any]]:
        """See Stepped.

        Raises:
            EngineError: vLLM is dead; a Spark worker ends with it, so that its task's retry meets a
                fresh one. Or it lacks something that it calls.
        """
        try:
            outputs = self._llm.llm_engine.step()
        except FAULTS as error:
            raise fault(_this_vllm(), error) from None
        except Exception as error:
            sentence = f"vLLM died while it computed ({type(error).__name__})."
            if task_context():
                end_process(sentence)
            raise EngineError(sentence) from None
        return [(output.request_id, output) for output in outputs if output.finished]

    def abort(self, keys: Sequence[str]) -> None:
        """See Stepped."""
        with contextlib.suppress(Exception):  # a dead engine has nothing left to abort
            self._llm.llm_engine.abort_request(list(keys))

    def result(self, request: Request, output: Any, seconds: float) -> RequestResult:
        """See Stepped."""
        sequences = sorted(output.outputs, key=attrgetter("index"))
        if any(sequence.finish_reason in NO_ANSWER for sequence in sequences):
            return failed(request, FailureKind.ENGINE_ERROR, self.fingerprint)
        try:
            texts = [self._parsed(request, output, sequence.text) for sequence in sequences]
        except Exception as error:  # of vLLM's parser, at what this model wrote
            self._note(error)
            return failed(request, FailureKind.INVALID_REPLY, self.fingerprint)
        return answered(
            request,
            [_completion(sequence, each) for sequence, each in zip(sequences, texts, strict=True)],
            self.fingerprint,
            prompt_tokens=len(output.prompt_token_ids or ()),
            completion_tokens=sum(len(sequence.token_ids) for sequence in output.outputs),
            cached_tokens=output.num_cached_tokens,
            request_time=seconds,
        )

    def _parsed(self, request: Request, output: Any, written: str) -> ParsedText:
        is_turn = bool(request.messages) or self._api == wire.CHAT
        if self._reasoning is None or not is_turn:
            return ParsedText(written, None)
        return self._reasoning.split(written, list(output.prompt_token_ids or ()))

    @property
    def _keeps_special_tokens(self) -> bool:
        return self._reasoning is not None and self._reasoning.keeps_special_tokens

    def _note(self, error: Exception) -> None:
        """Logs each kind of error once: its type only, for its text may quote the request."""
        label = type(error).__name__
        if label not in self._seen_errors:
            self._seen_errors.add(label)
            logger.warning("vLLM did not take or read a request: %s", label)


def _kind(error: Exception) -> FailureKind:
    too_long = getattr(error, "parameter", None) in TOO_LONG_PARAMETERS
    if too_long or TOO_LONG_WORDS in str(error):
        return FailureKind.TOO_LONG
    from vllm import exceptions

    # Checks of a request raise these; anything else is vLLM's own trouble. Before 0.29 there was no
    # class for all of them, and one of those that there were is no ValueError.
    names = ("VLLMClientError", "VLLMNotFoundError")
    kinds = tuple(getattr(exceptions, name) for name in names if hasattr(exceptions, name))
    refused = isinstance(error, (*kinds, ValueError))
    return FailureKind.INVALID_REQUEST if refused else FailureKind.ENGINE_ERROR


def _sampling(decoding: Decoding, keeps_special_tokens: bool = False) -> Any:
    """Every parameter explicit: vLLM would take what is missing from the model's own folder."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    schema = decoding.response_schema
    return SamplingParams(
        n=decoding.num_completions,
        max_tokens=decoding.max_tokens,
        temperature=decoding.temperature,
        top_p=decoding.top_p,
        stop=list(decoding.stop_sequences),
        seed=decoding.seed,
        # The token's own probability always comes with it; others are not kept.
        logprobs=0 if decoding.logprobs else None,
        structured_outputs=StructuredOutputsParams(**_structured(schema)) if schema else None,
        skip_special_tokens=not keeps_special_tokens,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


@lru_cache(maxsize=64)
def _structured(schema: str) -> dict[str, Any]:
    choices = choices_of(schema)
    return {"choice": list(choices)} if choices else {"json": json.loads(schema)}


def _completion(output: Any, parsed: ParsedText) -> Completion:
    tokens = [
        TokenLogprob(text=logprobs[token].decoded_token or "", logprob=logprobs[token].logprob)
        for token, logprobs in zip(output.token_ids, output.logprobs or (), strict=False)
    ]
    return completion(parsed.text, output.finish_reason, thinking=parsed.thinking, tokens=tokens)


def _checked_files(deployment: Deployment, plan: VllmPlan) -> Mapping[str, str]:
    """The hashes of weights and adapter, for the fingerprint; a name of the hub has none."""
    found = {}
    lora = Path(plan.lora).expanduser() if plan.lora else None
    for folder, promised, name in (
        (plan.folder, plan.weights_sha256, "weights_sha256"),
        (lora, plan.lora_sha256, "lora_sha256"),
    ):
        if folder is None:
            continue
        found[name] = folder_sha256(folder)
        if promised and promised != found[name]:
            raise EngineError(
                f"deployment {deployment.name!r}: the folder {folder} has sha256 {found[name]}; "
                f"args.{name} promises {promised}."
            )
    return found


def _reasoning(deployment: Deployment, llm: Any, plan: VllmPlan) -> Reasoning | None:
    name = plan.engine.get("reasoning_parser")
    try:
        return Reasoning(name, llm, plan.template_kwargs) if name else None
    except EngineError as error:
        raise EngineError(f"deployment {deployment.name!r}: {error}") from None


def _this_vllm() -> str:
    return f"vLLM {vllm_args.installed_version() or 'of an unknown version'}"


def _set_env(values: Mapping[str, str]) -> Callable[[], None]:
    """Set variables of this process; the returned function restores them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)

    def undo() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return undo


def _loaded(deployment: Deployment, plan: VllmPlan) -> tuple[Any, Callable[[], None]]:
    """The engine, under the plan's variables, and what undoes these."""
    with contextlib.ExitStack() as stack:
        start = VllmStart()
        stack.callback(start.close)
        stack.callback(_set_env({**plan.env, **start.env}))
        with start.takes_reasons():
            llm = _load(deployment, plan, start)
        return llm, stack.pop_all().close


def _load(deployment: Deployment, plan: VllmPlan, start: VllmStart) -> Any:
    try:
        if threads := plan.env.get(vllm_args.THREADS):
            vllm_args.use_threads(int(threads))
        if vllm_args.is_cpu_build():
            vllm_args.keep_memory()
        vllm_child.silence()
        from vllm import LLM

        return LLM(**plan.engine)
    except Exception as error:
        # No data has been seen yet: the text is about configuration and machine.
        reason = start.reason(error)
        raise EngineError(f"deployment {deployment.name!r}: vLLM did not start: {reason}") from None


def _template(llm: Any) -> str | None:
    """The chat template that vLLM takes: the given, processor's or tokenizer's one, or its own.

    Mistral's tokenizers render by themselves, and have none to show.
    """
    tokenizer, config = llm.get_tokenizer(), llm.llm_engine.vllm_config.model_config
    if "Mistral" in type(tokenizer).__name__:
        return str(llm.chat_template or type(tokenizer).__name__)
    from vllm.renderers.hf import resolve_chat_template

    template: str | None = resolve_chat_template(
        tokenizer, llm.chat_template, None, model_config=config
    )
    return template


def _fingerprint(llm: Any, plan: VllmPlan, hashes: Mapping[str, str]) -> str:
    import vllm
    from vllm.platforms import current_platform

    config = llm.llm_engine.vllm_config
    model, template = config.model_config, _template(llm)
    identity = {
        "engine": "vllm",
        "version": vllm.__version__,
        "model": model.model if "weights_sha256" not in hashes else "",
        "revision": getattr(model.hf_config, "_commit_hash", None) or model.revision or "",
        **hashes,
        "chat_template": digest(canonical_json(template))[:8] if template else "",
        "chat_template_kwargs": plan.template_kwargs or "",
        "reasoning_parser": plan.engine.get("reasoning_parser") or "",
        "speculative_method": (plan.engine.get("speculative_config") or {}).get("method") or "",
        "dtype": str(model.dtype).removeprefix("torch."),
        "quantization": model.quantization or "",
        "max_model_len": model.max_model_len,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
        "prefix_caching": bool(config.cache_config.enable_prefix_caching),
        "batch_invariant": bool(vllm.envs.VLLM_BATCH_INVARIANT),
        "device": str(current_platform.get_device_name()),
    }
    return canonical_json({key: value for key, value in identity.items() if value != ""})


def _known(deployment: Deployment) -> frozenset[str]:
    if not vllm_args.is_installed():
        raise SetupError(
            f"deployment {deployment.name!r} needs the package vllm, which is not installed here; "
            "install medhelm-spark[vllm] on the machines with GPUs (a CPU build of vLLM will do)."
        )
    installed = vllm_args.installed_version()
    if vllm_args.is_too_old(installed):
        oldest = ".".join(map(str, OLDEST))
        raise SetupError(
            f"deployment {deployment.name!r} needs vLLM {oldest} or newer; {installed} is "
            "installed here. Nothing was sent."
        )
    return vllm_args.known_arguments()


def gpus(deployment: Deployment) -> int | None:
    """How many GPUs the engine takes; None means all that Spark gives the task.

    A driver asks it too, which need not have vLLM.
    """
    return vllm_args.gpus_requested(deployment)


def check(deployment: Deployment) -> None:
    """Refuses a missing package, wrong arguments, a missing folder and a machine without GPU."""
    known = _known(deployment)
    plan = vllm_args.plan(deployment, known, variables=vllm_args.known_variables())
    if plan.folder and not (plan.folder / "config.json").is_file():
        raise SetupError(
            f"deployment {deployment.name!r}: args.model names the folder {plan.folder}, and there "
            "is no config.json in it; give a model's folder as the Hugging Face hub lays it out."
        )
    if plan.lora and not (Path(plan.lora).expanduser() / vllm_lora.CONFIG).is_file():
        raise SetupError(
            f"deployment {deployment.name!r}: args.lora names the folder {plan.lora}, and there is "
            f"no {vllm_lora.CONFIG} in it; give an adapter's folder as the package peft writes it."
        )
    requested = vllm_args.gpus_requested(deployment)
    seen = (slots.assigned_gpus(), os.environ.get(slots.VISIBLE), slots.listed_gpus())
    if requested != 0 and not slots.gpu_groups(*seen, requested):
        few = slots.too_few(*seen, requested)
        raise SetupError(f"deployment {deployment.name!r} {few}; or install a CPU build of vLLM.")


def build(deployment: Deployment, max_in_flight: int) -> VllmEngine:
    """Loads the model; how much is in flight follows from `max_num_seqs` instead."""
    known = _known(deployment)
    devices = 0 if vllm_args.is_cpu_build() else len(slots.bound() or ()) or 1
    variables = vllm_args.known_variables()
    plan = vllm_args.plan(deployment, known, devices, cpus=usable_cpus(), variables=variables)
    return VllmEngine(deployment, plan)


def rendering(deployment: Deployment) -> str:
    """Which chat template the model would be asked with, from its arguments and folder."""
    args, model = deployment.args, str(deployment.args.get("model", ""))
    folder = Path(model) if vllm_args.is_path(model) else None
    return template_note(folder, args.get("chat_template"), args.get("api"))


ENGINE = EngineFactory(
    answer_forms=any_form,
    needs_worker=True,
    build=build,
    check=check,
    exclusive=True,
    gpus=gpus,
    locality=in_this_job,
    destinations=Destinations.IN_PROCESS,
    hub_names=vllm_args.hub_names,
    check_arguments=vllm_args.check_arguments,
    serving=SERVING,
    rendering=rendering,
)

ENGINES = {"vllm": ENGINE}
