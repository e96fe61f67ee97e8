r"""Which option a model chose, read from what it wrote: strongest evidence first.

1. The whole text is a label or an option's text.
2. A field of a JSON object that asks for the choice.
3. A statement of the answer: final ones ("Final answer: B", `\boxed{B}`), then others ("The answer
   is (B)", "I would choose B", "B is correct"). Of several the last counts, since models think
   aloud; one that is denied, asked, conditional or somebody else's does not count.
4. An option alone on a line or as a sentence; then the first line, where it answers and does not
   begin a discussion of the options; then the only line of a list that is marked as correct.
5. Weaker words ("so, B", "it is B", "the answer could be B"), then the labels mentioned as such
   ("(B)", "option B"), then in a text of one sentence the options' texts: if they name one option.

Where the strongest evidence names several options the text is unreadable, and so is a text without
evidence. In a text that ends in mid-sentence or was cut, only statements count, and an answer at
its beginning. Where a base model goes on with a next question, the text before that is read.
"""

from collections.abc import Callable

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.json_fields import (
    loose_values,
    members,
    objects,
    scalars,
    without_examples,
)
from medhelm_spark.adaptation.lines import bare_label, first_line, last_line, only_line
from medhelm_spark.adaptation.mentions import is_discussed, mentions, texts_in
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.options import Options
from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.statements import (
    Certainty,
    agreed,
    conditional_statement,
    final_statement,
    last_statement,
    statements,
)

Reader = Callable[[Reply], NamedOption | None]


def read_choice(text: str, options: Options, *, is_cut: bool = False) -> str | None:
    """The result of the option that a model's text chooses; None where it cannot be read.

    In a text that was cut at its token limit weak evidence (5.) does not count, because what would
    have followed is unknown.
    """
    reply = cues.SPEAKER.sub("", plain(text))
    if whole := _whole(reply, options) or options.whole(cues.LEAD.sub("", reply)):
        return whole
    if "{" in text and (value := _in_json(text, options)):
        return value
    turn = cues.NEXT_TURN.search(reply)
    first_turn = reply[: turn.start()] if turn else ""
    if first_turn and (result := _read(Reply(first_turn, options, is_cut=False))):
        return result
    return _read(Reply(reply, options, is_cut=is_cut or _is_unfinished(reply)))


def _whole(text: str, options: Options) -> str | None:
    """The option that is the whole text: its label, its text, or both."""
    if whole := options.whole(text):
        return whole
    if text[:80].count(",") > 1:  # "No, no, no,"
        results = {options.whole(part) for part in text.split(",") if part.strip()}
        if len(results) == 1:
            return results.pop()
    reply = Reply(text, options, is_cut=False)
    named = reply.named_at(0)
    is_all = named and named.is_text and not text[named.end :].strip(" \n.,;:!?\"'()[]{}<>")
    return named.result if named and is_all else None


def _is_unfinished(text: str) -> bool:
    """Whether a text ends in mid-sentence: at a function word, or after a long clause."""
    tail = text[-200:].lower()
    if cues.FUNCTION_WORD.search(tail):
        return True
    return tail[-1:].isalnum() and len(cues.CLAUSE_END.split(tail)[-1].split()) > _LONG_CLAUSE


def _read(reply: Reply) -> str | None:
    for reader in _READERS_OF_CUT if reply.is_cut else _READERS:
        if named := reader(reply):
            return named.result
    return None


def read_value(value: str, options: Options) -> str | None:
    """The option that a value names, which was taken out of a text as its answer."""
    text = plain(value)
    if whole := _whole(text, options):
        return whole
    if text[:1] in ("[", "{") and (parts := scalars(value)):
        results = {result for part in parts if (result := read_value(part, options))}
        return results.pop() if len(results) == 1 else None
    reply = Reply(text, options, is_cut=False)
    named = reply.named_at(0)
    if named and not reply.is_refuted(named):
        return named.result
    return _read(reply)


def _in_json(text: str, options: Options) -> str | None:
    """The option under the best matching name in the JSON objects of a text.

    Where no name asks for the choice, the only option that is the whole value of a member.
    """
    values: dict[int, list[tuple[int, str]]] = {}
    parsed = objects(text)
    whole_members = [(at, *member) for at, object_ in parsed for member in members(object_)]
    for at, name, value in whole_members if parsed else loose_values(text):
        if (rank := _rank(name)) is not None and len(value) < _LONGEST_VALUE:
            values.setdefault(rank, []).append((at, value))
    unnamed = values.pop(0, [])
    for _, ranked in sorted(values.items(), reverse=True):
        if read := without_examples(text, ranked, lambda value: bool(read_value(value, options))):
            return read_value(read[-1], options)
    if values:
        return None
    whole = without_examples(text, unnamed, lambda value: bool(_whole(plain(value), options)))
    results = {_whole(plain(value), options) for value in whole}
    return results.pop() if len(results) == 1 else None


def _rank(name: str) -> int | None:
    """How well a member's name matches the choice, 0 to 3; None where it is for something else."""
    low = cues.CAMEL.sub("_", name).lower()
    if cues.OTHER_KEY.search(low):
        return None
    if not cues.KEY.fullmatch(low):
        return 0
    return 3 if "final" in low else 2 if cues.ANSWER_KEY.search(low) else 1


def _weak(reply: Reply) -> NamedOption | None:
    named = [
        statement.named
        for statement in statements(reply, (cues.WEAK,))
        if statement.certainty >= Certainty.SUPPOSED
    ]
    return agreed([option for option in named if not reply.is_refuted(option)])


def _mentioned(reply: Reply) -> NamedOption | None:
    return agreed(list(mentions(reply)))


def _in_one_sentence(reply: Reply) -> NamedOption | None:
    begun = reply.named_at(0)
    if cues.SENTENCE.search(reply.text) or (begun and is_discussed(reply, begun)):
        return None
    if cues.OPEN.search(reply.low):
        return None
    return agreed(texts_in(reply, len(reply.text)))


_LONG_CLAUSE = 12
_LONGEST_VALUE = 4_000
_READERS: tuple[Reader, ...] = (
    final_statement,
    last_statement,
    bare_label,
    last_line,
    first_line,
    only_line,
    conditional_statement,
    _weak,
    _mentioned,
    _in_one_sentence,
)
_READERS_OF_CUT: tuple[Reader, ...] = (final_statement, last_statement, bare_label, first_line)
