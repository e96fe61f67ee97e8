"""The statements of a text that name the answer: "the answer is B", "B is correct", "not A but B".

Of several the last one counts, since models think aloud. A statement that is denied, asked or
somebody else's ("many would choose C", "the wrong answer is C") does not count, and a conditional
one ("The answer is B. Had she been pregnant, the answer would be C") only where no other does.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.words import any_of

_VERB = re.compile(rf"\b(?:{any_of('choose')})(?:\b|(?<=,))")
_CONTRAST = re.compile(
    rf"\b(?:{any_of('deny')}|isn't)(?![a-z])[^.;!?\n]{{1,80}}?(?:,? (?:{any_of('but')})"
    rf"|[,;] (?:it is|it's|es|é|è|c'est|es ist))(?![a-zà-ÿ'])"
)
_SUBJECT = re.compile(
    rf"(?:(?:\A|(?<=\n)|(?<=[.!?;,→] )|(?<=[,。;])|\b(?:{patterns.OPTION}|that|but|believe|think"
    rf"|only|que|dass|{any_of('so')}),? )(?:(?:la|el|le|il|die|the|a|o) )?"
    rf"(?:(?:{patterns.OPTION}) )?"
    rf"|选项)(?=[\"'(\[]{{0,4}}[^\W_](?![a-zA-Z0-9_\u00c0-\u052f]))|(?=[(\[][^\W_][)\]])",
)
_JOINED = re.compile(r"(?:,|;| and| but| while| whereas) (?=[\"'(]?\w\b)")
_JOINED_LAST = re.compile(r",? (?:and|or) (?:(?:the|an?) )?\Z")
_ONLY_IF = re.compile(
    r"\bonly (?:if|when|in)\b|\b(?:otherwise|else|de lo contrario|caso contr[aá]rio|sinon|sonst"
    r"|andernfalls|altrimenti)\b|\bs[oó]lo si\b|\bnur wenn\b|\bseulement si\b"
)
_BUT_HERE = re.compile(
    rf"\b(?:{any_of('but')}|however|yet|pero|mais|aber|mas),? (?:here|in (?:this|our)|for (?:this"
    r"|our)|given|because|since|with|due|considering|aqu[ií]|en este|ici|dans ce|hier|in diesem)\b"
)
_NONE_BUT = re.compile(
    r"\b(?:none|nothing|no (?:other )?(?:option|answer|choice))\b[^.;!?\n]{0,60}?"
    r"\b(?:except(?: for)?|but|other than|apart from|aside from|besides|save(?: for)?)\b"
)
_ALL_EXCEPT = re.compile(patterns.ALL_BUT.pattern.removesuffix(r"\Z"))
_IS_NOT = re.compile(
    r"\b(?:(?:is|are) the (?:only )?one (?:that|which)(?: |(?='s)))?(?:is|are|was|do|does|can"
    r"|should|(?<=one that)'s)"
    r"(?: not|n't)(?: (?:true|correct|right|one of (?:them|these|those)"
    r"|among (?:them|these)))?(?=[.!,;]|\Z)"
)
_IS_NOT_SUCH = re.compile(
    r"\b(?:(?:is|are)(?: not|n't) (?:(?:typically|usually|generally) )?(?:(?:an?|one of the"
    r"|among the) (?!(?:correct|right|good|best|answer|exception)\b)\w|part of|seen|found|caused"
    r"|associated|expected|included|listed|characteristic|typical\b)|(?:do|does)(?: not|n't)"
    r" (?!mean|matter|seem|appear|look)\w)"
)
_ONE_OPTION = re.compile(
    rf"\b(?:{patterns.OPTION}) [\"'(\[]{{0,2}}[A-HJ-Z](?![\w'])", re.IGNORECASE
)
_WOULD = re.compile(rf"\b(?:{any_of('would')})\b|'d\b")
_SOMEBODY = re.compile(
    r"(?<!no )(?<!little )\bdoubt\b|\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagine) (?!not\b)[^,]*\Z"
    r"|(?<!to )\b(?:whether"
    r"|(?:possible|conceivable|arguable) that)\b|\b(?:some|many|most (?:people|students)|others"
    r"|students?|people|candidates|test-takers|examinees|colleagues?|textbooks?"
    r"|you(?!(?<=exam, you) would (?:pick|choose|select)\b)|one) (?!should |must )"
    r"(?:[\w-]+ ){0,3}?(?:prefer|favou?r|recommend|might|may|could|would"
    r"|often|tend|commonly|sometimes|mistakenly|say|think|believe|argue|choose|chose|pick|answer)\b"
    r"|\b(?:almost|nearly) (?:cho\w+|pick\w+|select\w+|went|said|answered|took|opted|marked)\b"
    r"|\b(?:students?|candidates?|colleagues?|readers?|anyone|someone|somebody|whoever|those"
    r"|people)"
    r" (?:who|that)?\b[^.;!?\n]{0,80}\bwould\b"
    r"|\b(?:commonly|often|frequently|usually|mistakenly) (?:chosen|picked|selected|given|answered)"
    r"|\b(?:wrong|incorrect|false|unsafe|dangerous|inappropriate|mistake|error|unwise"
    r"|harmful) (?:to|that)\b|\b(?:error|equivocado|erro|errado|faux de|erreur de|errore)\b"
    r"|\b(?:used to be|once was|was once|initially|at first|superficially|hastily"
    r"|in (?:a hurry|haste)|first (?:thought"
    r"|impression|guess)|was going to|tempt\w+|mistake\w*"
    r"|(?:for|in|of) (?:which|whom)(?= (?:the|my|one|you)\b)"
    r"|traps?|pitfalls?|(?:earlier|older|previous|former|prior|other) (?:stud\w+|trials?"
    r"|guidelines?|editions?|authors)|misconception|distractors?|for example|e\.g\.|format)\b"
)
_OTHER_ANSWER = re.compile(
    r"(?:\b(?:cada|toda|chaque|jede[nrs]?|ogni|elke|ka[zż]d\w{1,2}|varje|wrong|incorrect"
    r"|false|first|initial|original|earlier|old|draft|preliminary|(?:second|next)(?:[- ]best"
    r"| most \w+)?|another|other"
    r"|2nd|3rd|4th|third|fourth|runner-up|zweite|deuxi[eè]me|segunda|seconda"
    r"|alternative|tempting|(?!model|question|today)\w{2,20}'s|previous|common|plausible"
    r"|next most \w+) |in)\Z"
)
_OF_ALL = re.compile(
    rf"\b(?:(?:each|every)(?: \w+)? (?:{patterns.OPTION})"
    r"|(?:option|choice|alternative|statement|answer)s)"
    r"\W{0,6}\Z"
)
_THIS_CASE = (
    r"(?:this|that|these|those|the|my|our|your|all|such|light|view|summary|conclusion|short|sum"
    r"|fact|re-?\w+ing|checking|thinking|looking|careful|further|closer|more|total|other words|both"
    r"|clinical|general|any|her|his|its|their)\b"
)
OTHER_CASE = re.compile(
    r"\A\W{0,4}(?:(?:by|in) contrast,? |conversely,? )?(?:(?:formerly|previously|historically"
    r"|traditionally|later|elsewhere|sometimes|as an? \w+|as for|according to an? (?:older|earlier"
    r"|former|previous|other))\b|in the (?!end|present|current|given|light|context|final|above|case"
    r"|fact|absence of|following)\w|(?:in|for) (?:the|an?) (?:second|third|next|other|different"
    r"|latter|alternative|hypothetical) \w+|another|(?:in|for|with|without|among|during|after"
    r"|before"
    rf"|when|once|under) (?!{_THIS_CASE})|step \d{{1,2}} is |en |em |chez |bei |nei )"
)
_SCOPED = re.compile(
    r"[^.;,]{0,40}? (?:only )?(?:(?:when|once|while) |(?:in|for|among|during|under|with) (?!(?:this"
    r"|that|these|the|our|my|his|her|all|such|light|view|general|a 1|option)\b))[a-z]"
)
_ALSO = re.compile(r"\b(?:also|too|as well|equally|so is|likewise)\b")
_CONCLUDED = re.compile(
    rf"\b(?:{any_of('so')}|final\w*|ultimately|answer:|in the end|taken together|summary)"
)
_OWN_CLAUSE = re.compile(
    rf"\b(?:however|yet|nonetheless|{any_of('but')}|pero|aber|mais|mas)\b,?"
    r"|\A\W*(?:while|although|though|even though|whereas|aunque|embora|bien que|obwohl)\b[^,]*,"
)
_BETTER_NEXT = re.compile(
    r"[\"')\]]{0,3} (?:is|would be|seems|fits) (?:the |an? )?(?:better|best|correct|right|more"
    r"|preferable|preferred|safer)\b"
)
_OF_COURSE = re.compile(
    r"[\"')\]]{0,3},? (?:of course|obviously|naturally|nat[uü]rlich|natuurlijk|bien s[uû]r"
    r"|por supuesto|claro|ovviamente|certo|oczywi[sś]cie|s[aå]klart|f[oö]rst[aå]s|é claro)[.!]"
)
_OTHERS_SAY = re.compile(r"\b(?:some|many|others?|most|people|students?) [^.;:!?\n]{0,30}\Z")
_APOLOGY = re.compile(r"\b(?:sorry|apologies|pardon|mistake|meant?|correction|scratch)\b")
_LABEL_ENDED = re.compile(r"[\"'(\[]{0,3}\w[\"')\]]{0,3}[.!] ")
_DASH_NEXT = re.compile(r"[\"')\]]{0,3} [–—-] \w")
_ARROW_LAST = re.compile(r"(?:<-{1,2}|[←⬅⇐👈])[^\w\n]{0,6}(?:the |my )?(?:\w{1,12} )?\Z")


class Certainty(IntEnum):
    """How certainly a statement names the answer, weakest first."""

    NONE = 0
    CONDITIONAL = 1  # "if it is acute, the answer is B"
    SUPPOSED = 2  # "the answer would be B"
    FIRM = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """The option that a sentence states as the answer, and how certainly."""

    named: NamedOption
    certainty: Certainty


def certainty_of(reply: Reply, start: int, end: int, named: NamedOption) -> Certainty:
    """The certainty of a statement whose cue spans `start` to `end` and that names `named`."""
    begin = reply.sentence_start(start)
    before = _OWN_CLAUSE.split(reply.low[begin:start])[-1]
    after = reply.low[named.end : reply.sentence_end(named.end)]
    if (
        reply.is_question(named)
        or reply.is_denied(start)
        or reply.is_called_worst(start - len(before), start)
        or reply.is_warned_of(named)
        or _SOMEBODY.search(before + reply.low[start:end])
        or _OTHER_ANSWER.search(before[-_LONGEST_ADJECTIVE:])
        or _OF_ALL.search(reply.low[start:end])
        or patterns.DENIED_LINK.search(reply.low, start, end)
        or patterns.NOT_HERE.search(after)
        or not reply.holds_where_cut(named, end)
        or _is_shared(reply, named)
        or reply.is_left_out(named.start)
    ):
        return Certainty.NONE
    would = _WOULD.search(reply.low, start, max(end, named.start))
    if patterns.CONDITION.search(before) or patterns.CONDITION.search(after):
        is_counterfactual = would or _WOULD.search(before)
        is_none = is_counterfactual or _ONLY_IF.search(after)
        return Certainty.NONE if is_none else Certainty.CONDITIONAL
    if would and not patterns.TURN.search(before):
        return Certainty.NONE if _BUT_HERE.search(after) else Certainty.SUPPOSED
    return Certainty.FIRM


def _is_shared(reply: Reply, named: NamedOption) -> bool:
    """Whether another option is right for other cases, or is the exception.

    "A in adults, B in children", "none of the above except B"
    """
    end = reply.sentence_end(named.end)
    but = patterns.EXCEPT.search(reply.low, named.end, end)
    if but and reply.named_at(but.end()):
        return True
    scope = patterns.SCOPED_NEXT.match(reply.low, named.end)
    others = (
        reply.named_at(joined.end())
        for joined in (_JOINED.finditer(reply.low, scope.end(), end) if scope else ())
    )
    return any(other and other.result != named.result for other in others)


def statements(reply: Reply, stating: Iterable[re.Pattern[str]]) -> Iterator[Statement]:
    """The statements that begin with one of these patterns."""
    for pattern in stating:
        for match in pattern.finditer(reply.low):
            start, end = match.span()
            if _ONE_OPTION.search(reply.text, start, end):
                continue  # about one option: "answer choice B:"
            if "\n" in match[0] and _ARROW_LAST.search(reply.low, max(0, start - 24), start):
                continue  # a remark at the end of a line: "B <- my answer"
            if named := reply.named_at(end):
                yield Statement(named, certainty_of(reply, start, end, named))


def _last(reply: Reply, stated: Iterable[Statement], *certainties: Certainty) -> NamedOption | None:
    """The last statement of the first certainty that occurs.

    Where the reply begins with its answer, a later statement without a word of correction or
    conclusion is about something else ("The answer is B. In pregnancy A is best.").
    """
    stated = list(stated)
    for certainty in certainties:
        named = [statement.named for statement in stated if statement.certainty is certainty]
        if named:
            return _last_or_first(reply, sorted(named, key=lambda option: option.end))
    return None


def _last_or_first(reply: Reply, named: list[NamedOption]) -> NamedOption:
    first, last = named[0], named[-1]
    if first.result == last.result or reply.sentence_start(first.start) > _ANSWER_FIRST:
        return last
    between = reply.low[first.end : last.start]
    begin = reply.sentence_start(last.start)
    if (clause := reply.low.rfind("whereas ", begin, last.start)) >= 0:
        begin = clause + len("whereas ")
    after = reply.low[last.end : reply.sentence_end(last.end)]
    if _ALSO.search(reply.low, begin, reply.sentence_end(last.end)):
        return NamedOption(None, last.start, last.end)
    if (
        patterns.TURN.search(between)
        or _CONCLUDED.search(between)
        or patterns.AFTER_ALL.search(between)
    ):
        return last
    is_scoped = OTHER_CASE.match(reply.low[begin : last.start]) or _SCOPED.match(after)
    if is_scoped and _SCOPED.match(reply.low[first.end : reply.sentence_end(first.end)]):
        return NamedOption(
            None, last.start, last.end
        )  # "A is best for adults, B is best for children"
    return first if is_scoped else last


_AROUND_A_SUBJECT, _LONGEST_ADJECTIVE = 40, 40
"""Characters around a subject's label and text, and those of what qualifies an answer before it."""
_ANSWER_FIRST = 20
"""Characters before the sentence of the first statement, in a reply that begins with its answer."""


def final_statement(reply: Reply) -> NamedOption | None:
    """The last statement of a final answer: "Final answer: B"."""
    return _last(reply, statements(reply, (patterns.FINAL,)), Certainty.FIRM, Certainty.SUPPOSED)


def last_statement(reply: Reply) -> NamedOption | None:
    """The last statement of an answer."""
    stating = [patterns.ANSWER, _VERB]
    if reply.asks.for_worst:
        stating += [patterns.WORST_ANSWER, _ALL_EXCEPT]
    return _last(
        reply,
        [
            *statements(reply, stating),
            *_called_right(reply),
            *_corrections(reply),
        ],
        Certainty.FIRM,
        Certainty.SUPPOSED,
    )


def conditional_statement(reply: Reply) -> NamedOption | None:
    """The option that all conditional statements name."""
    stated = [
        *statements(reply, (patterns.FINAL, patterns.ANSWER, _VERB)),
        *_called_right(reply),
    ]
    return agreed(
        [statement.named for statement in stated if statement.certainty is Certainty.CONDITIONAL]
    )


def _corrections(reply: Reply) -> Iterator[Statement]:
    """Corrections of what was denied or said before: "not A but B", "wait, B."."""
    for pattern in (_CONTRAST, patterns.AFTER_ALL, _NONE_BUT):
        for match in pattern.finditer(reply.low):
            named = reply.named_at(match.end())
            if named is None:
                continue
            is_arrow = match[0].rstrip().endswith(("->", "→", "⇒"))
            if is_arrow and _is_mapping(reply, match.start()):
                continue
            is_answer = (
                patterns.SENTENCE_ENDED.match(reply.low, named.end)
                or (not reply.options.labels and patterns.HEADING.match(reply.low, named.end))
                or pattern is _CONTRAST
                or (
                    _APOLOGY.search(match[0])  # "sorry, B. Heparin acts at once", "I meant B – it"
                    and (
                        _LABEL_ENDED.match(reply.low, named.start)
                        or _DASH_NEXT.match(reply.low, named.end)
                    )
                )
                or _BETTER_NEXT.match(reply.low, named.end)
                or _OF_COURSE.match(reply.low, named.end)
                or (is_arrow and reply.options.whole(reply.text[: match.start()]))
            )  # "A -> B, which is safer", where the reply begins with A
            is_open = reply.is_question(named) or not reply.holds_where_cut(named)
            is_word = named.is_text and match[0].partition(",")[0] in reply.options.texts
            others = _OTHERS_SAY.search(reply.low, max(0, match.start() - 40), match.start())
            is_out = is_word or reply.is_left_out(named.start)  # "yes, no, maybe", "all but B"
            if others or is_out:
                continue
            if is_answer and not (is_open or reply.is_refuted(named)):
                yield Statement(named, Certainty.FIRM)


def _is_mapping(reply: Reply, at: int) -> bool:
    """Whether an arrow is one of a list of them, or maps a condition: "croup → B", "if not → C"."""
    line = reply.low[: at + 1].rpartition("\n")[2]
    return reply.has_mapping or patterns.CONDITION.search(line) is not None


def _called_right(reply: Reply) -> Iterator[Statement]:
    """Options that are the subject of a sentence which calls them right: "(B) is correct"."""
    verdicts = [*patterns.IS_RIGHT.finditer(reply.low)]
    if reply.asks.for_exception and _are_several(reply, verdicts):
        verdicts = []  # it says which ones are true, and not which one is the answer
    if reply.asks.for_worst:
        verdicts += patterns.IS_WORST.finditer(reply.low)
    if reply.asks.for_exception:
        verdicts += _IS_NOT.finditer(reply.low)
        verdicts += _IS_NOT_SUCH.finditer(reply.low)
    for verdict in verdicts:
        start = verdict.start()
        for named in subjects(reply, start):
            certainty = certainty_of(reply, named.start, verdict.end(), named)
            if verdict.re is _IS_NOT_SUCH:  # it may explain another answer
                certainty = min(certainty, Certainty.SUPPOSED)
            yield Statement(NamedOption(named.result, named.start, start), certainty)


def _are_several(reply: Reply, verdicts: list[re.Match[str]]) -> bool:
    """Whether verdicts are about different options."""
    return (
        len({named.result for verdict in verdicts for named in subjects(reply, verdict.start())})
        > 1
    )


def subjects(reply: Reply, end: int) -> Iterator[NamedOption]:
    """The options that may be the subject of a verb at `end`: by label, or by text."""
    begin = max(0, end - reply.options.longest - _AROUND_A_SUBJECT)
    for match in _SUBJECT.finditer(reply.low, begin, end):
        named = reply.named_at(match.end())
        if named and not reply.low[named.end : end].strip(" \n\"')].:"):
            yield named
    subject = reply.low[begin:end].rstrip(" \"')].:")
    for option, result in reply.options.longest_first:
        before = subject.removesuffix(option)
        if before != subject and not patterns.INSIDE.search(before[-3:]):
            first = _JOINED_LAST.sub("", before)
            if first != before and first.endswith(tuple(reply.options.texts)):
                return  # "aspirin or heparin is right"
            stop = begin + len(subject)
            yield NamedOption(result, stop - len(option), stop, is_text=True)
            return


def agreed(named: list[NamedOption]) -> NamedOption | None:
    """The option that all name; a result of None where they differ, None where nothing is named."""
    if not named:
        return None
    if len({option.result for option in named}) == 1:
        return named[-1]
    return NamedOption(None, named[-1].start, named[-1].end)
