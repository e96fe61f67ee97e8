"""An answer that points to what the text named before: "back to my first idea", "the latter".

Only the last sentences are read. Where it is open what they point to, nothing is read.
"""

import re
from collections.abc import Sequence

from medhelm_spark.adaptation.conclusion_patterns import LABEL
from medhelm_spark.adaptation.distinctive_words import parts, stem, stems_of_question
from medhelm_spark.adaptation.named_groups import Sentence, groups, sentences
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.stance_words import INDEX_BY_ORDINAL, NEGATES
from medhelm_spark.adaptation.words import RIGHT

_LONGEST, _CLOSING = 4_000, 240
"""The most characters of a text that is searched, and of its end that may point back."""
_NEAR = 2
"""The sentence that points back, and the one before it."""
_THOUGHT = (
    r"(?:idea|thought|guess|answer|choice|instinct|impression|hunch|pick|option|response|idee"
    r"|antwort|eingebung|vermutung|id[eé]e|r[eé]ponse|intuition|idea|respuesta|opci[oó]n"
    r"|risposta|impressione|antwoord|gedachte|my[sś]li|odpowiedzi|pomys[lł]u|tanke|svar|ideia"
    r"|resposta)"
)
_FIRST_THOUGHT = re.compile(
    rf"\b(?:(?:return(?:ing)?|(?:go|going|come|coming|am|i'm) back|revert(?:ing)?) to"
    rf"|(?:stick|stay|sticking|staying) with) (?:my|the) (?:very )?(?:first|initial|original) "
    rf"{_THOUGHT}\b|\bmy (?:very )?(?:first|initial|original) {_THOUGHT} (?:was|is) (?:right"
    r"|correct)(?: after all)?(?=[.!])"
    rf"|\b(?:zur[uü]ck zu|bleibe? bei) meine[rmn] ersten {_THOUGHT}"
    rf"|\b(?:reviens|retour) [aà] ma premi[eè]re {_THOUGHT}|\bvuelvo a mi primera {_THOUGHT}"
    rf"|\b(?:torno|ritorno) alla mia prima {_THOUGHT}|\bterug (?:naar|bij) mijn eerste {_THOUGHT}"
    rf"|\bwracam do (?:mojej |swojej |mojego )?pierwsz(?:ej|ego) {_THOUGHT}"
    rf"|\btillbaka till (?:min|mitt) f[oö]rsta {_THOUGHT}|\bvolto [aà] minha primeira {_THOUGHT}"
)
_CHOICE = (
    r"\b(?:(?:answer|solution|choice|it|one|option)(?: [\w']+){0,4}? (?:is|'s|be|was)(?: [\w']+)?"
    r"|(?:i|i'd|i'll)(?: would| will)? (?:pick|choose|select|take|go (?:with|for)|opt for|say)"
    r"|so,?|therefore,?|hence,?|leaves|given [^.,;]{1,60},)(?: clearly| therefore| thus)? "
)
_PAIR = re.compile(rf"{_CHOICE}the (?P<which>latter|former)(?=[.,;!]|\Z| (?:one|option|two)\b)")
_NUMBERED = re.compile(rf"{_CHOICE}the (?P<place>first|second|third|fourth|last)(?: one)?[.!]?\Z")
_RANKED = re.compile(
    r"\bthe (?P<place>first|top|highest|last|lowest)(?: one| item| option)? (?:in|of|on)"
    r" (?:that|this|the|my) (?:ranking|order|list|ranked list|sequence)\b"
)
_RANKING = re.compile(r"[A-J](?: ?(?:>|≫|≻) ?[A-J]){1,9}")
_OPPOSITE = re.compile(
    r"\b(?:answer|it|response|truth|verdict)(?: [\w']+){0,3}? (?:is|must be|has to be)(?: now"
    r"| exactly| just| precisely| rather)? the (?:opposite|reverse|contrary|other(?: one| option"
    r"| answer)?)[.!]?\Z|\b(?:antwort|gegenteil) [^.!?]{0,30}(?:gegenteil|trifft zu|richtig)[.!]?\Z"
    r"|\b(?:c'est|est) (?:donc )?(?:le contraire|l'inverse)[.!]?\Z"
    r"|\b(?:es|é|è) (?:justo |exatamente |esattamente )?(?:lo contrario|o contr[aá]rio"
    r"|il contrario)[.!]?\Z"
)
_VERDICT = re.compile(
    r"(?:\b(?:making|(?:which|that|this|what) makes) it"
    r"|\b(?:so|hence|thus|therefore|consequently),? (?:it|this|that)(?:'s| is)"
    r"|\bwi[eę]c to jest|\b(?:also|daher|somit) ist (?:das|dies|es)|\bc'est donc"
    r"|\b(?:por lo tanto|portanto|quindi|por eso),? (?:es|é|è))"
    rf" (?:the |our |my |die |la |a )?(?:{RIGHT} )?(?:answer|choice|option|exception|odpowied[zź]"
    r"|antwort|r[eé]ponse|respuesta|resposta|risposta|one (?:that|which) (?P<asked>[^.;!?]{3,60}))"
    r"[.!]?\Z"
)
_REMAINING = re.compile(
    r"\bthe (?:only )?remaining (?:one|option|choice|answer|drug|test)\b"
    r"(?![^.;!?]*\b(?:not|never|less|wrong|unlikely|also|incorrect|or)\b|[^.;!?]*n't\b)"
)
_ONLY_ORDINAL = re.compile(
    r"\bonly the (?P<place>first|second|third|fourth|last)(?: one| option)?"
    r" (?:remains|is left|fits|survives|is suitable|does|is)(?=[.!,])"
)
_MIDDLE = re.compile(
    r"\b(?:so|hence|thus|therefore|leaves),? the middle (?:category|class|option|one|label|level"
    r"|grade)\b(?![^.;!?]*\b(?:not|or)\b)"
)
_HINTS = (
    "first", "latter", "former", "second", "third", "fourth", "last", "initial", "origin", "top",
    "highest", "lowest", "oppos", "revers", "contra", "other", "gegenteil", "invers", "number",
    "no.", "item", "line", "point", "entry", "erst", "premi", "prim", "eerst", "pierw", "först",
    "makes it", "making it", "it is the", "it's the", "this is the", "that is the", "that's the",
    "remaining", "the middle", "to jest", "ist das", "ist dies", "ist es", "c'est donc", "por lo",
    "portanto", "quindi", "por eso",
)  # fmt: skip
"""What the end of a text that points back has, which is looked for first."""
_ITEM = re.compile(r"^ ?(?P<number>\d{1,2})[.)] ?[^\n]{1,200}$", re.MULTILINE)
_MATCHING = re.compile(
    r"\b(?:matching|correct|right|best|chosen|answer|final) ?(?:number|no\.?|item|line|point"
    r"|entry)\W{1,4}(?P<number>\d{1,2})\W{0,3}\Z"
)


def referred(reply: Reply) -> NamedOption | None:
    """The option that the last sentences point back to; a result of None where that is open."""
    options = reply.options
    if reply.is_cut or options.are_numbers or len(reply.low) > _LONGEST:
        return None
    if not options.labels and {"yes", "no"} & options.texts.keys():
        return None
    begin = max(0, len(reply.low) - _CLOSING)
    end = reply.low[begin:]
    if not any(hint in end for hint in _HINTS):
        return None
    for pattern, resolve in _WAYS:
        match = pattern.search(reply.low, begin)
        if match and not _names_option(reply, match.end()):
            return NamedOption(resolve(reply, match), match.start(), match.end())
    return None


def _names_option(reply: Reply, at: int) -> bool:
    rest = Sentence(at, len(reply.low), is_asked=False)
    return bool(reply.low[at:].strip(" .!")) and bool(groups(reply, rest))


def _named_before(reply: Reply, end: int) -> list[str]:
    """The options that the text names before `end`, each once, in the order of their naming."""
    found: dict[str, None] = {}
    for sentence in sentences(reply):
        if sentence.start >= end:
            break
        part = Sentence(sentence.start, min(sentence.end, end), sentence.is_asked)
        for group in groups(reply, part):
            found.update(dict.fromkeys(named.result for named in group if named.result))
    return [*found]


def _first_thought(reply: Reply, match: re.Match[str]) -> str | None:
    named = _named_before(reply, match.start())
    return named[0] if named else None


def _of_pair(reply: Reply, match: re.Match[str]) -> str | None:
    """The last one of those named, where the sentence before names it; the first one of two."""
    named = _named_before(reply, match.start())
    before = [it for it in sentences(reply) if it.start < match.start()][-_NEAR:]
    near = [one.result for it in before for group in groups(reply, it) for one in group]
    is_pair = len(named) == len(("former", "latter"))
    if match["which"] == "former":
        return named[0] if is_pair else None
    is_near = bool(before) and bool(groups(reply, before[0])) and near[-1:] == named[-1:]
    return named[-1] if is_near and len(named) > 1 else None


def _numbered(reply: Reply, match: re.Match[str]) -> str | None:
    """The option with that ordinal, where the text does not name others in another order."""
    at = INDEX_BY_ORDINAL[match["place"]]
    results = _everything(reply)
    named = _named_before(reply, match.start())
    if not -len(results) <= at < len(results):
        return None
    is_in_order = len(named) < 2 or named[at : at + 1 or None] == [results[at]]
    is_left = {*named} == {*results} - {results[at]}
    return results[at] if is_in_order or is_left else None


def _of_ranking(reply: Reply, match: re.Match[str]) -> str | None:
    rankings = [*_RANKING.finditer(reply.text, 0, match.start())]
    if len(rankings) != 1:
        return None
    labels = LABEL.findall(rankings[0][0])
    label = labels[-1 if match["place"] in ("last", "lowest") else 0]
    return reply.options.labels.get(label)


def _other_of_two(reply: Reply, match: re.Match[str]) -> str | None:
    """The other one of two options, where the text names one alone."""
    results = {*_everything(reply)}
    named = _named_before(reply, match.start())
    left = results - {*named[-1:]}
    return left.pop() if len(left) == len(named) == 1 else None


def _judged(reply: Reply, match: re.Match[str]) -> str | None:
    """The only option that the sentence of the verdict names, or else the one before it."""
    question_stems = stems_of_question(reply.asks.question)
    if match["asked"] and not {stem(word) for word in parts(match["asked"])} <= question_stems:
        return None
    for sentence in reversed([it for it in sentences(reply) if it.start < match.start()][-_NEAR:]):
        part = Sentence(sentence.start, min(sentence.end, match.start()), is_asked=False)
        if named := [one.result for group in groups(reply, part) for one in group]:
            return _only(named)
    return None


def _remaining(reply: Reply, match: re.Match[str]) -> str | None:
    """The only option that the text does not name before, where it denies something before."""
    named = {*_named_before(reply, match.start())}
    left = {*_everything(reply)} - named
    is_left = len(left) == 1 and len(named) > 1 and NEGATES.search(reply.low, 0, match.start())
    return left.pop() if is_left else None


def _middle(reply: Reply, match: re.Match[str]) -> str | None:
    results = _everything(reply)
    is_odd = len(results) % 2 == 1
    return results[len(results) // 2] if is_odd and match else None


def _everything(reply: Reply) -> list[str]:
    """The results of all options, in their order."""
    return [*dict.fromkeys((reply.options.labels or reply.options.texts).values())]


def _of_item(reply: Reply, match: re.Match[str]) -> str | None:
    """The option that the item of that number names."""
    items = [item for item in _ITEM.finditer(reply.low) if item["number"] == match["number"]]
    found = [
        named.result
        for item in items
        for group in groups(reply, Sentence(*item.span(), is_asked=False))
        for named in group
    ]
    return _only(found)


def _only(found: Sequence[str | None]) -> str | None:
    return found[0] if len(set(found)) == 1 else None


_WAYS = (
    (_FIRST_THOUGHT, _first_thought),
    (_PAIR, _of_pair),
    (_RANKED, _of_ranking),
    (_OPPOSITE, _other_of_two),
    (_MATCHING, _of_item),
    (_NUMBERED, _numbered),
    (_ONLY_ORDINAL, _numbered),
    (_VERDICT, _judged),
    (_REMAINING, _remaining),
    (_MIDDLE, _middle),
)
