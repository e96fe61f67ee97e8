"""A short text that is one option in other words: "Radial" for "Radial nerve", "drain abscess"."""

import re

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.options import Options, option_text, share
from medhelm_spark.adaptation.spelling import key
from medhelm_spark.adaptation.words import any_of

_WORD = re.compile(r"[^\W_](?:[\w'/%.,+-]*[\w%+])?")
_SMALL = frozenset(
    {
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "by", "and", "or", "is",
        "are", "be", "as", "its", "this", "that", "one", "it",
    }
)  # fmt: skip
"""Words that distinguish no option from another."""
_STATED = re.compile(
    r"\A(?:(?:(?:the )?(?:(?:correct|best|right|most likely|likely|final) )?"
    r"(?:answer|diagnosis|choice|option|drug|treatment|cause|finding)|it|this|that)"
    r"(?: is|'s| would be|'d be)|its|(?:it |this |that )?(?:sounds|looks|seems) (?:like|to be)"
    r"|(?:must|gotta|has to|got to) be|prob\.?|def\.?|(?:i(?:'d| would)? (?:think|guess|say|choose"
    r"|pick)))(?: (?:it is|it's))?"
    r"(?: (?:most likely|likely|probably|an?|the))* |\A(?:definitely|surely|certainly|most likely"
    r"|likely|probably|possibly) ",
    re.IGNORECASE,
)
_BARRED = re.compile(
    rf"\b(?:{any_of('absent')}|{any_of('deny')}|{any_of('wrong')}|{any_of('worst')}"
    rf"|{any_of('harmful')})\b|"
    r"\b(?:not?|non|never|neither|nor|none|without|except|but|or|vs|versus|and|than|rather|instead"
    r"|unlikely|less|least|exclu\w+|rule\w*|avoid\w*|stop\w*|contraindicated|wrong|false|incorrect"
    r"|is|are|was|were|be|would|could|should|may|might|must|can|will|has|have|had|do|does|did|if"
    r"|unless|until|when|after|before|for|with|in|on|from|to|of|as|by|at|his|her|their|no|you|i|we"
    r"|please|help|arguments?|discussion|overview|analysis|option|answer|\w{3,}ly|borderline"
    r"|almost|somewhat|quite)\b|n't\b|[?:|]"
)
_AFTERTHOUGHT = re.compile(
    r"(?:,? (?:because|since|as|given|due to|i'?d say|i think|i guess|i believe|imh?o|to me|for me"
    r"|although|though|even though|while|for sure|right there|straight"
    r" away|of course|obviously)\b|,? (?:most likely|probably|likely)(?=\W*\Z)|\s[–—-]{1,2}\s"
    r"|\s?[:;(]|, ).{0,400}\Z",
    re.IGNORECASE | re.DOTALL,
)
_OPEN_REST = re.compile(
    rf"[\s,;:(–—-]{{0,4}}(?:or|but|no|maybe|wait|versus|vs|and|yet|unless|if)\b"
    rf"|.*\b(?:not (?:sure|recommended|indicated|given|used|here)|{any_of('wrong')}"
    rf"|{any_of('worst')}|{any_of('harmful')})\b",
    re.DOTALL,
)
_CONCESSION = re.compile(
    r"[\s,;:(–—-]{0,4}(?:although|though|even though|while|not|rather than|unlike|and not)\b"
)
_INITIALS = re.compile(
    r"\A\W*(?:(?:[Pp]rob(?:ably|\.)?|[Ll]ikely|[Ii]t'?s|Answer:?|an?|the|acute|An?|The"
    r"|Acute) )*([A-Z]{2,5})(?=\W*\Z)"
)
_ALONE = re.compile(
    r"(?<!type )(?<!group )(?<!vitamin )(?<!class )(?<!grade )(?<!stage )(?<![\w'-])(\w)(?![\w'-])"
)
_CALLED_TRUE = re.compile(r" (?:is|are)(?: both| all)? (?:true|correct|right|present)\Z")
_POINT = re.compile(r"(?<=\b\w)\.(?=\w{2})")
_OF = re.compile(r"([a-z]{4,}) of (?:the )?([a-z]{4,})")
_ENDING = re.compile(r"(?<=[a-z]{4})(?:ic|i?al|ar|i?um|us|[aesy])\Z")
_FEWEST, _SHORT = 2, range(1, 8)
_LONGEST_REST = 260
_JOINS = re.compile(r"[,;+/&]|\b(?:and|or|with|plus|not?|non|never|without|except|either|both)\b")
_MOST_WORDS, _MOST_ADDED, _MOST_STATED, _SHORTEST = 8, 2, 6, 2


def in_other_words(text: str, options: Options) -> str | None:
    """The option that a short text is, where it says no more than the option and a word or two."""
    if len(text) > options.longest + _LONGEST_REST or "\n" in text.strip():
        return None
    head = _AFTERTHOUGHT.sub("", text)
    result = _short_in_other_words(text, options)
    if result or head == text or not head.strip():
        return result
    rest = text[len(head) :]
    is_other = any(option in rest.lower() for option, _ in options.longest_first) or any(
        match[1] in options.labels for match in _ALONE.finditer(rest)
    )
    is_open = _OPEN_REST.match(rest.lower()) or patterns.EQUALLY.search(rest.lower()) or "?" in rest
    if is_open or (is_other and not _CONCESSION.match(rest.lower())):
        return None
    return options.texts.get(option_text(head)) or _short_in_other_words(head, options)


def _short_in_other_words(text: str, options: Options) -> str | None:
    is_long = len(text) > options.longest + 60 or text.count(" ") > _MOST_WORDS + _MOST_STATED
    if is_long:
        return None
    if (value := share(text)) and value in options.shares:
        return options.shares[value]
    bare = option_text(patterns.LEAD.sub("", text.strip(" \n.!\"'()[]"))).strip(" .!\"'()[]")
    if result := options.by_key.get(key(bare)) or _alike(bare, options) or _of(bare, options):
        return result
    if result := _abbreviated(text, bare, options):
        return result
    if (subject := _CALLED_TRUE.sub("", bare)) != bare and "not" not in subject:
        return options.texts.get(subject) or _alike(subject, options)
    stated = _STATED.match(bare)
    statement = bare[stated.end() :] if stated else ""
    if statement and (result := _abbreviated(_STATED.sub("", text.strip()), statement, options)):
        return result
    return (options.by_key.get(key(statement)) or _alike(statement, options)) if statement else None


def _of(bare: str, options: Options) -> str | None:
    """The only option of two words that a text turns round: "dissection of the aorta"."""
    turned = _OF.fullmatch(bare)
    own = f"{_stem(turned[2])} {turned[1]}" if turned else None
    found = [
        result
        for text, result in options.longest_first
        if own and len(words := text.split()) == _FEWEST and f"{_stem(words[0])} {words[1]}" == own
    ]
    return found[0] if len(found) == 1 else None


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


def _abbreviated(text: str, bare: str, options: Options) -> str | None:
    """The only option whose words are shortened: "e coli", "staph aureus", "vit K", "UC"."""
    words = _WORD.findall(_POINT.sub(". ", bare))
    found = {
        result
        for option, result in options.longest_first
        if _is_short_for(words, _WORD.findall(option))
    }
    if not found and (initials := _INITIALS.search(text)):
        short = initials[1].lower()
        found = {
            result
            for option, result in options.longest_first
            if short in _initials(option) and short.upper() not in options.labels
        }
    return found.pop() if len(found) == 1 else None


def _is_short_for(words: list[str], own: list[str]) -> bool:
    """Whether each word is one of an option's, or its beginning, and one at least is whole."""
    if len(words) != len(own) or len(own) < _FEWEST:
        return False
    pairs = [*zip(words, own, strict=True)]
    is_whole = any(len(word) > 1 and word == other for word, other in pairs)
    is_named = is_whole or all(len(word) > 1 for word in words[:1])
    return (
        is_named
        and all(
            word == other
            or (other.startswith(word) and len(word) in _SHORT and len(other) > len(word) + 1)
            for word, other in pairs
        )
        and (is_whole or words[-1] == own[-1])
    )


def _initials(option: str) -> set[str]:
    """The first letters of an option's words, from any of the first two words on."""
    letters = "".join(word[0] for word in _WORD.findall(option) if word not in _SMALL)
    return {letters[at:] for at in range(2) if len(letters[at:]) >= (2 if at == 0 else 3)}


def _alike(bare: str, options: Options) -> str | None:
    words = _WORD.findall(bare)
    if not words or len(words) > _MOST_WORDS or patterns.SENTENCE.search(bare):
        return None
    if any(match[1].upper() in options.labels for match in _ALONE.finditer(bare)):
        return None  # "A. heparin" names two options, or a word of its own
    return _with_more(bare, options) or _with_fewer(words, options)


def _with_more(bare: str, options: Options) -> str | None:
    """The only option whose text is in the phrase, with a word or two beside it."""
    bare = f" {' '.join(bare.split())} "
    contained = [text for text, _ in options.longest_first if f" {text} " in bare]
    if not contained:
        return _with_words_between(bare.split(), options)
    contained = [
        text for text in contained if not any(text in other for other in contained if other != text)
    ]
    if len(contained) != 1 or len(contained[0]) <= _SHORTEST or contained[0] in _WORDS:
        return None
    rest = bare.replace(f" {contained[0]} ", " ", 1)
    added = _WORD.findall(rest)
    is_more = 0 < len(added) <= _MOST_ADDED and not _BARRED.search(rest)
    return options.texts[contained[0]] if is_more else None


def _with_words_between(words: list[str], options: Options) -> str | None:
    """The only option of two words or more whose words are all there, in order, with one more."""
    found = [
        result
        for text, result in options.longest_first
        if len(own := text.split()) == len(words) - 1 > 1 and _is_within(own, words)
    ]
    is_barred = _BARRED.search(" ".join(words)) is not None
    return found[0] if len(found) == 1 and not is_barred else None


def _is_within(own: list[str], words: list[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in own)


def _with_fewer(words: list[str], options: Options) -> str | None:
    """The only option that has all words of the phrase, and does not join several things."""
    content = _parts(words) - _SMALL
    is_word = not content or max(map(len, content)) < _SHORTEST or _WORDS & content
    if is_word or (_BARRED.search(" ".join(words)) and words != ["none"]):
        return None
    found = [
        text
        for text, _ in options.longest_first
        if (own := _parts(_WORD.findall(text)))
        and all(word in own or word.removesuffix("s") in own for word in content)
    ]
    if len(found) != 1:
        return None
    left_out = " ".join(_parts(_WORD.findall(found[0])) - content)
    is_part = "," in found[0] or _JOINS.search(left_out)
    return None if is_part else options.texts[found[0]]


def _parts(words: list[str]) -> set[str]:
    """Words without "'s", and the parts of those with hyphens."""
    return {part for word in words for part in word.removesuffix("'s").split("-")}


_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})
