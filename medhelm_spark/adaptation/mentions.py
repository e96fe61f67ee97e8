"""The options that a text mentions, and whether it only discusses them."""

import re
from collections.abc import Iterator

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.words import RIGHT

_MENTION = re.compile(
    rf"(?=[(\[][^\W_][)\]])|\b(?:{patterns.OPTION}) (?=[\"'(]{{0,4}}\w\b)|选项",
)
_MET_WITH = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )met with\b")
_PREFERRED = re.compile(
    r"[\"')\]]{0,4} (?:(?:should|must|needs to|has to)(?: \w+ly)? be |(?:is|was|are"
    r"|would be)(?: \w+ly)? (?:the (?:\w+ )?(?:drug|treatment|therapy|management|best|correct|right"
    r"|answer|diagnosis|cause|choice|step|option)|indicated|preferred|recommended|appropriate"
    r"|needed|required|first-line|most|best|better|correct|right))|[\"')\]]{0,4} is what (?:i"
    r"|we) would"
    rf"|[^.;!?\n]{{0,60}}\b(?:{RIGHT} (?:option|choice|answer))"
)
_OWN_LABEL = re.compile(r" \((\w)\)")
_LIKEWISE = re.compile(
    r"\b(?:before|prior to|ahead of) \Z"
    r"|\b(?:so|nor|neither) (?:is|was|are|were|do|does|did|has|have|can|would|should) \Z"
)
_LIST_JOINT = re.compile(r"[\"')]{0,3}(?:,? (?P<and>and|or|nor) |, )(?:(?:the|an?) )?[\"'(]{0,3}")
_DISCUSSED = re.compile(
    r"[\"')\]]{0,4} (?!because|since|i (?:think|guess|believe|suppose)\b)[^\W\d]"
)

_LONGEST_ARTICLE, _FEWEST_SUBJECTS = 4, 3
_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})


def is_discussed(reply: Reply, named: NamedOption) -> bool:
    """Whether what follows an option discusses it, as in "B would".

    After a heading ("B. Heparin: it acts at once.") a whole sentence is an explanation.
    """
    is_text_alone = is_text(reply, named)
    is_preferred = _PREFERRED.match(reply.low, named.end) is not None
    named = with_own_label(reply, named)
    if not named.is_text:
        is_bare = reply.low[named.end - 1 : named.end].isalnum()
        return is_bare and not is_preferred and bool(_DISCUSSED.match(reply.low, named.end))
    is_ended = reply.text[-1:] in ".!" and not reply.is_cut
    is_word = reply.low[named.start : named.end] in _WORDS
    is_subject = not is_word and (is_text_alone or not is_ended)
    if is_subject and not is_preferred and _DISCUSSED.match(reply.low, named.end):
        return True
    is_heading = patterns.HEADING.match(reply.low, named.end) and not is_text_alone
    return bool(is_heading) and reply.text[-1:].isalnum()


def are_subjects(reply: Reply, named: NamedOption) -> bool:
    """Whether lines begin with the texts of three options or more, the first of them with this."""
    if "\n" not in reply.low or not is_text(reply, named):
        return False
    return len({one.result for one in reply.line_starts if is_text(reply, one)}) >= _FEWEST_SUBJECTS


def with_own_label(reply: Reply, named: NamedOption) -> NamedOption:
    """An option with its label in brackets after its text: "Heparin (B)"."""
    own = _OWN_LABEL.match(reply.low, named.end) if named.is_text else None
    if own is None or reply.options.labels.get(own[1].upper()) != named.result:
        return named
    return NamedOption(named.result, named.start, own.end(), is_text=True)


def is_text(reply: Reply, named: NamedOption) -> bool:
    """Whether an option is named by its text alone."""
    return reply.low[named.start : named.end] in reply.options.texts


def is_inside(reply: Reply, named: NamedOption) -> bool:
    """Whether an option's text is inside the longer text of another one, as in a list."""
    if not named.is_text:
        return False
    own = reply.low[named.start : named.end]
    longer = (text for text in reply.options.texts if own in text and len(text) > len(own))
    return any(
        reply.low.find(text, max(0, named.end - len(text)), named.start + len(text)) >= 0
        for text in longer
    )


def mentions(reply: Reply) -> Iterator[NamedOption]:
    """Labels in brackets or after "option" that are neither denied nor discussed."""
    concession = patterns.CONCESSION.search(reply.low)
    for match in _MENTION.finditer(reply.low):
        if concession and match.start() > concession.start():
            break
        if _LIKEWISE.search(reply.low, max(0, match.start() - 20), match.start()):
            continue
        named = reply.named_at(match.end())
        if named is None or reply.is_denied(match.end()) or reply.is_refuted(named):
            continue
        begin = reply.sentence_start(match.start())
        is_denied_before = patterns.DENIED_BEFORE.search(reply.low, begin, match.start())
        is_worst = patterns.WORST_ANSWER.search(reply.low, begin, named.end)
        if not reply.asks.for_worst and is_worst:
            continue
        if reply.is_question(named) or is_denied_before:
            continue
        before = reply.low[begin : match.start()].strip()
        is_ended = patterns.ENDED.match(reply.low, named.end) and (
            begin == 0 or named.end < len(reply.low)
        )
        is_subject = len(before) < _LONGEST_ARTICLE and not is_ended
        is_answer = named.end < len(reply.low) and (
            patterns.EXPLAINED.match(reply.low, named.end) or _PREFERRED.match(reply.low, named.end)
        )
        if is_answer or not is_subject:
            yield named


def texts_in(reply: Reply, end: int) -> list[NamedOption]:
    """The options whose texts occur before `end` and are not denied; the longest text counts.

    Where a text is denied and its opposite is an option ("no pneumonia"), that one is named.
    """
    taken = bytearray(end)
    found: list[tuple[NamedOption, bool, str | None]] = []
    for option, result in reply.options.longest_first:
        start = reply.low.find(option, 0, end)
        while start >= 0:
            stop = start + len(option)
            if not any(taken[start:stop]) and is_alone(reply.low, option, start):
                taken[start:stop] = b"\1" * len(option)
                mention = NamedOption(result, start, stop, is_text=True)
                is_denied = reply.is_denied(start) or reply.is_absent(start)
                if is_denied or reply.is_refuted(mention):
                    opposite = reply.options.opposites.get(option)
                    found.append((mention, is_denied, opposite))
                else:
                    is_topic = _is_topic(reply, mention)
                    found.append((mention, False, None if is_topic else mention.result))
            start = reply.low.find(option, stop, end)
    found.sort(key=lambda mention: mention[0].end)
    return [
        NamedOption(result, mention.start, mention.end, is_text=True)
        for mention, result in _without_denied_lists(reply, found)
        if result
    ]


def _without_denied_lists(
    reply: Reply, found: list[tuple[NamedOption, bool, str | None]]
) -> Iterator[tuple[NamedOption, str | None]]:
    """The mentions; without those of a list that begins with a denied or discussed one.

    "Avoid A, B and C", "in adults, A and B thin the blood".
    """
    at = 0
    while at < len(found):
        stop, is_joined = at + 1, False
        while stop < len(found) and (joint := _joint(reply, found[stop - 1][0], found[stop][0])):
            is_joined = is_joined or joint["and"] is not None
            stop += 1
        is_out = is_joined and (found[at][1] or found[at][2] is None)
        for mention, _, result in found[at : at + 1] if is_out else found[at:stop]:
            yield mention, result
        at = stop


def _joint(reply: Reply, one: NamedOption, other: NamedOption) -> re.Match[str] | None:
    return _LIST_JOINT.fullmatch(reply.low, one.end, other.start)


def _is_topic(reply: Reply, named: NamedOption) -> bool:
    """Whether a text inside a sentence begins a discussion: "first A, aspirin: it"."""
    if not named.start or reply.low[named.start - 2] not in ":;,.":
        return False
    return is_discussed(reply, named) or patterns.HEADING.match(reply.low, named.end) is not None


def is_alone(low: str, option: str, start: int) -> bool:
    """Whether an option's text at `start` is no part of a longer word."""
    end = start + len(option)
    if patterns.INSIDE.search(low, max(0, start - 3), start) or low[end : end + 1].isalnum():
        return False
    if patterns.HYPHENATED.match(low, end) or _MET_WITH.match(low, start):
        return False
    return option != "no" or patterns.NO_ALONE.match(low, end) is not None
