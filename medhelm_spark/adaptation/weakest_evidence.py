"""Reads an option from a text that was not cut and has no stronger evidence (`choice`).

`weakest_evidence` tries these in order: the text after a colon ("Since you ask: urgent."), the
class of the whole ("Overall the report is abnormal."), a small letter ("probably c,"), yes or no in
other words ("Probably not."), "the second option", the text below the heading of a conclusion, a
short text that is an option in other words, the only option in bold, percentages, "A > B > C", the
only option that the text does not deny ("none of A, B or D"), "the only one that is safe is B", the
only option to give, and the last sentence. A way that finds several options reads none.
"""

import re
from collections.abc import Callable, Iterator

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.echoes import yes_or_no
from medhelm_spark.adaptation.mentions import is_alone, texts_in
from medhelm_spark.adaptation.naming import NamedOption, listed_at
from medhelm_spark.adaptation.other_words import in_other_words
from medhelm_spark.adaptation.phrases import meant_word
from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.adaptation.ranked import ranked, weighed
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.stance_words import INDEX_BY_ORDINAL
from medhelm_spark.adaptation.statements import Certainty, certainty_of, subjects
from medhelm_spark.adaptation.words import any_of

_DRAWN = re.compile(rf"\b(?:{any_of('so')})\b,? (?!far\b|that\b)(?=[^.!?\n]{{2,120}}[.!]?\Z)")
_BRACKETED_WORD = re.compile(r"\((yes|no|maybe)\)\W{0,3}\Z")
_LOOSE_LABEL = re.compile(
    r"\A\W{0,4}(?:(?:(?:has to|gotta|must) be|i(?:'?d| would|'ll)? (?:think|guess|say|believe"
    r"|choose|pick|go with)|(?:i'm )?going with|prob\.?|(?:most )?(?:likely|probably)"
    r"|definitely|maybe|perhaps|surely|certainly|answer|ans|option|choice|(?:it|this|that)"
    r"(?:'s| is)|its|go with),?[ :.–—-]{1,4}){1,3}\(?(?P<label>[a-z])\)?(?=[.;!\n]"
    r"|,(?! ?\W?\w\b)|\Z| (?:because|given|since|as|i (?:think|guess|believe))\b)"
)
_LOOSE_LABEL_NEXT = re.compile(
    r"\A\W{0,4}(?:(?:def|gotta be|must be|has to be|opt|option|so|its|it's|i'd say|answer) )?"
    r"\(?(?P<label>[a-z])\)?[,.]? (?:it is|for sure|imh?o|no doubt|obviously|definitely|clearly"
    r"|i(?:'d)? (?:think|guess|believe|suppose|reckon|say)|then|probably|most likely|likely"
    r"|(?:would be|is)"
    r" my (?:best )?(?:guess|choice|answer|pick|bet)|hands down|without (?:a |any )?doubt"
    r"|all the way"
    r"|seems (?:right|best|correct|most likely))\W{0,4}\Z"
    r"|\A\W{0,4}(?:def|gotta be|must be|opt)\.? \(?(?P<short>[a-z])\)?(?: then)?\W{0,4}\Z"
    r"|\A\W{0,4}[a-j]\W{1,5}(?:no|nope|wrong|nein|non|nej|nee"
    r"|nie)\W{1,3}\(?(?P<other>[a-j])\)?\W{0,3}\Z"
    r"|[\w)](?:,|;|:| [–—-]| →| ->) ?(?:so|i\.e\.,?|thus|hence|therefore|that's|meaning|which is"
    r"|aka|ie|=)"
    r" (?:option |answer |letter )?\(?(?P<last>[a-z])\)?[.!]?\Z"
)
_NUMBER = "first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th"
_ORDINAL = re.compile(
    rf"(?:\b(?P<before>{_NUMBER}) (?:option|answer|alternative|one|(?<!first )choice"
    r"|of the (?:list|options|choices|answers|(?P<all>three|four|five))(?=[.!]?\Z))"
    r"|\b(?:option|answer|choice|number) (?:number )?(?P<after>one|two|three|four|five|[1-5])"
    rf"|\A\W{{0,4}}(?:(?:the|no\.?|number) ?)?(?P<alone>{_NUMBER}|[1-5])(?=\W{{0,4}}\Z))"
    r"(?=[.,;!)\n]|\Z| [–—-]| (?:ist|est|es|é|è|is|är|jest|है|सही) (?:richtig|korrekt|correct\w"
    r"|exacte|juste|corret\w|corrett\w|giust\w|juist|r[aä]tt|prawid[lł]ow\w|poprawn\w|है)"
    r"| सही है| (?:is (?:the )?(?:correct|right|best|answer)|because|since|as|given)\b)"
)
_CONCLUSION_HEADING = re.compile(
    r"^[^\w\n]{0,4}(?:(?:the|my|final|overall|clinical|brief|in|step \d:?) ){0,2}(?:conclusions?"
    r"|verdict|answer|decision|diagnosis|summary|recommendation|bottom line|judge?ment|fazit"
    r"|conclusi[oó]n|conclus[aã]o|conclusione|conclusie|schlussfolgerung)"
    r"[^\w\n]{0,4}(?:\n+|(?<=: ))",
    re.MULTILINE,
)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
_DENIES = re.compile(
    r"(?:\b(?:none of|neither|nor|not|cannot)|n't)(?! (?:only|just|necessarily|always|because)\b)"
    r"(?: (?:be|give|use|choose|pick|start|say|answer))?(?=[ \"'(:])"
)
_BETWEEN_DENIAL = re.compile(
    r"[ \"'(:]{0,4}(?:(?:the|an?|either|options?|choices?|answers?)[ \"'(:]{1,4}){0,2}"
)
_JOINTLY = re.compile(r"\b(?:none of|neither|n?or)\b")
_CLAUSE_START = re.compile(
    r"(?:\A|(?<=[.!?;,] )|(?<=\n)|(?<=and )|(?<=but )|(?<=while ))"
    r"(?:(?:options?|choices?|answers?|both) )?(?=[\"'(\[]{0,3}\w)"
)
_ONLY_ONE = re.compile(
    r"\bonly (?:one|option|choice|answer|\w{3,20})(?: here| left| listed)? (?:that|which|who) "
    r"[^.:;!?\n]{1,60}? (?:is|would be)(?= )"
)
_GIVE = re.compile(
    r"(?:\A|(?<=[.!?;:] )|(?<=\n)|\bso,? |\binstead,? )(?:please )?(?:give|start|use|administer"
    r"|order|prescribe|perform|do|take|begin|try|obtain|choose|pick)(?: (?:her|him|them|the patient"
    r"))?(?= )"
)
_SHOULD = re.compile(
    r"\b(?:should|must|needs? to|has to|is to)(?: \w{2,12}ly| now| first){0,2} be (?:\w{2,12}ly )?"
    r"(?:given|done|performed|started|used|administered|ordered|prescribed|tried|initiated"
    r"|obtained|chosen)\b|\bis (?:clearly )?(?:(?:indicated|required|needed|warranted|recommended)"
    r"(?! (?:with|in|for|if|when|only|after|during) (?!(?:this|our|her|his|these|such|all|the)\b))"
    r"|the (?:\w+ )?(?:drug|treatment|therapy|test|agent|step) of choice"
    r"(?! (?:with|in|for|if|when|only|after|during) (?!(?:this|our|her|his|these|such|all|the)\b))"
    r"|what (?:this|the|our) patient needs)\b"
)
_NEED = r"(?:ask|want|need|insist|requir|request|press|forc|push|must|have|had)"
_COLON_LEAD = re.compile(
    r"(?:\A|(?<=[.!?,] )|(?<=\n)|\bbut |\bso )(?:(?:and|but|so|still|yet|now),? )?"
    rf"(?:(?:since|as|because|given that) you(?:'ve| have)? (?:\w+ )?{_NEED}\w*"
    rf"|if (?:(?:you|i|we)(?: \w+)? {_NEED}\w*|forced|pressed|pushed|an? (?:\w+ )?(?:class"
    r"|label|word|answer|letter) is (?:needed|required|wanted))"
    r"|(?:going|judging|judged) (?:\w+ly |just )?(?:by|from|on)|based (?:\w+ly |only )?(?:up)?on"
    r"|in (?:general|principle|short|brief|summary|(?:one|a single) word)|generally(?: speaking)?"
    r"|as an? (?:\w+ )?(?:class|label|word|answer|letter)|for (?:the|this) (?:classification|task"
    r"|exercise|purpose))\b[^.:;!?\n]{0,120}: ?(?=\S)"
)
_OVERALL = re.compile(
    r"(?:so,? |thus,? |but,? )?(?:overall|in (?:summary|conclusion|short|sum)|all in all"
    r"|taken together|altogether|on (?:the whole|balance)|to (?:conclude|sum up)),? "
    r"(?:the|this|that|your|his|her)(?: (?:whole|entire|x-?ray|chest|ct|mri|radiology|clinical"
    r"|patient'?s?))* ?(?:report|x-?ray|film|scan|study|image|picture|result|examination|exam|case"
    r"|letter|message|note|text|request|call|referral|e-?mail|complaint|review|comment|statement"
    r"|class|category|urgency|triage|severity|label|rating) (?:is|was|would be|counts as|must be)"
    r"(?: (?:best |most )?(?:classed|classified|rated|labell?ed|called|described|graded) as)?"
    r"(?: clearly| therefore| thus)? (?=\S)"
)
_CLASSED = re.compile(
    r"\b(?:(?:has to|must|should) be (?:handled|treated|regarded|seen)|(?:class|category|label"
    r"|rating|sentiment|tone|verdict) (?:comes out|ends up)) as (?=\S)"
)
_UNCERTAIN_NEXT = re.compile(r"[\"')\]]{0,4},? \((?:or|maybe|perhaps|not|if|unless|possibly|but)\b")
_LINKED = re.compile(
    r"\b(?:is|are|be|was|suggests?|indicates?|fits?|supports?|confirms?|means|called|of|with|for"
    r"|to) "
)

_CAPITAL = re.compile(r"(?<![\w'-])[A-Z](?![\w'-])")
_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})
_LONGEST, _LONGEST_SEARCHED, _LONGEST_LINE = 600, 2_000, 300
"""Most characters: of a text searched for denials, of one searched in all ways, of a line."""
_MOST_BOLD, _MOST_ADDED = 60, 3
"""Most bold spans that are read, and most words after the option in a span."""


def weakest_evidence(
    reply: Reply, marked: str, strongest: Callable[[Reply], str | None]
) -> str | None:
    """The option that the first successful way reads; None where every way fails.

    `marked` is the text with its marks of bold words; `strongest` reads the text below a heading.
    """
    is_long = len(reply.low) > _LONGEST_SEARCHED
    if result := _after_colon(reply) or _overall(reply):
        return result
    for reader in (_loose_label, _in_words) if is_long else (_loose_label, _in_words, _by_number):
        if result := reader(reply):
            return result
    if result := _concluded(reply, strongest) or in_other_words(reply.text, reply.options):
        return result
    if ("**" in marked or "__" in marked) and (result := _in_bold(reply, marked)):
        return result
    for reader in (
        () if is_long else (weighed, ranked, _only_left, _only_such, _to_be_given, _closing, _drawn)
    ):
        if result := reader(reply):
            return result
    return None


def _one(results: Iterator[str | None]) -> str | None:
    found = set(results)
    return found.pop() if len(found) == 1 else None


def _after_colon(reply: Reply) -> str | None:
    """The only option after a proviso and a colon: "Since you ask: urgent."."""
    results: set[str | None] = set()
    for match in _COLON_LEAD.finditer(reply.low):
        named = reply.named_at(match.end())
        if named is None or not patterns.SENTENCE_ENDED.match(reply.low, named.end):
            return None
        results.add(named.result if _is_alone_from(reply, named) else None)
    return results.pop() if len(results) == 1 else None


def _overall(reply: Reply) -> str | None:
    """The class that the last sentence gives to the whole: "Overall the report is abnormal.".

    Else the class of any sentence such as "It must be handled as urgent.", if no later text names
    another class.
    """
    if reply.options.labels:
        return None
    begin = reply.sentence_start(len(reply.low) - 2)
    begin += len(reply.low[begin:]) - len(reply.low[begin:].lstrip())
    match = _OVERALL.match(reply.low, begin) or _CLASSED.search(reply.low)
    named = reply.named_at(match.end()) if match else None
    if match is None or named is None or not _is_firm(reply, match.start(), named):
        return None
    if not patterns.SENTENCE_ENDED.match(reply.low, named.end):
        return None
    return named.result if _is_alone_from(reply, named) else None


def _is_alone_from(reply: Reply, named: NamedOption) -> bool:
    """Whether the text does not deny the option, nor later limit it or name another option."""
    rest = reply.low[named.end :]
    is_limited = (
        patterns.TURN.search(rest)
        or patterns.EXCEPT.search(rest)
        or patterns.UNREAL.search(rest)
        or _UNCERTAIN_NEXT.match(rest)
        or patterns.OPEN.search(rest)
        or "?" in rest
    )
    is_out = reply.is_refuted(named) or reply.is_denied(named.start) or reply.is_absent(named.start)
    others = (text for text, result in reply.options.longest_first if result != named.result)
    return not (
        is_limited
        or is_out
        or any(
            is_alone(reply.low, text, at)
            for text in others
            if (at := reply.low.find(text, named.end)) >= 0
        )
        or any(label in reply.options.labels for label in _CAPITAL.findall(reply.text[named.end :]))
    )


def _loose_label(reply: Reply) -> str | None:
    match = _LOOSE_LABEL.match(reply.low)
    if match is None and len(reply.low) <= _LONGEST_LINE:
        match = _LOOSE_LABEL_NEXT.search(reply.low)
    if match is None:
        return None
    label = next(group for group in match.groups() if group)
    return reply.options.labels.get(label.upper())


def _in_words(reply: Reply) -> str | None:
    words = _WORDS & reply.options.texts.keys()
    word = meant_word(reply.low, words) or yes_or_no(reply) if len(words) > 1 else None
    bracketed = _BRACKETED_WORD.search(reply.low)
    if word is None and bracketed and bracketed[1] in words:
        word = bracketed[1]
    is_listed = word and not (word == "maybe" and word in reply.options.added)
    return reply.options.texts[word] if word and is_listed else None


def _by_number(reply: Reply) -> str | None:
    """The option that the text calls by its ordinal: "the second option"."""
    results = [*reply.options.labels.values()]
    texts = reply.options.text_by_label.values()
    if not texts or reply.options.are_numbers or any(text[:1].isdigit() for text in texts):
        return None
    named = []
    for match in _ORDINAL.finditer(reply.low):
        at = INDEX_BY_ORDINAL[match["before"] or match["after"] or match["alone"]]
        if match["all"] and INDEX_BY_ORDINAL[match["all"]] != len(results) - 1:
            return None
        mention = NamedOption("", match.start(), match.end())
        if (
            reply.is_denied(match.start())
            or reply.is_refuted(mention)
            or reply.is_question(mention)
        ):
            continue
        named.append(results[at] if at < len(results) else None)
    return _one(iter(named))


def _concluded(reply: Reply, strongest: Callable[[Reply], str | None]) -> str | None:
    """The option that `strongest` reads in the text below the last heading of a conclusion."""
    headings = [*_CONCLUSION_HEADING.finditer(reply.low)]
    if not headings:
        return None
    rest = reply.text[headings[-1].end() :].lstrip(" :")
    return strongest(Reply(rest, reply.options, is_cut=False, asks=reply.asks))


def _in_bold(reply: Reply, marked: str) -> str | None:
    """The only option in bold; None where its line denies it or leaves it uncertain."""
    if reply.options.are_numbers:
        return None
    results: set[str | None] = set()
    for match, _ in zip(_BOLD.finditer(marked), range(_MOST_BOLD), strict=False):
        begin = max(marked.rfind("\n", 0, match.start()) + 1, match.start() - _LONGEST_LINE)
        before, bold = (
            reply.options.with_spelling(plain(text))
            for text in (marked[begin : match.start()], match[1] or match[2])
        )
        after = marked[match.end() : match.end() + _LONGEST_LINE].partition("\n")[0]
        rest = reply.options.with_spelling(plain(f"x{after}"))
        start = len(before) + 1 if before else 0
        line = f"{before} {bold}{rest[1:]}" if before else f"{bold}{rest[1:]}"
        own = Reply(line, reply.options, is_cut=False, asks=reply.asks)
        named = own.named_at(start + len(bold) - len(patterns.LEAD.sub("", bold)))
        if named is None or own.text[named.start : named.end].isdigit():
            continue
        if named.start >= start + len(bold) or _says_more(bold[named.end - start :]):
            continue
        is_open = (
            own.is_denied(named.start)
            or own.is_absent(named.start)
            or own.is_refuted(named)
            or certainty_of(own, named.start, named.start, named) < Certainty.SUPPOSED
        )
        results.add(None if is_open else named.result)
    return results.pop() if len(results) == 1 else None


def _says_more(rest: str) -> bool:
    return ":" in rest or len(rest.split()) > _MOST_ADDED


def _only_left(reply: Reply) -> str | None:
    """The one option not denied, where one denial covers all others ("none of A, B or D").

    Separate denials may be the steps of a reasoning that ends before its answer. The function reads
    none where the question asks for the wrong or least option.
    """
    options = reply.options
    if reply.asks.for_worst or len(reply.low) > _LONGEST or options.are_numbers:
        return None
    if not options.labels and _WORDS & options.texts.keys():
        return None
    results = set(options.labels.values()) or set(options.texts.values())
    others = len(results) - 1
    if not others:
        return None
    denied: set[str | None] = set()
    for match in _DENIES.finditer(reply.without_negated_texts):
        listed = listed_at(reply.text, reply.low, match.end(), options)
        if listed and not _BETWEEN_DENIAL.fullmatch(reply.low, match.end(), listed[0].start):
            continue
        if listed and patterns.CONDITION.search(_sentence(reply, match.start())):
            return None
        is_joint = len(listed) == 1 or _JOINTLY.search(
            reply.low, match.start(), listed[-1].start if listed else match.end()
        )  # "not A or B", but "not A, B"
        if is_joint and len({named.result for named in listed}) == others:
            denied |= {named.result for named in listed}
    for match in _CLAUSE_START.finditer(reply.low):
        listed = listed_at(reply.text, reply.low, match.end(), options)
        if len({named.result for named in listed}) == others and reply.is_refuted(listed[-1]):
            denied |= {named.result for named in listed}
    left = results - denied
    return left.pop() if len(left) == 1 else None


def _sentence(reply: Reply, at: int) -> str:
    return reply.low[reply.sentence_start(at) : reply.sentence_end(at)]


def _only_such(reply: Reply) -> str | None:
    """The option that the text calls the only one of its kind: "the only one that is safe is B".

    "The only one that is not safe" counts only where the question asks for the wrong or least
    option; "the only one that is safe" counts only where it does not.
    """
    named = []
    for match in _ONLY_ONE.finditer(reply.low):
        option = reply.named_at(match.end())
        is_worst = patterns.DENIED_BEFORE.search(match[0]) is not None
        if option is None or is_worst != reply.asks.for_worst or reply.is_refuted(option):
            continue
        if certainty_of(reply, *match.span(), option) >= Certainty.SUPPOSED:
            named.append(option.result)
    return _one(iter(named))


def _to_be_given(reply: Reply) -> str | None:
    """The only option that the text says to give, or that should be done."""
    if reply.asks.for_worst:
        return None
    named = []
    for match in _GIVE.finditer(reply.low):
        option = reply.named_at(match.end())
        if option and _is_firm(reply, match.start(), option):
            named.append(option.result)
    for match in _SHOULD.finditer(reply.low):
        if any(match[0] in text for text in reply.options.texts):
            continue  # "screening is recommended every year"
        for option in subjects(reply, match.start()):
            if _is_firm(reply, option.start, option):
                named.append(option.result)
    return _one(iter(named))


def _is_firm(reply: Reply, start: int, named: NamedOption) -> bool:
    is_out = reply.is_refuted(named) or reply.is_denied(named.start) or reply.is_absent(named.start)
    return not is_out and certainty_of(reply, start, named.start, named) >= Certainty.SUPPOSED


def _drawn(reply: Reply) -> str | None:
    """The option that the last clause names in other words, after a word such as "so"."""
    start = reply.sentence_start(len(reply.low) - 2)
    drawn = _DRAWN.search(reply.low, start)
    if drawn is None or patterns.OPEN.search(reply.low, start):
        return None
    return in_other_words(reply.text[drawn.end() :], reply.options)


def _closing(reply: Reply) -> str | None:
    """The option whose text the last sentence contains, where no earlier text names an option."""
    if len(reply.low) > _LONGEST or (
        not reply.options.labels and _WORDS & reply.options.texts.keys()
    ):
        return None
    start = reply.sentence_start(len(reply.low) - 2)
    if start == 0 or "\n" in reply.low[start:] or patterns.OPEN.search(reply.low):
        return None
    if any(option in reply.low[:start] for option, _ in reply.options.longest_first):
        return None
    named = texts_in(reply, len(reply.low))
    if len(named) != 1 or not _LINKED.search(reply.low, start, named[0].start):
        return None
    return named[0].result if _is_firm(reply, named[0].start, named[0]) else None
