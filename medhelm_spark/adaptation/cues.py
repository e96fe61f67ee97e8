"""The words that tell an answer: what introduces one, calls one right, denies one, marks one.

Those without a flag are searched in the lower-case text: that, and no look behind
at their beginning, makes the search ten times as fast.
"""

import re

_NOUN = (
    r"answer(?:[_ -]?(?:choice|letter|option|idx|index|key|text|label))?|ans|prediction|selection"
    r"|respuesta|resposta|(?:opci[oó]n|opç[aã]o|alternativa) corr?ec?ta|r[eé]ponse|antwort"
    r"|risposta|ответ|उत्तर|الإجابة"
)
_RIGHT = (
    r"(?:(?:single |only |most )?(?:correct|right|accurate|appropriate|likely|suitable|probable"
    r"|plausible|consistent|fitting)|best|chosen|selected|final)"
)
_LINK = (
    r"(?:[\"')\]]*\s*(?::|=>?|→|->)|\s(?:is|to be|would be|should be|must be|will be|has to be|es"
    r"|est|ist|sera|será|seria|sería|lautet|è|é|هي|هو|—|–|-)(?=[\s:.\"'(])|[ \t]*\n"
    r"|\s*(?=[(\[]\w[)\]]))"
)
_TO_LINK = rf"[^.:;!?\n]{{0,70}}?{_LINK}"
_CJK = (
    r"(?:答案|答え|正解|正确选项|정답)\s*(?:应该|應該)?\s*(?:是|为|為|は|은|는|[:：])"
    r"|[选選](?:择|擇)?"
)
FINAL = re.compile(
    rf"final[_ ](?:{_NOUN}|choice|response|decision|diagnosis|verdict|selection){_TO_LINK}"
)
JSON_KEY = re.compile(
    r"\"(?:\w{1,20}_)?(?:answer|choice|option|selection|prediction|label|letter|response|result"
    r"|output)(?:_\w{1,20})?\"\s*:"
)
ANSWER = re.compile(
    rf"(?:{_NOUN}|{_RIGHT} (?:option|choice|response|statement|diagnosis|alternative|one)"
    r"|(?:my|the model'?s) (?:choice|selection|response)|(?:correct|best|right)(?=:))(?![a-z])"
    rf"{_TO_LINK}|ans\.? |{_CJK}"
)
VERB = re.compile(
    r"(?:choos(?:e|ing)|chose|select(?:ing|ed)?|pick(?:ing|ed)?|(?:go|going|went) with"
    r"|opt(?:ing|ed)? for|settl(?:e|ing) (?:on|for)|(?:would|i'll|i will) (?:say|answer))\b"
)
IS_RIGHT = re.compile(
    r"(?:is|are|being|would be|must be|seems(?: to be)?|appears(?: to be)?|remains)\s+"
    r"(?:clearly |definitely |likely |probably |therefore |thus )?"
    rf"(?:the |an? )?(?:{_RIGHT}|answer)\b"
)
SUBJECT = re.compile(
    r"(?:\A|(?<=\n)|(?<=[.!?;,] )|\b(?:option|choice|answer|alternative|statement|therefore|thus"
    r"|hence|so|that|but|conclusion|believe|think),? )(?=[\"'(\[]*[^\W_](?![^\W_]))"
    r"|(?=[(\[][^\W_][)\]])",
    re.IGNORECASE,
)
WEAK = re.compile(
    r"(?:therefore|thus|hence|so|consequently|conclusion|but(?: rather| instead)?|rather"
    r"|(?:it|this|that)(?:'s| is| was| must be| would be| should be| has to be)|leaning towards?"
    r"|leav(?:es|ing)"
    rf"|points? to|indicat\w+|suggests?|{_RIGHT}(?: [\w'-]+){{0,6}}? (?:is|would be|should be)"
    rf"|(?:{_NOUN})[^.:;!?\n]{{0,40}}?\s(?:might|could|may|can|is likely to) be)\b[,:]?"
)
MENTION = re.compile(
    r"(?=[(\[][^\W_][)\]])|\b(?:option|choice|answer|alternative|opci[oó]n|letra|antwort"
    r"|respuesta|resposta|risposta|r[eé]ponse) (?=[\"'(]*\w\b)",
    re.IGNORECASE,
)
BARE_LINE = re.compile(
    r"^[^\w\n]{0,4}(?:(?:option|answer|choice)[ :]{1,2})?[\"'(\[]*(\w)(?!\w)[^\w\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
LABEL_FIRST = re.compile(r"[\"'(\[]*\w(?!\w)")
LINE_START = re.compile(
    r"^[^\w\n(\[]{0,4}(?:(?:option|choice) (?=[\"'(\[]*\w\b))?(?=[\"'(\[]*\w(?:[.):\]]| [-–—] |$))",
    re.MULTILINE | re.IGNORECASE,
)
MARKED = re.compile(r"[✓✔✅☑]|(?<!in)(?<!not )(?<!partially )\bcorrect\b", re.IGNORECASE)
MARKED_WRONG = re.compile(r"[✗✘❌]|\b(?:not|in)\s?correct\b|\bwrong\b|n't\b", re.IGNORECASE)
DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|except|avoid|against|unlike|excludes?|eliminat\w+)"
    r"|n't|rather than|instead of|rul(?:e|es|ed|ing) out|than)[ \"'(]+"
    r"(?:(?!but )\w+[ \"'(]+){0,2}\Z",
    re.IGNORECASE,
)
DENIES = re.compile(r"[\s\"':]*(?:not|never|neither|none|nicht|n't)\b", re.IGNORECASE)
REFUTED = re.compile(
    r"[)\]\"':]*\s*(?:[^\s,;.]+\s+){0,3}?(?:is|are|was|were|would be|seems)?\s?"
    r"(?:not\b|n't|incorrect|wrong|false|unlikely|less|ruled out|contraindicated|excluded"
    r"|eliminated)",
    re.IGNORECASE,
)
INSIDE = re.compile(r"(?:\w|\d[.,])\Z")
SPEAKER = re.compile(r"\A(?:assistant|response|output|model|ai)\s*(?::|\n)\s*", re.IGNORECASE)
LEAD = re.compile(
    r"\A(?!in?correct|wrong|not|neither)[^\W\d_]{2,}(?: [^\W\d_]{2,}){0,2} ?: ?", re.I
)
NEXT_TURN = re.compile(
    r"\n\s*(?:#+ *)?(?:question|q|input|human|user|passage|context|patient note|instruction)"
    r"s?(?: *\d+)? *:",
    re.IGNORECASE,
)
ONE_OPTION = re.compile(r"[ (][A-HJ-Z]\b")
LONGEST_SUBJECT = 400
SENTENCE = re.compile(r"[.!?](?=\s+\S)|\n")
