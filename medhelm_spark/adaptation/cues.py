"""The regular expressions by which answers are read, built from the words of all languages.

Patterns without flags are searched in the lower-case text: with that, and without a look-behind at
their beginning, the search is ten times as fast. Every repetition is bounded, so that the time is
linear in the length of the text.
"""

import re

from medhelm_spark.adaptation.words import RIGHT, any_of

OPTION = any_of("option")
AND = any_of("either")
FILLER = (
    r"most likely|likely|clearly|definitely|probably|actually|indeed|therefore|either|donc|thus"
    rf"|{OPTION}|the|la|le|el|los|die|der|das|il|lo|é|une?|una|l'option|l'opzione"
    r"|(?-i:[ao])(?= )"
)
_SURE = rf" (?:{any_of('because')})\b"
SURE_CONNECTIVE = re.compile(
    _SURE + r"| (?:and|is|are|as|es|est|ist|è|é|seems|appears|remains|fits|it is)\b"
)
CONNECTIVE = re.compile(
    _SURE
    + r"| (?:as|which|due|given|for|based|and|but|is|was|are|were|would|with|not|over|only|here|so"
    r"|then|if|when|where|according|in|on|by|from|among|out|seems|appears|remains|fits|must"
    r"|should|it is|es|est|ist|è|é|y|et|und|sino|mais)\b"
)

_BE = any_of("be")
_NOUN = any_of("answer")
_LINK = (
    r"(?:[\"')\]]{0,3}\s{0,4}(?::|=>?|→|->)"
    rf"|\s(?:{_BE}|—|–|-)(?: (?:therefore|thus|then|likely|donc|also))?(?=[\s:.\"'(])"
    r"|[ \t]?\n|\s{0,3}(?=[(\[]\w[)\]]))"
)
_TO_LINK = rf"[^.:;!?\n]{{0,70}}?{_LINK}"
_CJK = (
    r"(?:答案|答え|正解|正确选项|정답)\s?(?:应该|應該)?\s?(?:是|为|為|は|은|는|[:：])"
    r"|[选選](?:择|擇)?(?!项)|而是|ではなく、?"
)
_FINAL_NOUN = (
    rf"final[_ ](?:{_NOUN}|choice|response|decision|diagnosis|verdict|selection)"
    r"|(?:respuesta|resposta|decisi[oó]n|escolha) final|r[eé]ponse finale|risposta finale"
    r"|(?:endg[uü]ltige|finale) antwort"
)
FINAL = re.compile(rf"\b(?:{_FINAL_NOUN})(?![a-z]){_TO_LINK}|最终答案\s?(?:是|为|:)")
KEY_NAME = (
    r"(?:\w{1,20}[ _-])?(?:answer|choice|option|selection|prediction|label|letter|response|result"
    r"|output|decision|verdict|respuesta|resposta|r[eé]ponse|antwort|risposta)(?:[ _-]?\w{1,20})?"
)
JSON_KEY = re.compile(rf"[\"']{KEY_NAME}[\"']\s{{0,9}}[:=]")
ANSWER = re.compile(
    rf"\b(?:(?:{_NOUN}|{RIGHT} (?:option|choice|response|statement|diagnosis|alternative|one)"
    r"|(?:my|the model'?s) (?:best )?(?:choice|selection|response|guess|pick|vote)"
    r"|(?:so|thus|and) the (?:choice|letter|pick)|\Athe letter|(?:correct|best|right)(?=:)"
    r"|corr?ec?t[ao](?= (?:es|é|è)\b)"
    rf"|richtig(?= ist))(?![a-z]){_TO_LINK}|ans\.? )|{_CJK}"
)
VERB = re.compile(rf"\b(?:{any_of('choose')})\b")
CONTRAST = re.compile(
    rf"\b(?:{any_of('deny')}|isn't)(?![a-z])[^.;!?\n]{{1,80}}?(?:,? "
    rf"(?:{any_of('but')})|[,;] (?:it is|it's|es|é|è|c'est|es ist))(?![a-zà-ÿ'])"
)
IS_RIGHT = re.compile(
    rf"\b(?:(?:{_BE}|are|being|was)\s(?:{any_of('right')})|(?:fits|works|matches|applies) (?:best"
    r"|the (?:description|findings|picture|presentation|case))|best (?:fits|explains|matches"
    r"|describes|accounts)|(?:is the only|only) \w+ (?:that|which) (?:fits|works|applies|explains)"
    rf"|it is(?=[.!]|\Z))|"
    r"(?:是|为)?最?(?:正确|佳选|合适|恰当)"
)
SUBJECT = re.compile(
    rf"(?:(?:\A|(?<=\n)|(?<=[.!?;,] )|(?<=[,。;])|\b(?:{OPTION}|that|but|believe|think|que|dass"
    rf"|{any_of('so')}),? )(?:(?:la|el|le|il|die|the|a|o) )?(?:(?:{OPTION}) )?"
    rf"|选项)(?=[\"'(\[]{{0,4}}[^\W_](?![a-zA-Z0-9_\u00c0-\u052f]))|(?=[(\[][^\W_][)\]])",
)
WEAK = re.compile(
    rf"\b(?:{any_of('so')}|{any_of('but')}|(?:(?:it|this|that) )?(?:is|are) (?:most |best "
    rf"|highly )?(?:consistent|compatible) with"
    r"|(?:i|we) (?:think|guess|believe|suspect|suppose)|it (?:could|might|may) (?:also|equally) be"
    r"|it'd be"
    r"|by (?:exclusion|elimination)|what remains is|left with|(?:data|results?|evidence|findings"
    r"|interval|authors|abstract|study|trial) says?|(?:matches|matched by|best described by)"
    r"|mak(?:es?|ing)(?= [^.;\n]{1,60} the (?:best|correct|right|most|answer))"
    r"|(?:it|this|that)(?:'s| is| was| must be| would be| should be"
    r"| has to be)|(?:que|dass) (?:es|é|c'est)|leaning towards?|lean towards?|leav(?:es"
    r"|ing)(?: us| me)?(?: with)?"
    rf"|points? to|indicat(?:es?|ing)|suggests?|conclude|{RIGHT}(?: [\w'-]+){{0,6}}? (?:is|would be"
    rf"|should be)|(?:{_NOUN})[^.:;!?\n]{{0,40}}?\s(?:might|could|may|can|is likely to) be"
    r"|(?:based on|according to|given|considering|from|in) [^.:;!?\n]{2,120}?(?=,))"
    r"(?![a-zà-ÿ'])[,:]?"
)
MENTION = re.compile(
    rf"(?=[(\[][^\W_][)\]])|\b(?:{OPTION}) (?=[\"'(]{{0,4}}\w\b)|选项",
)
BARE_LINE = re.compile(
    r"^[^\w\n]{0,4}(?:(?:option|answer|choice)[ :]{1,2})?[\"'(\[]{0,4}(\w)(?!\w)[^\w\n]{0,12}$",
    re.MULTILINE,
)
INLINE_START = re.compile(r"(?<=[.;!?] )(?=[\"'(\[]{0,4}\w[.):\]]{1,2} )")
HEADED = re.compile(r"[\"'(\[]{0,4}\w[.):]{1,2} ")
LINE_START = re.compile(
    r"^[^\w\n(\[]{0,4}(?:(?:option|choice) (?=[\"'(\[]{0,4}\w\b))?"
    r"(?=[\"'(\[]{0,4}\w(?:[.):\]]| [-–—] |$))",
    re.MULTILINE,
)
MARKED = re.compile(r"[✓✔✅☑]|(?<!in)(?<!not )(?<!partially )\bcorrect\b")
MARKED_WRONG = re.compile(r"[✗✘❌]|\b(?:not|in)\s?correct\b|\bwrong\b|n't\b")
DENIED = re.compile(
    rf"(?:\b(?:{any_of('deny')})|n't|不是|并非|不选)[ \"'(]{{0,4}}"
    rf"(?:(?!(?:{any_of('but')}) )[\w']+[ \"'(]{{1,4}}){{0,2}}\Z",
)
REFUTED = re.compile(
    r"[)\]\"':]{0,4} ?(?:(?!(?:and|but|so|over|which|as)\b|(?:"
    + any_of("because")
    + r")\b|-)[^\s,;.!?–—]+ ){0,3}?(?:(?:is|are|was|were|would be|seems|es|est|ist|é|è"
    rf"|ser[ií]a|serait)\s?)?(?:(?:{any_of('wrong')})\b|n't|不正确|错误)",
)
SPEAKER = re.compile(r"\A(?:assistant|response|output|model|ai)\s{0,3}(?::|\n)\s*", re.IGNORECASE)
LEAD = re.compile(
    r"\A(?!in?correct|wrong|not|neither)[^\W\d_]{2,30}(?: [^\W\d_]{2,30}){0,2} ?: ?", re.I
)
NEXT_TURN = re.compile(
    r"\n\n?(?:#{1,6} ?)?(?:question|q|input|human|user|passage|context|patient note|instruction)"
    r"s?(?: ?\d{1,4})? ?:",
    re.IGNORECASE,
)
ONE_OPTION = re.compile(rf"\b(?:{OPTION}) [\"'(\[]{{0,2}}[A-HJ-Z](?![\w'])", re.IGNORECASE)
LONGEST_SUBJECT = 400
SENTENCE = re.compile(r"[.!?](?<!\b\w\.)(?=\s+\S)|\n")
CONDITION = re.compile(rf"\b(?:{any_of('condition')})\b")
WOULD = re.compile(rf"\b(?:{any_of('would')})\b|'d\b")
TURN = re.compile(r"\b(?:wait|actually|however|but|instead|on reflection|hmm|no,|correction)\b")
SOMEBODY = re.compile(
    r"\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagine) (?!not\b)"
    r"|(?<!to )\b(?:whether|(?:possible|conceivable|arguable) that)\b"
    r"|\b(?:some|many|most (?:people|students)|others|students?|people|candidates|test-takers"
    r"|examinees|colleagues?|textbooks?|you|one) (?:[\w-]+ ){0,3}?(?:might|may|could|would|often"
    r"|tend|commonly|sometimes|mistakenly|say|think|believe|argue|choose|chose|pick|answer)\b"
    r"|\b(?:initially|at first|first (?:thought|impression|guess)|was going to|tempt\w+"
    r"|mistake\w*|traps?|pitfalls?"
    r"|misconception|distractors?|for example|e\.g\.|format)\b"
)
OTHER_ANSWER = re.compile(
    r"(?:\b(?:wrong|incorrect|false|second(?:[- ]best| most \w+)?|another|other|alternative"
    r"|tempting"
    r"|previous|common|plausible|next most \w+) |in)\Z"
)
SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]]|\Z)|\n|;")
FUNCTION_WORD = re.compile(
    r"(?:\b(?:the|an|of|in|on|at|to|for|with|by|from|and|or|but|is|are|was|were|be|been|would|could"
    r"|should|may|might|can|will|has|have|had|that|which|who|because|since|as|so|if|unless|while"
    r"|when|where|although|though|until|expect|not|than|this"
    r"|its|their|his|her|it|also|more|most|very|due|such|el|la|los|las|un|una|de|que|es|le|les"
    r"|des|du|est|et|der|die|das|und|ist|nicht|os)|[,(\[:–—-])\Z"
)
KEY = re.compile(KEY_NAME)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
ANSWER_KEY = re.compile(r"answer|choice|respuesta|resposta|r[eé]ponse|antwort|risposta|prediction")
OTHER_KEY = re.compile(
    r"wrong|incorrect|second|alternativ|other|previous|runner|not_|why|reason|expla|confid|text\Z"
    r"|options\Z|choices\Z|count|score|probab|ruled|eliminat|rational"
)
INSIDE = re.compile(r"(?:\w|\d[.,])\Z")
NO_ALONE = re.compile(
    r"[\"')\]}]{0,6}[ \t]?(?:\Z|[.,;:!?\n(\[)\]}…/–—-])|[\"')\]}]{0,4} "
    r"(?:it|they|there|this|that|these|he|she|we|i|you|because|since|as|or|and|but|is|was|would"
    r"|seems|appears|given|based|for|from|with|to|here|overall|answer|rather|although|though"
    r"|(?:in|among) (?:adults|children|men|women|some|most|others?|all|general|this|both))\b"
)
_BECAUSE = rf"(?:{any_of('because')}|as)\b"
PREFERRED = re.compile(
    r"[\"')\]]{0,4} (?:(?:should|must|needs to|has to)(?: \w+ly)? be |(?:is|was|are|would be)"
    r"(?: \w+ly)? (?:the (?:\w+ )?(?:drug|treatment|therapy|management|best|correct|right"
    r"|answer|diagnosis|cause|choice|step|option)|indicated|preferred|recommended|appropriate"
    r"|needed|required|first-line|most|best|better|correct|right))"
    r"|[\"')\]]{0,4} is what (?:i|we) would"
    rf"|[^.;!?\n]{{0,60}}\b(?:{RIGHT} (?:option|choice|answer))"
)
ENDED = re.compile(r"[\"')\]]{0,4}(?:\Z|[\n.!])")
EXPLAINED = re.compile(
    rf"[\"')\].]{{0,4}}(?:\Z|\n|,? {_BECAUSE}| \(|[.,:]? (?:this is|explanation|rationale|reason))"
)
SENTENCE_ENDED = re.compile(rf"[\"')\]]{{0,4}}(?:\Z|[\n.,;!(]|,? {_BECAUSE})")
AFTER_ALL = re.compile(
    r"\b(?:on (?:second thoughts?|reflection)|correction|actually|wait|edit|revised|scratch that"
    r"|(?:i )?meant?(?: to say)?|(?:chang|revis|correct)\w* (?:it |that |my (?:\w+ )?\w+ )?to"
    r"|make (?:it|that)|(?<=[.!?] )no(?=,)),?:? (?:(?:sorry|no|rather|wait),? )?(?:it(?:'s| is) )?"
    r"|(?<=\w )(?:->|→|⇒) ?"
)
SCOPE = re.compile(
    r"\A\W{0,4}(?:(?:in|for|with|without|among|during|after|before|when|once|under) (?!(?:this"
    r"|that|these|those|the|my|our|your|all|such|light|view|summary|conclusion|short|sum|fact"
    r"|total|other words|both|clinical|general|any|her|his|its|their)\b)|en |em |chez |bei |nei )"
)
SCOPED = re.compile(
    r"[^.;]{0,20}? (?:only )?(?:in|for|among|during|when|once|under|with) (?!(?:this|that|these"
    r"|the|our|my|his|her|all|such|light|view|general|a 1|option)\b)[a-z]"
)
ALSO = re.compile(r"\b(?:also|too|as well|equally|so is|likewise)\b")
CONCLUDED = re.compile(
    rf"\b(?:{any_of('so')}|final\w*|ultimately|answer:|in the end|taken together|summary)"
)
OWN_CLAUSE = re.compile(
    rf"\b(?:however|yet|nonetheless|{any_of('but')}|pero|aber|mais|mas)\b,?"
    r"|\A\W*(?:while|although|though|even though|whereas|aunque|embora|bien que|obwohl)\b[^,]*,"
)
DENIED_LINK = re.compile(
    rf"\b(?:no|n[aã]o|non|nicht|ne)\s(?:{_BE})\W*\Z|\bn'est\b.{{0,40}}\bpas\W*\Z"
)
HEADING = re.compile(r"[\"')\]]{0,4}\s?[:–—-]\s")
LABEL_LAST = re.compile(r"(?:\A|[\s(\[*])\w[.)]\s*\Z")
DISCUSSED = re.compile(r"[\"')\]]{0,4} (?!because|since)[^\W\d]")
OPEN = re.compile(r"\b(?:whether|depends?|depending|would (?:need|require|have to|imply))\b")
CLAUSE_END = re.compile(r"[.!?:]\s|\n")
