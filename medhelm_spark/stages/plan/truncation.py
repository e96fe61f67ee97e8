"""Which deployments have their prompts cut to a window, and by which tokenizer."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from medhelm_spark.adaptation.fit import Window
from medhelm_spark.domain.deployment import OnFailure
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines.model_files import file_sha256
from medhelm_spark.engines.tokens import token_spans, tokenizer_file
from medhelm_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """A window that is sent to executors: its size, and the tokenizer's file with its content."""

    tokens: int
    file: str
    content: bytes | None = field(default=None, repr=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its part of the prompts' ids, because it changes their text."""
        return (str(self.tokens), file_sha256(Path(self.file)))

    def window(self) -> Window:
        """The window, on a machine that has the file or its content."""
        return Window(tokens=self.tokens, spans=partial(token_spans, self.file, self.content))

    def with_content(self) -> "Truncation":
        """The same with the file's content, for a machine without the file."""
        return replace(self, content=Path(self.file).read_bytes())


def fit_of(run: ResolvedRun) -> Truncation | None:
    """The window that this run's prompts must fit into; None if they are not cut.

    Raises:
        ConfigError: there is no tokenizer, or no room beside the answer.
    """
    deployment, answer = run.deployment, run.adapter_spec.max_tokens
    tokens = deployment.window(answer)
    if deployment.action(FailureKind.TOO_LONG) is not OnFailure.TRUNCATE or tokens is None:
        return None
    where = f"deployment {deployment.name!r} with on_failure.too_long 'truncate'"
    if tokens < 1:
        raise ConfigError(f"{where} leaves no room for a prompt beside {answer} tokens of answer.")
    file = tokenizer_file(deployment)
    if file is None:
        raise ConfigError(
            f"{where} needs the model's tokenizer.json: name its folder as `tokenizer_name`."
        )
    return Truncation(tokens=tokens, file=str(file.absolute()))
