r"""Which option a model chose, read from what it wrote: strongest evidence first.

1. The whole text is a label or an option's text.
2. A field of a JSON object that asks for the choice.
3. A statement of the answer: final ones ("Final answer: B", `\boxed{B}`), then others ("The answer
   is (B)", "I would choose B", "B is correct"). Of several the last counts, since models think
   aloud; one that is denied, asked, conditional or somebody else's does not count.
4. An option alone on a line or as a sentence; then the first line, where it answers and does not
   begin a discussion of the options; then the only line of a list that is marked as correct, or
   that ends in yes where the others end in no; then what a reasoning comes to, and the exception
   where the question asks for it (`conclusions`).
5. Weaker words ("so, B", "it is B", "the answer could be B"), then the labels mentioned as such
   ("(B)", "option B"), then in a text of one sentence the options' texts: if they name one option.
6. Where nothing of that names one, what `weakest_evidence` reads, and then what the text settles
   on by the stance of its clauses (`settled`).

Where the strongest evidence names several options the text is unreadable, and so is a text without
evidence. In a text that ends in mid-sentence or was cut, only statements count, and an answer at
its beginning. An answer that is taken back does not count. Where a base model goes on with a next
question, the text before that is read.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from medhelm_spark.adaptation import answer_patterns as patterns, choice_patterns as own
from medhelm_spark.adaptation.abbreviations import spelled_out
from medhelm_spark.adaptation.conclusion_patterns import CLAUSE_ENDS, SO
from medhelm_spark.adaptation.conclusions import conclusion, dropped, exception, names_another
from medhelm_spark.adaptation.echoes import in_words_asked, restated
from medhelm_spark.adaptation.json_choice import choice_in, read_json
from medhelm_spark.adaptation.json_fields import parsed_value
from medhelm_spark.adaptation.lines import (
    bare_label,
    final_line,
    first_line,
    last_line,
    only_line,
    only_yes,
    ticked_line,
)
from medhelm_spark.adaptation.mentions import is_discussed, is_inside, mentions, texts_in
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.odd_one import odd_one
from medhelm_spark.adaptation.options import Options
from medhelm_spark.adaptation.ordinals import with_english_ordinals
from medhelm_spark.adaptation.own_words import in_own_words
from medhelm_spark.adaptation.parts import of_parts
from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.adaptation.referring import referred
from medhelm_spark.adaptation.reply import Reply, asking_sentence, asks_of
from medhelm_spark.adaptation.settled import settled
from medhelm_spark.adaptation.stance_words import OPEN_AFTER, TOPIC
from medhelm_spark.adaptation.statements import (
    Certainty,
    agreed,
    certainty_of,
    conditional_statement,
    final_statement,
    last_statement,
    statements,
)
from medhelm_spark.adaptation.tables import only_row
from medhelm_spark.adaptation.turns import first_turn, until_like_question, until_mark
from medhelm_spark.adaptation.unfinished import is_unfinished
from medhelm_spark.adaptation.weakest_evidence import weakest_evidence
from medhelm_spark.adaptation.wider_option import widest

Reader = Callable[[Reply], NamedOption | None]


def read_choice(
    text: str, options: Options, *, question: str = "", is_cut: bool = False
) -> str | None:
    """The result of the option that a model's text chooses; None where it cannot be read.

    In a text that was cut at its token limit weak evidence (5.) does not count, because what would
    have followed is unknown. Where the question asks for the least or the wrong option, that one is
    the answer.
    """
    written = text.rpartition("assistantfinal")[2]  # gpt-oss's channels, without their marks
    text = until_mark(written)
    is_cut = is_cut and text == written
    normal = _normal(text, options, is_cut=is_cut)
    reply = until_like_question(normal, question)
    is_cut = is_cut and reply == normal
    asking = asking_sentence(question)
    asks = replace(asks_of(asking), question=question)
    begun = _begun_object(text)
    if not begun and (
        whole := _whole(reply, options) or options.whole(patterns.LEAD.sub("", reply))
    ):
        return whole
    if not options.are_numbers and not options.are_labels:
        reply = own.BEFORE_LABEL.sub("", reply)  # "A: C" is an answer, "1. C" a line
    if own.MEMBER.search(text):
        in_json = choice_in(
            text, options, asking, lambda value: read_value(value, options, question)
        )
        if in_json.result:
            return in_json.result
        left = _begun_object(in_json.prose)
        is_begun = left is not None and left[0][0] == "{"
        left = left if is_cut else None
        is_cut = is_cut or is_begun  # the rest of the object is unknown
        if left or in_json.prose != text:
            reply = plain(in_json.prose[: left.start()] if left else in_json.prose)
    turn = first_turn(reply)
    if turn and (result := _read(Reply(turn, options, is_cut=False, asks=asks))):
        return result
    is_cut = is_cut and not own.CLOSED.search(text[-200:])
    is_cut = is_cut or is_unfinished(reply, options)
    prose = Reply(reply, options, is_cut=is_cut, asks=asks)
    is_open = is_cut or _is_undecided(prose)
    if (
        (result := of_parts(prose) or _read(prose))
        or is_open
        or _after_taken_back(prose) is not None
    ):
        return result
    if result := weakest_evidence(prose, text, _strongest) or in_words_asked(prose):
        return result
    return settled(prose) or in_own_words(prose)


def _normal(text: str, options: Options, *, is_cut: bool) -> str:
    """The plain text with the options' own words where it writes them in another way."""
    reply = own.OFFER.sub("", own.SPEAKER.sub("", plain(text)), count=1)
    reply = own.CLOSING_OFFER.sub("", own.OFFER_ELSEWHERE.sub("", reply)).strip()
    reply = _without_disclaimer(reply)
    reply = own.RANGE.sub(_all_of, reply)
    reply = spelled_out(with_english_ordinals(reply), tuple(options.texts))
    reply = options.with_lists(options.with_numbers(options.with_spelling(reply)))
    if {"yes", "no"} <= options.texts.keys():
        reply = _with_english_words(reply, options)
    if options.are_numbers:
        reply = _without_numbering(own.GRADE.sub("", reply))
    return options.completed(reply) if is_cut else reply


def _without_disclaimer(text: str) -> str:
    """The text behind a disclaimer, where it turns to the question: "I'm no doctor. That said,"."""
    turn = own.TO_QUESTION.search(text, 0, own.LONGEST_DISCLAIMER)
    is_disclaimed = turn and own.DISCLAIMER.search(text, 0, turn.start())
    return text[turn.end() :] if turn and is_disclaimed else text


def _all_of(match: re.Match[str]) -> str:
    """The labels of a range: "A, B, C" for "A–C"."""
    labels = [chr(sign) for sign in range(ord(match[1]), ord(match[2]) + 1)]
    return ", ".join(labels) if len(labels) > len("AB") else match[0]


def _begun_object(text: str) -> re.Match[str] | None:
    """A JSON object that the text ends in; looked for only as far back as one can begin."""
    return own.OBJECT_BEGUN.search(text, max(0, len(text) - own.LONGEST_BEGUN))


def _with_english_words(text: str, options: Options) -> str:
    """The text with "yes", "no" and "maybe" for other languages' words that are answers."""

    def translated(match: re.Match[str]) -> str:
        word = match.lastgroup or ""
        is_own = match[word].lower() in options.texts or word not in options.texts
        return match[0] if is_own else f"{match['before']}{word}"

    return patterns.WORD_ELSEWHERE.sub(translated, text)


def _without_numbering(text: str) -> str:
    """The text without the numbers of a list's lines, if two lines at least are numbered."""
    numbers = {match[1] for match in own.NUMBERED.finditer(text)}
    return own.NUMBERED.sub("", text) if {"1", "2"} <= numbers else text


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
    is_all = named and named.is_text and not text[named.end :].strip(" \n.,;:!\"'()[]{}<>")
    return named.result if named and is_all else None


def _is_undecided(reply: Reply) -> bool:
    """Whether the last sentence of a long or open text says that it cannot settle on an option."""
    if reply.is_cut or not any(word in reply.low[-200:] for word in own.UNDECIDING):
        return False
    begin = reply.sentence_start(len(reply.low) - 2)
    if begin == 0:
        return False
    found = own.UNDECIDED.search(reply.low, begin)
    if found is None or own.UNDECIDED_BUT.search(reply.low, begin):
        return False
    return not any(option in reply.low[found.end() :] for option, _ in reply.options.longest_first)


def _read(reply: Reply) -> str | None:
    """What the strongest evidence names; what follows after the text takes itself back is first."""
    if _is_undecided(reply):
        return None
    if closing := final_line(reply) or referred(reply):
        return closing.result
    retracted = [match.end() for match in patterns.RETRACTED.finditer(reply.low)]
    if any(word in reply.low for word in own.RESTARTING):
        retracted += [match.end() for match in own.RESTARTED.finditer(reply.low)]
        retracted.sort()
    if retracted:
        after = reply.text[retracted[-1] :].lstrip(" .,:;!")
        rest = Reply(after, reply.options, is_cut=reply.is_cut, asks=reply.asks)
        if result := _strongest(rest) or settled(rest):
            return result
        if reply.is_cut or OPEN_AFTER.search(rest.low):
            return None
    return _strongest(_after_taken_back(reply) or reply)


def _after_taken_back(reply: Reply) -> Reply | None:
    """What follows where a text takes its answer back; None where it does not, or keeps it."""
    end = max((match.end() for match in own.TAKEN_BACK.finditer(reply.low)), default=-1)
    if end < 0 or own.KEPT.search(reply.low, end):
        return None
    rest = reply.text[end:].lstrip(" .,:;!")
    return Reply(rest, reply.options, is_cut=reply.is_cut, asks=reply.asks)


def _strongest(reply: Reply) -> str | None:
    for reader in _READERS_OF_CUT if reply.is_cut else _READERS:
        if named := reader(reply):
            return named.result if reader in _SURE else widest(reply, named)
    return None


def read_value(value: str, options: Options, question: str = "") -> str | None:
    """The option that a value names, which was taken out of a text as its answer."""
    text = options.with_spelling(plain(value))
    if whole := _whole(text, options):
        return whole
    if text.isdigit():
        return None
    if text[:1] in ("[", "{") and (parsed := parsed_value(value)):
        return read_json(parsed, options, lambda inner: read_value(inner, options, question))
    reply = Reply(text, options, is_cut=False, asks=asks_of(asking_sentence(question)))
    named = reply.named_at(0)
    if named and not reply.is_refuted(named) and not reply.is_question(named):
        return named.result
    return _read(reply) or weakest_evidence(reply, value, _strongest)


def _weak(reply: Reply) -> NamedOption | None:
    named = [
        statement.named
        for pattern in (patterns.WEAK, patterns.WEAK_LEAD)
        for statement in statements(reply, (pattern,))
        if statement.certainty >= Certainty.SUPPOSED
        and not (pattern is patterns.WEAK_LEAD and _is_topic(reply, statement.named))
    ]
    found = agreed(
        [
            option
            for option in named
            if not reply.is_refuted(option)
            and not _is_passed_by(reply, option)
            and not reply.is_absent(option.start)
            and not is_inside(reply, option)
        ]
    )
    if found and (names_another(reply, found, found.end) or found.result in dropped(reply)):
        return None
    return found


def _is_passed_by(reply: Reply, named: NamedOption) -> bool:
    """Whether a sentence goes on to discuss a label, or leaves it ("so A would", "so A... no")."""
    is_left = patterns.DOUBT_NEXT.match(reply.low, named.end) is not None
    is_said = patterns.RIGHT_NEXT.match(reply.low, named.end) is not None
    return is_left or (not named.is_text and not is_said and is_discussed(reply, named))


def _is_topic(reply: Reply, named: NamedOption) -> bool:
    """Whether words go on about an option after a lead: "in adults, aspirin thins the blood"."""
    is_word = reply.low[named.start : named.end] in ("yes", "no", "maybe")
    is_ended = patterns.SENTENCE_ENDED.match(reply.low, named.end) is not None
    return not is_ended if is_word else is_discussed(reply, named)


def _concluding(reply: Reply) -> NamedOption | None:
    """The last statement; what the reasoning comes to later, where that only calls one right."""
    stated = last_statement(reply)
    if stated is None or not patterns.IS_RIGHT.match(reply.low, stated.end):
        return stated
    end = reply.sentence_end(stated.end)
    if reply.sentence_start(stated.start) <= _ANSWER_FIRST or end >= len(reply.low) - 1:
        return stated
    concluded = conclusion(reply)
    is_later = concluded and concluded.start > end
    return concluded if is_later else stated


def _mentioned(reply: Reply) -> NamedOption | None:
    found = agreed(list(mentions(reply)))
    if found and (names_another(reply, found) or found.result in dropped(reply)):
        return None
    return found


def _concluded_where_cut(reply: Reply) -> NamedOption | None:
    """What the sentences come to by its text, with its label behind it, and no other option."""
    mentioned = _mentioned(reply)
    match = own.TEXT_AND_LABEL.match(reply.low) if mentioned else None
    if mentioned and match and own.OTHERS.search(reply.low, mentioned.end):
        is_own = match.end() == mentioned.start
        is_own = is_own and reply.options.texts.get(match[1]) == mentioned.result
        certainty = certainty_of(reply, *match.span(1), mentioned)
        return mentioned if is_own and certainty >= Certainty.SUPPOSED else None
    named = conclusion(reply) if mentioned else None
    if not named or not mentioned or named.result != mentioned.result or not named.is_text:
        return None
    is_beside = 0 < mentioned.start - named.end < _BESIDE
    is_drawn = SO.search(reply.low[reply.sentence_start(named.start) : named.start])
    return named if is_beside and is_drawn and reply.holds_where_cut(mentioned) else None


def _drawn_where_cut(reply: Reply) -> NamedOption | None:
    """What finished sentences draw, in a text that turns to nothing else after: "so this is B"."""
    if not reply.options.labels:
        return None
    found = (reply.named_at(match.end()) for match in own.DRAWN_WHERE_CUT.finditer(reply.low))
    return agreed(
        [
            named
            for named in found
            if named
            and reply.holds_where_cut(named)
            and CLAUSE_ENDS.match(reply.low, named.end)
            and reply.sentence_end(named.end) < len(reply.low) - 1
            and not (reply.is_refuted(named) or reply.is_denied(named.start))
            and certainty_of(reply, named.start, named.start, named) >= Certainty.SUPPOSED
        ]
    )


def _in_one_sentence(reply: Reply) -> NamedOption | None:
    begun = reply.named_at(0)
    if patterns.SENTENCE.search(reply.text):
        return None
    if begun and is_discussed(reply, begun) and not reply.is_refuted(begun):
        return None
    if patterns.OPEN.search(reply.low) or reply.low.endswith("?"):
        return None
    if concession := patterns.CONCESSION.search(reply.low):
        main = Reply(reply.text[: concession.start()], reply.options, is_cut=False, asks=reply.asks)
        result = _strongest(main) or weakest_evidence(main, main.text, _strongest)
        return NamedOption(result, 0, concession.start())
    named = agreed(texts_in(reply, len(reply.text)))
    is_out = named and (
        TOPIC.search(reply.low, 0, named.start) or own.WRONG_TO.search(reply.low, 0, named.start)
    )
    if is_out:
        return None
    if named and named.result in dropped(reply):
        return None
    is_negative = named and own.NEGATIVE_RELATIVE.search(reply.low, 0, named.start)
    return None if is_negative and not reply.asks.for_worst else named


_ANSWER_FIRST = 20
"""Characters before the sentence of the statement, in a reply that begins with its answer."""
_BESIDE = 12
"""Characters between an option's text and its label in brackets."""
_READERS: tuple[Reader, ...] = (
    final_statement,
    _concluding,
    ticked_line,
    bare_label,
    last_line,
    exception,
    odd_one,
    first_line,
    only_line,
    only_row,
    only_yes,
    restated,
    conclusion,
    conditional_statement,
    _weak,
    _mentioned,
    _in_one_sentence,
)
_SURE = frozenset(_READERS[: _READERS.index(conclusion)])
_READERS_OF_CUT: tuple[Reader, ...] = (
    final_statement,
    last_statement,
    bare_label,
    first_line,
    ticked_line,
    only_row,
    restated,
    _concluded_where_cut,
    _drawn_where_cut,
)
