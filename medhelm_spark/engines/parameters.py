"""The parameters of a request that a server may refuse, and what of a deployment cures it: pure."""

import re
from collections.abc import Collection, Sequence

_TEXT = {"messages", "model", "prompt"}
_AS_REASONING = (
    "args.reasoning: true sends max_completion_tokens instead of max_tokens, and no temperature, "
    "top_p or stop"
)
CURES = {
    "max_tokens": _AS_REASONING,
    "temperature": _AS_REASONING,
    "top_p": _AS_REASONING,
    "stop": _AS_REASONING,
    "response_format": "args.structured_output: false sends none",
    "logprobs": "args.logprobs: false asks for none",
    "top_logprobs": "args.logprobs: false asks for none",
}


def refused(sent: Collection[str], param: object, message: str) -> tuple[str, ...]:
    """Which of the parameters that were sent a server refuses, in the order it names them.

    `param` is the name that the error gives, `message` its sentence: it is only looked at. A name
    that is a word of English too counts in quotes or as "parameter NAME" alone.

    >>> refused({"seed", "stop"}, None, "Unknown parameter: 'seed'.")
    ('seed',)
    >>> refused({"seed", "stop"}, None, "please stop")
    ()
    """
    names = sorted(set(sent) - _TEXT)
    if isinstance(param, str) and param in names:
        return (param,)
    found = [(match.start(), name) for name in names if (match := _named(name).search(message))]
    return tuple(name for _, name in sorted(found))


def _named(name: str) -> re.Pattern[str]:
    form = rf"\b{name}\b" if "_" in name else rf"(?:[`'\"]|parameters?:? ){name}\b"
    return re.compile(form, re.IGNORECASE)


def cure(parameters: Sequence[str]) -> str:
    """What to set in the deployment, so that the server takes what is sent."""
    first, *others = parameters
    if others:
        return f"args.omit: [{others[-1]}] leaves one out"
    leaving_out = f"args.omit: [{first}] leaves it out"
    known = CURES.get(first)
    return f"{known}; {leaving_out}" if known else leaving_out
