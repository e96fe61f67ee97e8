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
    r"most likely|likely|only|clearly|definitely|probably|actually|indeed|therefore|either|donc"
    r"|thus|eine[nmrs]?|ein|den|dem|een"
    rf"|{OPTION}|the|la|le|el|los|die|der|das|il|lo|é|une?|una|l'option|l'opzione"
    r"|(?-i:[ao])(?= )(?! (?:is|would|seems|must|should|appears|remains)\b)"
)
_SURE = rf" (?:{any_of('because')})\b"
_FOLLOW = any_of("follow")
SURE_CONNECTIVE = re.compile(
    rf"{_SURE}| (?:{_FOLLOW}|in|for|over|before|beats|does|makes|stands|the (?:answer|best|correct"
    rf"|right|most)|best (?:fits|explains|matches|describes"
    r"|accounts)|and|is|are|as|es|est|ist|è|é|seems|appears|remains|fits|it is)\b"
)
CONNECTIVE = re.compile(
    rf"{_SURE}| (?:{_FOLLOW}|as|which|due|given|for|based|and|but|is|was|are|were|would|with|not"
    r"|over|only|here|so|then|if|when|where|according|in|on|by|from|among|out|seems|appears|remains"
    r"|fits|does|makes|stands|the (?:answer|best|correct|right|most)|best|must|should|it is|es"
    r"|est|ist|è|é|y|et|und|sino|mais|(?:en|och|i|e|o|u|oder|ou|of|eller|lub|oraz|samt)"
    r"(?= [\"'(]?[A-J]\b))\b"
)

_BE = any_of("be")
_NOUN = any_of("answer")
_LINK = (
    r"(?:[\"')\]]{0,3}\s{0,4}(?::|=>?|→|->)"
    rf"|\s(?:{_BE}|—|–|-)(?: (?:therefore|thus|then|likely|donc|also))?(?=[\s:.\"'(])"
    r"|[ \t]?\n|\s{0,3}(?=[(\[]\w[)\]]))"
)
_TO_LINK = rf"[^.:;!?\n]{{0,70}}?{_LINK}"
_WORST = any_of("worst")
_CJK = (
    r"(?:答案|答え|正解|正确选项|정답)\s?(?:应该|應該)?\s?(?:是|为|為|は|은|는|[:：])"
    r"|[选選](?:择|擇)?(?!项)|(?:我认为|最佳(?:选项|答案)|所以|因此|综上)(?:应该|应)?(?:是|为)(?=[A-Ja-j])|而是|ではなく、?"
    r"|\b(?:odpowied[zź]|opcja|wyb[oó]r) to(?! nie\b)(?= )"
)
_FINAL_NOUN = (
    rf"final[_ ](?:{_NOUN}|choice|response|decision|diagnosis|verdict|selection)"
    r"|final(?=:)|(?:respuesta|resposta|decisi[oó]n|escolha) final|r[eé]ponse finale"
    r"|risposta finale"
    r"|(?:endg[uü]ltige|finale) antwort"
)
OFFER = re.compile(
    r"\A\W{0,4}maybe (?:you|i|we)\b[^.!?\n]{0,120}(?:[.!?;]|\Z)|\A\W{0,4}(?:yes"
    r"|no)\b(?![^\n]{0,160}\b(?:more|further|else|(?:other|any) questions)\b)"
    r"[^.!?\n]{0,40}?(?:[.!?] [^.!?\n]{0,20})?"
    r"(?:\bi(?:'d| would| can|'ll| will|'m| am)[^.!?\n]{0,20}? (?:help|assist)\b"
    r"|\bi (?:can|will) do (?:that|this|so)\b|\bi(?:'m| am) (?:ready|sorry|afraid|unable)\b"
    r"|\bi (?:cannot|can't|can not|could not|couldn't|will not|won't|do not|don't|may not|must not"
    r"|refuse to|decline to|must decline to|would rather not|am not (?:able|allowed|permitted|going"
    r"|willing|in a position) to) (?:access|answer|help|open|view|provide|give (?:\w+ )?(?:advice"
    r"|answer|opinion|recommendation)|comment|discuss|advise|offer|respond)\b"
    r"|\bi(?:'ve| have) (?:now )?(?:read|received|seen|got)\b"
    r"|\b(?:happy|glad) to (?!say|report|confirm|conclude|tell|see|expl|elaborate|clarify"
    r"|discuss)\w"
    r"|\b(?:could|can|would) you (?:please )?(?:provide|share|paste|send|give|upload|attach)"
    r"|\b(?:please|kindly) (?:provide|share|paste|send|give|upload|attach|enter|specify)\b"
    r"|(?<=[.!] )(?:which|where|what|how)\b(?=[^.!?\n]{0,100}\?\s{0,4}\Z)"
    r"|\b(?:happy|glad) to(?=[.!])|\bsend me"
    r"|\b(?:that|this)(?:'s| is) an? (?:\w+ )?question\b"
    r"|\bwhat (?:is|are) (?:the|your) (?:abstract|text|question|note|article|document)"
    r"|\b(?:what|which|how|where)\b[^.!?\n]{0,60}\b(?:(?:can|may|could|shall|should) i"
    r"|(?:would|do|did|are|is|can|have) you\w{0,3})\b|\b(?:go ahead|ask away|tell me|let me know"
    r"|fire away|i'm listening|i understand|just (?:paste|share|send|ask)))"
    r"[^.!?:\n]{0,120}(?:[.!?]|(?=[:\n])|\Z)",
    re.IGNORECASE,
)
_BEFORE_WORD = (
    rf"(?:\A|(?<=\n)|(?<=: )|(?:\b(?:{_NOUN})\s(?:{_BE}|to|brzmi:?) )"
    r"|(?:答案|结论)(?:是|为|:)(?: ?: ?)?"
    r"|उत्तर (?=\S{1,6} है)|, (?=\w{2,5}[.!]?\Z))[\"'(]{0,2}"
)
_AFTER_WORD = (
    r"(?=[\"')]{0,2}(?:\s?[.,;:!\n。]|\Z| है))(?![^.!?\n]{0,60}(?:help|hj[aä]lp|helf|pom[oó][cg]"
    r"|aide|ayud"
    r"|ajud|aiut|मदद))"
)
WORD_ELSEWHERE = re.compile(
    rf"(?P<before>{_BEFORE_WORD})(?:(?P<yes>ja|tak|s[íì]|sim|oui|да|是的?|对|はい"
    r"|(?:जी )?(?:हाँ|हां))"
    r"|(?P<no>nee|nein|nej|nie|n[aã]o|non|нет|不是?|否|没有|いいえ|(?:जी )?नहीं)"
    r"|(?P<maybe>vielleicht|m[oö]glicherweise|peut-[eê]tre|quiz[aá]s?|tal ?vez|forse|misschien"
    rf"|by[cć] mo[zż]e|kanske|शायद|也许|或许|может быть)){_AFTER_WORD}",
    re.IGNORECASE,
)
FINAL = re.compile(rf"\b(?:{_FINAL_NOUN})(?![a-z]){_TO_LINK}|最终答案\s?(?:是|为|:)")
OBJECT_BEGUN = re.compile(r"[{\[]\s{0,80}[{\"'][^}]{0,4000}\Z")
LONGEST_BEGUN = 1 + 80 + 1 + 4000
MEMBER = re.compile(r"[{\"'][^\"'\n{}]{1,60}[\"']\s{0,20}:|\{\s{0,80}\"")
_HINDI = (
    r"(?:उत्तर|जवाब|विकल्प) (?:विकल्प )?(?=[\"'(\[]{0,3}\w[\"')\]]{0,3} "
    r"(?:(?!नहीं|गलत|ग़लत)[^\s.\n]{1,40} ){0,4}?(?:है|होगा))"
)
ANSWER = re.compile(
    rf"{_HINDI}|\b(?:(?:{_NOUN}|{RIGHT} (?:option|choice|response"
    rf"|statement|diagnosis|alternative|one)"
    r"|(?:my|the model'?s) (?:best )?(?:choice|selection|response|guess|pick|vote)"
    r"|(?:so|thus|and) the (?:choice|letter|pick)|\Athe letter|(?:correct|best|right)(?=:)"
    r"|corr?ec?t[ao](?= (?:es|é|è)\b)"
    r"|richtig(?= ist)|(?:prawid[lł]ow|poprawn|w[lł]a[sś]ciw)[aye](?= jest)|juist(?= is)"
    r"|r[aä]tt(?= är)|"
    r"moim zdaniem:?|enligt min mening:?|the (?:label|output|class|classification|category)"
    rf"|the (?:choice|option|solution|key|winner|letter)(?= is\b))(?![a-z]){_TO_LINK}"
    rf"|ans\.? )|{_CJK}"
)
WORST_ANSWER = re.compile(
    rf"\b(?:(?:{_WORST}) (?:{_NOUN}|{OPTION}|one|choice|diagnosis|drug|treatment)"
    rf"|(?:{_NOUN}|{OPTION}) (?:{_WORST})|exception|odd one(?: out)?"
    r"|least (?:likely|probable|plausible|typical|suitable|appropriate|common|useful)"
    r"|(?:one|drug|option|agent|treatment) to (?:avoid|exclude)|am wenigsten \w+"
    r"|(?:one|option|choice|item|answer|statement) (?:that|which) (?:does|do|is|was)(?: not|n't))"
    r"(?![a-z])"
    rf"{_TO_LINK}"
)
IS_WORST = re.compile(
    rf"\b(?:{_BE}) (?:(?:the|la|le|el|il|die|der|das|a|o) (?:{_WORST}|exception)"
    rf"|{any_of('harmful')})\b"
)
CALLED_WORST = re.compile(
    rf"\b(?:{_WORST})(?: (?:{_NOUN}|{OPTION}))?[ \"'(]{{1,4}}\Z|\bleast [\w-]+ \Z"
)
CALLED_WORST_AFTER = re.compile(
    rf"[\w']+ (?:(?:that|which|que|qui|die|che) (?:{_BE}) )?(?:the |la |le |die )?(?:{_WORST})\b"
)
VERB = re.compile(rf"\b(?:{any_of('choose')})\b")
CONTRAST = re.compile(
    rf"\b(?:{any_of('deny')}|isn't)(?![a-z])[^.;!?\n]{{1,80}}?(?:,? (?:{any_of('but')})"
    rf"|[,;] (?:it is|it's|es|é|è|c'est|es ist))(?![a-zà-ÿ'])"
)
IS_RIGHT = re.compile(
    rf"\b(?:(?:{_BE}|are|being|was)\s(?:{any_of('right')})|(?:fits|works|matches|applies) (?:best"
    r"|the (?:description|findings|picture|presentation|case))|best (?:fits|explains|matches"
    r"|describes|accounts)|(?:is the only|only) \w+ (?:that|which) (?:fits|works|applies|explains)"
    rf"|(?<!\n)it is(?=[.!]|\Z)|(?:is|does|fits)(?=[.!])|makes (?:the )?most sense"
    r"|stands out as the|is the one(?=[.!]))|(?:是|为)?最?(?:正确|佳选|合适|恰当)"
    r"|सही (?:उत्तर |विकल्प |जवाब )?है"
)
SUBJECT = re.compile(
    rf"(?:(?:\A|(?<=\n)|(?<=[.!?;,] )|(?<=[,。;])|\b(?:{OPTION}|that|but|believe|think|only|que"
    rf"|dass|{any_of('so')}),? )(?:(?:la|el|le|il|die|the|a|o) )?(?:(?:{OPTION}) )?"
    rf"|选项)(?=[\"'(\[]{{0,4}}[^\W_](?![a-zA-Z0-9_\u00c0-\u052f]))|(?=[(\[][^\W_][)\]])",
)
WEAK = re.compile(
    rf"\b(?:{any_of('so')}|{any_of('but')}|(?:(?:it|this|that) )?(?:is|are) (?:most |best "
    rf"|highly )?(?:consistent|compatible) with"
    r"|confident in|arrive at|argues? for|vote goes to|fits with|(?:i|we) (?:now )?(?:think|guess"
    r"|believe|suspect|suppose)|it (?:could|might|may) (?:also|equally) be|it'd be|by (?:exclusion"
    r"|elimination)|what remains is|left with|(?:data|results?|evidence|findings|interval|authors"
    r"|abstract|study|trial) says?|(?:matches|matched by|best described by)|mak(?:es?"
    r"|ing)(?= [^.;\n]{1,60} the (?:best|better|correct|right|most|answer))"
    r"|(?:its|(?:it|this|that)(?:'s| is| was| must be| would be| should be| has to be))"
    r"|(?:which |that )?makes? it|means(?= \W?\w\W?(?:[.,;!]|\Z))|(?:que|dass) (?:es|é|c'est)"
    r"|leaning towards?|lean towards?|leav(?:es|ing)(?: us| me)?(?: with)?"
    rf"|points? to|indicat(?:es?|ing)|suggests?|conclude|{RIGHT}(?: [\w'-]+){{0,6}}? (?:is|would be"
    rf"|should be)|(?:{_NOUN})[^.:;!?\n]{{0,40}}?\s(?:might|could|may|can|is likely to) be"
    r"|(?:based on|according to|given|considering|from|in) [^.:;!?\n]{2,120}?(?=,))"
    r"(?![a-zà-ÿ'])[,:]?"
)
MENTION = re.compile(
    rf"(?=[(\[][^\W_][)\]])|\b(?:{OPTION}) (?=[\"'(]{{0,4}}\w\b)|选项",
)
LABEL_IS_RIGHT = re.compile(rf" (?:{_BE}) (?:{any_of('right')})")
BARE_LINE = re.compile(
    r"^[^\w\n]{0,4}(?:(?:option|answer|choice)[ :]{1,2})?[\"'(\[]{0,4}(\w)(?!\w)[^\w\n✗✘❌]{0,12}$",
    re.MULTILINE,
)
INLINE_START = re.compile(r"(?<=[.;!?] )(?:(?:option|choice) )?(?=[\"'(\[]{0,4}\w[.):\]]{1,2} )")
HEADED = re.compile(r"(?:(?:option|choice) )?[\"'(\[]{0,4}\w[.):]{1,2} ")
LINE_START = re.compile(
    r"^[^\w\n(\[]{0,4}(?:(?:option|choice) (?=[\"'(\[]{0,4}\w\b))?"
    r"(?=[\"'(\[]{0,4}\w(?:[.):\]]| [-–—] |$))",
    re.MULTILINE,
)
MARKED = re.compile(
    r"[✓✔✅☑←⬅⇐]|<--?|(?<!in)(?<!not )(?<!partially )\bcorrect\b|\A[\"')\]]{0,4}\s?[:–—-]\s?(?:true"
    r"|right"
    r"|yes)\b"
)
MARKED_WRONG = re.compile(
    r"[✗✘❌]|\b(?:not|in)\s?correct\b|\bwrong\b|n't\b|\A\W{0,8}(?:false|no)\b"
)
DENIED = re.compile(
    rf"(?:\b(?:{any_of('deny')})(?!\w)|n't|不是|并非|不选)[ \"'(]{{0,4}}"
    rf"(?:(?!(?:{any_of('but')}) )[\w']+[ \"'(]{{1,4}}){{0,2}}\Z",
)
REFUTED = re.compile(
    r"[)\]\"':]{0,4} ?(?:(?!(?:and|but|so|over|which|as)\b|(?:"
    + any_of("because")
    + r")\b|-)[^\s,;.!?–—]+ ){0,3}?(?:(?:is|are|was|were|would be|seems|es|est|ist|é|è"
    rf"|ser[ií]a|serait)\s?)?(?:(?:{any_of('wrong')})\b|n't|不正确|错误|(?:सही )?नहीं|गलत|ग़लत)",
)
HARMFUL = re.compile(
    rf"[)\]\"':]{{0,4}} ?(?:[-–—] ?(?:{any_of('harmful')}|incorrect|wrong|false)\b"
    r"|(?:(?!(?:and|but|so|over|which|as)\b|(?:"
    + any_of("because")
    + rf")\b|-)[^\s,;.!?–—]+ ){{0,3}}?(?:(?:{_BE}|are|was|were|be) )?"
    rf"(?:{any_of('harmful')})\b)"
)
ABSENT = re.compile(
    rf"\b(?:{any_of('absent')})(?:[ \"'(]{{1,4}}(?!(?:{AND}|to"
    rf"|but)\b)[\w'-]+){{0,2}}?[ \"'(]{{1,4}}\Z"
)
MET_WITH = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )met with\b")
DENIED_BEFORE = re.compile(
    rf"\b(?:not|never|cannot|avoid|against|{any_of('harmful')})\b(?![^\n]*\b(?:{any_of('but')})\b)"
    r"|n't\b"
)
SPEAKER = re.compile(r"\A(?:assistant|response|output|model|ai)\s{0,3}(?::|\n)\s*", re.IGNORECASE)
LEAD = re.compile(
    r"\A(?!in?correct|wrong|not|neither|less|least|second|alternative|other|worst)"
    r"[^\W\d_]{2,30}(?: [^\W\d_]{2,30}){0,2} ?: ?"
    r"|\A(?=[^\W\d_]{1,30}(?: [^\W\d_]{2,30}){3,9} ?:)(?=[^:\n]{0,120}\b(?:overall|final"
    r"|answer|choice|diagnosis|conclu\w+|verdict|judge?ment|best|classification|category|label"
    r"|rating"
    r"|result)\b)(?![^:\n]{0,120}\b(?:not|never|least"
    r"|wrong|incorrect|avoid\w*|contraindicated|exclu\w+|differential|unlikely|worst|except)\b)"
    r"[^:\n]{0,300}: ?",
    re.I,
)
JOINED = re.compile(r"(?:,|;| and| but| while| whereas) (?=[\"'(]?\w\b)")
ONLY_IF = re.compile(
    r"\bonly (?:if|when|in)\b|\b(?:otherwise|else|de lo contrario|caso contr[aá]rio|sinon|sonst"
    r"|andernfalls|altrimenti)\b|\bs[oó]lo si\b|\bnur wenn\b|\bseulement si\b"
)
NOT_HERE = re.compile(
    rf"\b(?:{any_of('but')}|yet|though|although|however|pero|mais|aber|mas),? (?:(?:it|this|that|es"
    r"|c'est|elle est|il est|das|sie|é|è)(?:'s)? ?(?:is |was |would be |ist |est )?)?"
    r"(?:not (?:here|in (?:this|our)|for (?:this|our)|correct|right|appropriate|suitable)"
    r"|wrong|incorrect|false|(?:es |est |ist )?(?:incorrect[ao]|fals[aoc]h?|fausse|faux|errad[ao]))"
    r"|\bonly (?:if|when)\b"
)
BUT_HERE = re.compile(
    rf"\b(?:{any_of('but')}|however|yet|pero|mais|aber|mas),? (?:here|in (?:this|our)|for (?:this"
    r"|our)|given|because|since|with|due|considering|aqu[ií]|en este|ici|dans ce|hier|in diesem)\b"
)
EXCEPT = re.compile(
    r"\b(?:except(?: for)?|excepto|other than|apart from|aside from|besides|save(?: for)?|sauf"
    r"|au[sß]er|exceto|tranne|salvo)\b"
)
NONE_BUT = re.compile(
    r"\b(?:none|nothing|no (?:other )?(?:option|answer|choice))\b[^.;!?\n]{0,60}?"
    r"\b(?:except(?: for)?|but|other than|apart from|aside from|besides|save(?: for)?)\b"
)
ALL_BUT = re.compile(
    r"\b(?:any(?:thing)?|every(?:thing)?|all|each)(?: of (?:these|them|the \w+))?(?: \w+){0,4}?,? "
    r"(?:but|except(?: for)?|with the exception of|other than|apart from"
    r"|aside from)(?: for)? (?:(?:the|an?) )?"
    r"[\"'(]{0,4}"
    rf"(?:(?:{OPTION}) [\"'(]{{0,4}})?\Z"
)
ALL_EXCEPT = re.compile(ALL_BUT.pattern.removesuffix(r"\Z"))
IS_NOT = re.compile(
    r"\b(?:(?:is|are) the (?:only )?one (?:that|which) )?(?:is|are|was|do|does|can|should)"
    r"(?: not|n't)(?: (?:true|correct|right|one of (?:them|these|those)"
    r"|among (?:them|these)))?(?=[.!,;]|\Z)"
)
IS_NOT_SUCH = re.compile(
    r"\b(?:(?:is|are)(?: not|n't) (?:(?:typically|usually|generally) )?(?:(?:an?|one of the"
    r"|among the) (?!(?:correct|right|good|best|answer|exception)\b)\w|part of|seen|found|caused"
    r"|associated|expected|included|listed|characteristic|typical\b)|(?:do|does)(?: not|n't)"
    r" (?!mean|matter|seem|appear|look)\w)"
)
ASKS_FOR_EXCEPTION = re.compile(
    r"\bexcept\b|(?<!at )\bleast\b|\bbut (?:one|which)\b|\b(?:which|what)(?: one)?"
    r"(?: (?:of|among) [^,;?]{1,60}?)?"
    r"(?: \w+){0,3}? (?:is|are|was|were|does|do|would|should|can|could|has|have)(?: not|n't)\b"
    r"|\b(?:statements?|options?|answers?|one|which|following|claims?)\b[^.?]{0,80}? (?:is|are)"
    r" (?:false|untrue|incorrect|wrong)\b(?! with)"
)
NEXT_TURN = re.compile(
    r"\n\n?(?:#{1,6} ?)?(?:(?:next |new |another )?question|q|input|human|user|passage|context"
    r"|patient note|instruction)s?(?: ?\d{1,4})? ?:",
    re.IGNORECASE,
)
ONE_OPTION = re.compile(rf"\b(?:{OPTION}) [\"'(\[]{{0,2}}[A-HJ-Z](?![\w'])", re.IGNORECASE)
SCOPED_NEXT = re.compile(
    r"(?: (?:choice|option|answer|treatment|drug|one|step))? ?(?:only )?(?:in|for|among|during|when"
    r"|once|under|with) (?!(?:this|that|these|the|our|my|his|her|all|such)\b)[a-z]"
)
_TURNING = (
    r"(?:(?:oh|hmm+|ok(?:ay)?),? )?(?:correction|edit|sorry|oops|wait|actually|however|but|hmm+|no,"
    r"|on (?:second|reflection|the other)|(?:let me|let's|i (?:should|need to|must)) (?:double|re"
    r"|check|verify|think|see|look)\w*|yet|alternatively|then again|instead|pero|sin embargo|mais"
    r"|cependant|toutefois|aber|jedoch|mas|por[eé]m|entretanto|ma|tuttavia)\b"
)
TURN_NEXT = re.compile(rf"[\"')\].,;:!? \n…]{{0,12}}(?:{_TURNING}|(?:or|oder|ou|o|unless|if)\b)")
STANDS = re.compile(
    r"\b(?:the|my|that) (?:\w+ )?(?:answer|choice|response) (?:still )?(?:stands|holds(?: up)?"
    r"|is unchanged|remains (?:unchanged|the same)|does(?: not|n't) change)(?=[.!;\n])"
)
SENTENCE_TURN = re.compile(rf"(?:[.!?…][\"')\]]{{0,2}}\s|\n){_TURNING}")
CLOSED = re.compile(r"(?:\\(?:boxed|fbox)\s?\{[^{}]*\}+|<[/\\](?:final_?)?answer>)\W*\Z", re.I)
GRADE = re.compile(
    r"\b(?:the )?(?:(?:esi|triage|severity|risk|acuity) ){0,2}"
    r"(?:grade|level|stage|class|category|score|group|esi)(?: is)? (?=\d\b)",
    re.IGNORECASE,
)
BEFORE_LABEL = re.compile(
    r"\A(?:A:|\d{1,2}[.)](?!\d)) ?(?=[\"'(\[]{0,2}[^\W_][\"')\]]{0,2}\W{0,2}\Z)"
)
NUMBERED = re.compile(r"^[ \t]{0,8}(\d)[.)] (?=\S* ?[^\W\d_]{2})", re.MULTILINE)
UNREAL = re.compile(r"\b(?:if|unless|or|" + any_of("condition") + r")\b")
SENTENCE = re.compile(r"[.!?](?<!\b\w\.)(?=\s+\S)|\n")
CONDITION = re.compile(rf"\b(?:{any_of('condition')})\b")
WOULD = re.compile(rf"\b(?:{any_of('would')})\b|'d\b")
TURN = re.compile(r"\b(?:wait|actually|however|but|instead|on reflection|hmm|no,|correction)\b")
SOMEBODY = re.compile(
    r"(?<!no )(?<!little )\bdoubt\b|\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagine) (?!not\b)[^,]*\Z"
    r"|(?<!to )\b(?:whether"
    r"|(?:possible|conceivable|arguable) that)\b|\b(?:some|many|most (?:people|students)|others"
    r"|students?|people|candidates|test-takers|examinees|colleagues?|textbooks?"
    r"|you|one) (?!should |must )(?:[\w-]+ ){0,3}?(?:prefer|favou?r|recommend|might|may|could|would"
    r"|often|tend|commonly|sometimes|mistakenly|say|think|believe|argue|choose|chose|pick|answer)\b"
    r"|\b(?:commonly|often|frequently|usually|mistakenly) (?:chosen|picked|selected|given|answered)"
    r"|\b(?:wrong|incorrect|false|unsafe|dangerous|inappropriate|mistake|error|unwise"
    r"|harmful) (?:to|that)\b|\b(?:error|equivocado|erro|errado|faux de|erreur de|errore)\b"
    r"|\b(?:initially|at first|first (?:thought|impression|guess)|was going to|tempt\w+|mistake\w*"
    r"|(?:for|in|of) (?:which|whom)(?= (?:the|my|one|you)\b)"
    r"|traps?|pitfalls?|(?:earlier|older|previous|former|prior|other) (?:stud\w+|trials?"
    r"|guidelines?|editions?|authors)|misconception|distractors?|for example|e\.g\.|format)\b"
)
OTHER_ANSWER = re.compile(
    r"(?:\b(?:cada|toda|chaque|jede[nrs]?|ogni|elke|ka[zż]d\w{1,2}|varje|wrong|incorrect"
    r"|false|first|initial|original|earlier|old|draft|preliminary|(?:second|next)(?:[- ]best"
    r"| most \w+)?|another|other"
    r"|alternative|tempting|(?!model|question|today)\w{2,20}'s|previous|common|plausible"
    r"|next most \w+) |in)\Z"
)
OF_ALL = re.compile(
    rf"\b(?:(?:each|every)(?: \w+)? (?:{OPTION})|(?:option|choice|alternative|statement|answer)s)"
    r"\W{0,6}\Z"
)
REASON = re.compile(rf"\W{{0,4}},? ?(?:{any_of('because')}|as|given|due to)\b(?<!or) \w")
ASKS_FOR_WORST = re.compile(
    rf"\b(?:except|excepto|exceto|sauf|au[sß]er|tranne|not|n't|least|nicht|kein\w*|no (?:es|est|se"
    rf"|deb)|n[aã]o|pas|non|{_WORST}|{any_of('harmful')})\b|n't\b"
)
OPTION_LINE = re.compile(r"[ \t]*\(?\w[.):]\)? ")
AFTER_SENTENCE = re.compile(r"(?<=[.?!])\s+")
SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]]|\Z)|\n|;")
ARTICLE_LAST = re.compile(
    r"(?<!answer )(?<!choice )(?<!option )\b(?:is|was|be|as|has|of|in|for|with|by) a\Z"
)
CLOSING_LINE = re.compile(
    rf"[^\w\n]{{0,6}}(?:(?:my|the|so|overall|{RIGHT}) ){{0,3}}(?:{_FINAL_NOUN}|{_NOUN}|label|class"
    r"|category|classification|choice|output|triage|priority|severity|grade|level|rating|decision"
    r"|conclusion|result|etikett|klasse|kategorie|einstufung|etiqueta|categor[ií]a|classe"
    r"|[eé]tiquette|cat[eé]gorie|clasificaci[oó]n|classifica[cç][aã]o|classificazione|etichetta"
    r"|categorie|etykieta|kategoria|etikett|kategori|标签|类别|ラベル)[\"')\]]{0,3} ?(?::|=>?|→)\s?"
)
BEGUN_LINE = re.compile(r"[a-zß-ÿ]{2}")
FUNCTION_WORD = re.compile(
    r"(?:\b(?:the|an|of|in|on|at|to|for|with|by|from|and|or|but|is|are|was|were|be|been|would|could"
    r"|should|may|might|can|will|has|have|had|that|which|who|because|since|as|so|if|unless|while"
    r"|when|where|although|though|until|expect|not|than|this|its|their|his|her|it|also|more|most"
    r"|very|due|such|how|what|why|whether|about|after|before|between|during|into"
    r"|del|con|por|para|su|dans|avec|pour|sur|mit|von|bei|zur|zum|di|della|het|een|van|voor"
    r"|da|dos|com|em|av|och|för|som|att|oraz"
    r"|el|la|los|las|un|una|de|que|es|le|les|des|du|est|et|der|die|das|und|ist|nicht"
    r"|os)|[,(\[:–—-])\Z"
)
ENDED_BY_IT = re.compile(
    r"\A\W{0,3}(?:\w+ ){0,3}[\w)]+ it is\Z|\b(?:confirms?|explains?|supports?|suggests?|fits?|does"
    r"|treats?"
    r"|causes?|prevents?|excludes?|proves?|indicates?|ha(?:s|ve)|of|for|with|about|against|do) it\Z"
)
INSIDE = re.compile(r"(?:\w|\d[.,]|[^\W\d_]{2}-)\Z")
HYPHENATED = re.compile(r"[-‐‑][^\W\d_]{2}")
NO_ALONE = re.compile(
    r"(?!\. ?\d)(?:[\"')\]}]{0,6}[ \t]?(?:\Z|[.,;:!?\n(\[)\]}…/–—-])|[\"')\]}]{0,4} (?:it|they"
    r"|there|this|that|these|he|she|we|i|you|because|since|as|or|and|but|is|was|would|seems|appears"
    r"|can|could|are|given|based|for|from|with|to|here|overall|otherwise|if|unless|when|rather"
    r"|although"
    r"|though|(?:in|among) (?:adults|children|men|women|some|most|others?|all|general|this"
    r"|both))\b)"
)
_BECAUSE = rf"(?:{any_of('because')}|as)\b"
PREFERRED = re.compile(
    r"[\"')\]]{0,4} (?:(?:should|must|needs to|has to)(?: \w+ly)? be |(?:is|was|are"
    r"|would be)(?: \w+ly)? (?:the (?:\w+ )?(?:drug|treatment|therapy|management|best|correct|right"
    r"|answer|diagnosis|cause|choice|step|option)|indicated|preferred|recommended|appropriate"
    r"|needed|required|first-line|most|best|better|correct|right))|[\"')\]]{0,4} is what (?:i"
    r"|we) would"
    rf"|[^.;!?\n]{{0,60}}\b(?:{RIGHT} (?:option|choice|answer))"
)
VERDICT_NEXT = re.compile(
    r"[\"')]{0,3} (?:is|would be|seems|appears|remains|fits|must be|should be|es|est|è|é|är|jest)\b"
)
BELOW = re.compile(r"[\"')\].]{0,4}\n\n? ?(?![\"'(\[]{0,3}\w[.):\]]{1,2} )")
REASON_NEXT = re.compile(
    rf"[\W_]{{0,12}}(?:explanations?|rationale|reason(?:s|ing)?|justification|why|{_BECAUSE}"
    r"|this is because|(?:this|it) is (?:the (?:\w+ )?(?:best|correct|right|answer|only|preferred"
    r"|appropriate|likely)|correct|right)|the (?:\w+ )?answer is)\b"
)
TABLE_ROW = re.compile(r"^\|?[^|\n]{1,400}\|[^\n]{1,2000}$", re.MULTILINE)
_REMARK = r"(?:[:;(–—-] ?(?![^|]*\b(?:but|only|if|unless)\b)[^|]{0,60})?"
CELL_RIGHT = re.compile(
    r"\W*[✓✔✅☑]\W*(?:\w+\W*)?|\W*(?:correct|right|true|yes|best|selected|chosen|(?:most |very "
    r"|highly"
    r" )?(?:likely|probable|plausible)|fits|matches)(?: (?:answer|choice|option|match|fit"
    r"|diagnosis))?"
    rf"(?:\W*|{_REMARK})"
)
CELL_WRONG = re.compile(
    r"\W*[✗✘❌✖×]\W*(?:\w+\W*)?|\W*(?:incorrect|not correct|wrong|false|no|not|rejected|excluded"
    r"|ruled out|eliminated|(?:very |highly )?unlikely|(?:less|least|not) likely|improbable"
    rf"|implausible|does(?: not|n't) fit|poor fit|no match|inconsistent)(?: (?:answer|choice"
    rf"|option))?(?:\W*|{_REMARK})"
)
RIGHT_NEXT = re.compile(rf" (?:(?:{_BE}) )?(?:{any_of('right')}|{_FOLLOW})")
OWN_LABEL = re.compile(r" \((\w)\)")
ENDED = re.compile(r"[\"')\]]{0,4}(?:\Z|[\n.!])")
EXPLAINED = re.compile(
    rf"[\"')\].]{{0,4}}(?:\Z|\n|,? {_BECAUSE}| \(|[.,:]? (?:this is|explanation|rationale|reason))"
)
SENTENCE_ENDED = re.compile(rf"[\"')\]]{{0,4}}(?:\Z|[\n.,;!(]|,? {_BECAUSE})")
AFTER_ALL = re.compile(
    r"\b(?:on (?:(?:second|another) (?:thoughts?|look|reading)|reflection|further thought"
    r"|review|(?:a )?closer (?:look|inspection|reading))|oops|or rather|correction|actually|wait"
    r"|edit|revised|scratch that|(?:i )?meant?(?: to (?:say|write|type|put|answer))?|"
    r"(?:chang(?:e|ed|ing)|revis\w+|correct\w*) (?:it |that |this "
    r"|my (?:\w+ )?\w+ )?to"
    r"|switch to(?:(?<=\bme switch to)|(?<=\bi switch to)|(?<=\bi'll switch to))"
    r"|(?:correct|revise) (?:that|this|it|myself)(?=[:,])|let me (?:correct|revise)(?=:)"
    r"|(?:answer|choice|response|label|pick)(?: therefore| thus| now){0,2} (?:changes|is changed"
    r"|has changed|switches|moves|is revised|becomes)"
    r"(?: from \S{1,20})? to"
    r"|make (?:it|that)|or better(?: yet| still)?:?"
    r"|(?:i'm |so )?sorry|apologies|pardon(?: me)?|my (?:mistake|bad|error)"
    r"|(?:hmm+|well)(?=,)(?:(?<=\.\. well)|(?<=… well)|(?<= [–—-] well)|(?<=\.\. hmm)|(?<=… hmm)"
    r"|(?<= [–—-] hmm))"
    r"|(?:(?<=[.!?,;–—-] )|(?<=\()|(?<=\boh )|(?<=[–—]))no(?=,)),?:? (?:(?:sorry"
    r"|no|rather|wait|on balance|overall|more likely|probably),? )?(?:it(?:'s| is) )?"
    r"|(?<=\w )(?:->|→|⇒) ?"
)
_THIS_CASE = (
    r"(?:this|that|these|those|the|my|our|your|all|such|light|view|summary|conclusion|short|sum"
    r"|fact|re-?\w+ing|checking|thinking|looking|careful|further|closer|more|total|other words|both"
    r"|clinical|general|any|her|his|its|their)\b"
)
SCOPE = re.compile(
    r"\A\W{0,4}(?:(?:by|in) contrast,? |conversely,? )?(?:(?:formerly|previously|historically"
    r"|traditionally|later|elsewhere|sometimes|as an? \w+|as for|according to an? (?:older|earlier"
    r"|former|previous|other))\b|in the (?!end|present|current|given|light|context|final|above|case"
    r"|fact|absence of|following)\w|(?:in|for) (?:the|an?) (?:second|third|next|other|different"
    r"|latter|alternative|hypothetical) \w+|another|(?:in|for|with|without|among|during|after"
    r"|before"
    rf"|when|once|under) (?!{_THIS_CASE})|en |em |chez |bei |nei )"
)
SCOPED = re.compile(
    r"[^.;,]{0,40}? (?:only )?(?:(?:when|once|while) |(?:in|for|among|during|under|with) (?!(?:this"
    r"|that|these|the|our|my|his|her|all|such|light|view|general|a 1|option)\b))[a-z]"
)
RESTARTING = ("update", "edit", "revis", "erratum", "amended", "addendum", "apolog")
RESTARTED = re.compile(
    r"(?:(?:\A|(?<=\n)|(?<=[.!?] )|(?<=[(\[]))(?:update|edit|revision|revised|erratum"
    r"|amended|addendum) ?[:–—-](?! ?(?:i (?:first|initially|originally|had|previously|was|added)"
    r"|typo|spelling|format\w*|fixed|clarif\w*|added|for clarity))"
    r"|\bi apologi[sz]e for (?:the|my|any|this) (?:\w+ ){0,2}(?:error|mistake|confusion|mix-?up"
    r"|oversight)(?: (?:in|of) (?:my|the) (?:\w+ )?\w+)?)"
)
_CANNOT = (
    r"(?:can(?:not|'t| not)|could(?: not|n't)|(?:am|was|i'm|we're|are) (?:(?:therefore|thus|still"
    r"|simply) )?(?:unable|not (?:able|willing|prepared|in a position)) to|unable to|do(?: not|n't)"
    r" (?:know|see) (?:how )?(?:to )?|refuse to|decline to|will not|won't|(?:is|'s) (?:impossible"
    r"|not possible) to)"
)
UNDECIDING = (
    "can't", "cannot", "can not", "could", "unable", "not able", "'t know", "not know", "t see",
    "not possible", "impossible", "undecided", "no ", "refuse", "decline", "will not", "won't",
    "unanswered", "leav", "not willing", "not prepared", "not in a position", "needed", "required",
    "necessary",
)  # fmt: skip
_TO_KNOW = r"(?:\w+ )?(?:information|data|details?|tests|testing|facts|findings)"
_ONE = r"(?:one|either|any|which|(?:the|these|those) (?:two|three|options|rest)|them|a single)"
UNDECIDED = re.compile(
    rf"\b(?:{_CANNOT} (?:\w+ )?(?:settle(?: on)?|decide|choose|commit|pick|select|determine which"
    r"|say which|tell which|tell (?:them|the two|these) apart|make up my mind|narrow (?:it|this)"
    r"|(?:give|offer|name|provide|single out) (?:(?:an?|one|any|you) )?(?:\w+ )?(?:answer|option"
    r"|choice|one|letter))\b"
    r"|(?:i|we) (?:do not|don't|cannot|can't) know which"
    r"|(?:i|we) (?:remain|am|stay|'m still|am still|are) undecided|no (?:single |one |definite"
    r" |definitive )?(?:answer|option|choice) can be (?:given|chosen|picked|selected|named"
    r"|determined)|(?:leave|leaving) (?:this|it|the question) (?:open|unanswered|blank)"
    r"|(?:i have|there is) no (?:final |single |definite )?answer(?! (?:but|other))"
    rf"|(?:more|further|additional) {_TO_KNOW}\b[^.;!?\n]{{0,60}}? (?:needed|required|necessary)"
    rf"(?: first)?,? (?:before {_ONE}\b[^.;!?\n]{{0,30}}? (?:can|could|is|may) be"
    r" (?:chosen|picked|selected|preferred|named|given as)|(?:to|in order to|before i can|before we"
    rf" can) (?:choose|decide|pick|select|tell|say|settle)(?: (?:between|among|on|for))? {_ONE})"
    r"|(?:choice|decision) (?:between|among) [^.;!?\n]{1,80}? (?:cannot|can't|can not) be made\b)"
)
UNDECIDED_BUT = re.compile(
    r"\b(?:but|however|if|so|though|although|yet|still,|nevertheless|other than|except|until"
    r"|would(?! be (?:needed|required|necessary))|between any|anything)\b"
)
RETRACTED = re.compile(
    r"\b(?:re-?(?:consider|evaluat|think)ing|(?:let me|i (?:need to|must|should|have to|will))"
    r" re-?(?:consider|think|check|evaluate|examine|read|assess)\w*|(?:hmm+|wait|actually|oh|no),? "
    r"(?:no|wait)(?=[.,!])|correction(?= ?[:–—-])|let me think (?:again|(?:about )?(?:this|it|that)"
    r" (?:again|over|through again))"
    r"|that was (?:wrong|incorrect|an? \w+)|i (?:was|am) (?:wrong|mistaken)"
    r"|i made an? (?:mistake|error)|(?:check|think|look|read)ing (?:it )?again|scratch that"
    r"|i take back \S{1,20}|i mis(?:read|understood|interpreted)(?: (?:the|your) \w+)?)"
)
TAKEN_BACK = re.compile(
    r"(?:[.!?…\n][\"')\]]{0,2}\s{0,2}|[–—-] )(?:(?:but|oh|hmm+|no|ok(?:ay)?|actually|sorry|wait"
    r"|hold on),? (?:(?:that|this|it)(?:'s| is) (?:wrong|incorrect|not right))|(?:(?:but|oh|hmm+|no"
    r"|ok(?:ay)?|actually|sorry),? ){0,2}(?:wait(?=[.,:;!…–—-])|wait \w+ no\b"
    r"|hmm+,? but\b"
    r"|hold on(?=[.,:;!…–—-])|scratch that|strike that|(?:let me|let's"
    r"|i (?:need to|must|should|have to|will)) re-?(?:consider|think|evaluate|examine|assess|do)\w*"
    r"|let me think (?:again"
    r"|(?:about )?(?:this|it|that) (?:again|over))|(?:that|this)"
    r"(?: was| cannot be| can't be| must be) (?:wrong|incorrect|(?:not )?right|an? (?:mistake"
    r"|error))"
    r"|i (?:was wrong(?! (?:about|at first))|made an? (?:mistake|error)|take (?:that|it) back"
    r"|misread|retract)|(?:i apologi[sz]e|apologies|sorry) (?:for|about)"
    r" (?:the|my|this) (?:\w+ ){0,2}(?:error|mistake|slip|oversight)"
    r"|my (?:previous|earlier|first|original|initial) (?:answer|response|reply|choice) (?:is|was"
    r"|contained|had) (?:wrong|incorrect|mistaken|an? (?:error|mistake))"
    r"|(?:let me|i(?:'ll| will| need to| must| should| have to)) (?:fix|correct|redo|amend|revise"
    r"|change) (?:that|this|it|my (?:\w+ )?(?:answer|reply|response|choice))(?=[.!:,…]|\Z)"
    r"|on second thoughts?\b))"
)
KEPT = re.compile(
    r"\b(?:stands?|standing|stay\w*|still|remains?|unchanged|confirm\w*|(?:was|is) (?:right|correct"
    r"|fine|ok(?:ay)?)|holds|keep\w*|stick\w*|indeed|yes|fits|consistent|makes sense)\b"
)
CORRECTED = re.compile(
    rf"{AFTER_ALL.pattern}|{RETRACTED.pattern}"
    r"|\b(?:final(?:ly)?|draft|revis\w+|correct(?:ed|ion)|instead"
    r"|now|at first|initial\w*|first (?:thought|guess|impression)|previous\w*|not)\b"
)
ALSO = re.compile(r"\b(?:also|too|as well|equally|so is|likewise)\b")
EQUALLY = re.compile(
    r"\b(?:also|too|as well|equally|likewise|just as|the same|both|either|similarly|comparabl\w+)\b"
)
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
DOUBT_NEXT = re.compile(
    r"[\"')\]]{0,3}(?:\.\.\.?|…|\s?[–—]|\s-)\s?(?:hmm+|wait|no|well|actually|or|let me)\b"
)
MARK = re.compile(r"(?P<tick>[✓✔✅☑]|\[x\])|[✗✘❌✖]|\[ \]")
TICK = re.compile(r"[✓✔✅☑]|\[x\]")
POINTED_AT = re.compile(
    r"(?:[←⬅⇐👈]|(?<!-)<-{1,2})[^\w\n]{0,6}(?:(?:this(?: one)?|here|correct|right|best"
    r"|(?:the |my )?(?:\w+ )?(?:answer|choice|pick))\b)?[^\w\n]{0,6}$"
    r"|[-–—:;,.(] {0,2}(?:(?:so|yes|it's|it is|and),? )?this one[^\w\n?]{0,6}$",
    re.MULTILINE,
)
MARKED_LABEL = re.compile(r"[\"'(\[]?(\w)[\"')\].:]{0,2}(?= ?[^\w\s'-])")
LINE_OF_OPTION = re.compile(
    r"^(?P<before>(?:[^\w\n]|x(?=\])){0,12})(?:\d{1,2}[.)] )?(?P<said>\w[^\n]{0,400}?)"
    r"(?P<after>[^\w\n]{0,12})$",
    re.MULTILINE,
)
BETTER_NEXT = re.compile(
    r"[\"')\]]{0,3} (?:is|would be|seems|fits) (?:the |an? )?(?:better|best|correct|right|more"
    r"|preferable|preferred|safer)\b"
)
LIKEWISE = re.compile(
    r"\b(?:so|nor|neither) (?:is|was|are|were|do|does|did|has|have|can|would|should) \Z"
)
CONCESSION = re.compile(
    r"(?:,? |\A)(?:although|though|even though|even if|while|whereas|unless) (?:[^,.;:!?\n]{0,300}"
    r"(?:,(?! (?:then|in which case|otherwise|but)\b)[^,.;:!?\n]{0,300})?)(?=[.!]?\Z)"
)
NEGATIVE_RELATIVE = re.compile(
    r"\b(?:that|which|to) (?:\w+ ){0,3}?(?:not|never|avoid)\b[^.;,\n]{0,40}? (?:is|are) [\"'(]{0,3}"
    r"(?:(?:the|an?) )?\Z"
)
LIST_JOINT = re.compile(r"[\"')]{0,3}(?:,? (?P<and>and|or|nor) |, )(?:(?:the|an?) )?[\"'(]{0,3}")
ARROW_LAST = re.compile(r"(?:<-{1,2}|[←⬅⇐👈])[^\w\n]{0,6}(?:the |my )?(?:\w{1,12} )?\Z")
ARROW_NEXT = re.compile(r"[\"')\]]{0,4} ?(?:->|→|⇒)")
ANNOUNCED = re.compile(
    r"\b(?:each|every|all|the|cada|todas|chaque|jede\w{0,2}|alle|ogni|elke|każd\w{1,3}|varje|las"
    r"|les"
    r"|as)(?: \w{2,8}){0,2} (?:options?|choices?|alternatives?|answers?|opci[oó]n(?:es)?"
    r"|alternativas?|op[cç][aã]o|op[cç][oõ]es|optie|antwort\w{0,3}|m[oö]glichkeit\w{0,2}|opzion[ei]"
    r"|opcj\w{1,2}|alternativ)\b[^\n]{0,60}\n"
)
LISTED_LABEL = re.compile(
    r"^[^\w\n]{0,6}(?:(?:option|choice) )?[\"'(\[]{0,4}(\w)[.):\]]{1,2} \S", re.MULTILINE
)
LABEL_LAST = re.compile(r"(?:\A|[\s(\[*])\w[.)]\s*\Z")
DISCUSSED = re.compile(
    r"[\"')\]]{0,4} (?!because|since|i (?:think|guess|believe|suppose)\b)[^\W\d]"
)
OPEN = re.compile(
    r"\b(?:whether|depends?|depending|would (?:need|require|have to|imply)"
    r"|(?:can(?:not|'t| not)|(?:unable|not able) to) (?:\w+ )?(?:answer|say|tell|decide|determine"
    r"|choose)|(?:consult|ask|see|talk to|speak (?:to|with)|contact) (?:your|an?|the"
    r"|with) (?:\w+ ){0,2}"
    r"(?:doctor|physician|pharmacist|provider|clinician|specialist|professional|dietiti?an)"
    r"|(?:i|we) (?:can(?:not|'t)|am (?:unable|not able)|doubt))\b"
)
BEGUN_CLAUSE = re.compile(
    r"(?:\A|[ .\n])(?:but|however|if|unless|when|while|whereas|or|wait|although|pero|mais|aber)"
    r"(?:,? [\w'-]+){0,3}(?<=\w\w)\Z"
)
CLAUSE_END = re.compile(r"[.!?:]\s|\n")

DRAWN = re.compile(rf"\b(?:{any_of('so')})\b,? (?!far\b|that\b)(?=[^.!?\n]{{2,120}}[.!]?\Z)")
BRACKETED_WORD = re.compile(r"\((yes|no|maybe)\)\W{0,3}\Z")
LOOSE_LABEL = re.compile(
    r"\A\W{0,4}(?:(?:(?:has to|gotta|must) be|i(?:'?d| would|'ll)? (?:think|guess|say|believe"
    r"|choose|pick|go with)|(?:i'm )?going with|prob\.?|(?:most )?(?:likely|probably)"
    r"|definitely|maybe|perhaps|surely|certainly|answer|ans|option|choice|(?:it|this|that)"
    r"(?:'s| is)|its|go with),?[ :.–—-]{1,4}){1,3}\(?(?P<label>[a-z])\)?(?=[.;!\n]"
    r"|,(?! ?\W?\w\b)|\Z| (?:because|given|since|as|i (?:think|guess|believe))\b)"
)
LOOSE_LABEL_NEXT = re.compile(
    r"\A\W{0,4}(?:(?:def|gotta be|must be|has to be|opt|option|so|its|it's|i'd say|answer) )?"
    r"\(?(?P<label>[a-z])\)?[,.]? (?:it is|for sure|imh?o|no doubt|obviously|definitely|clearly"
    r"|i(?:'d)? (?:think|guess|believe|suppose|reckon|say)|then|probably|most likely|likely"
    r"|(?:would be|is)"
    r" my (?:best )?(?:guess|choice|answer|pick|bet)|hands down|without (?:a |any )?doubt"
    r"|all the way"
    r"|seems (?:right|best|correct|most likely))\W{0,4}\Z"
    r"|\A\W{0,4}(?:def|gotta be|must be|opt)\.? \(?(?P<short>[a-z])\)?(?: then)?\W{0,4}\Z"
    r"|[\w)](?:,|;|:| [–—-]| →| ->) ?(?:so|i\.e\.,?|thus|hence|therefore|that's|meaning|which is"
    r"|aka|ie|=)"
    r" (?:option |answer |letter )?\(?(?P<last>[a-z])\)?[.!]?\Z"
)
_NUMBER = "first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th"
ORDINAL = re.compile(
    rf"(?:\b(?P<before>{_NUMBER}) (?:option|answer|alternative|one|(?<!first )choice)"
    r"|\b(?:option|answer|choice|number) (?:number )?(?P<after>one|two|three|four|five|[1-5])"
    rf"|\A\W{{0,4}}(?:(?:the|no\.?|number) ?)?(?P<alone>{_NUMBER}|[1-5])(?=\W{{0,4}}\Z))"
    r"(?=[.,;!)\n]|\Z| (?:is (?:the )?(?:correct|right|best|answer)|because|since|as|given)\b)"
)
CONCLUSION_HEADING = re.compile(
    r"^[^\w\n]{0,4}(?:(?:the|my|final|overall|clinical|brief|in|step \d:?) ){0,2}(?:conclusions?"
    r"|verdict|answer|decision|diagnosis|summary|recommendation|bottom line|judge?ment|fazit"
    r"|conclusi[oó]n|conclus[aã]o|conclusione|conclusie|schlussfolgerung)"
    r"[^\w\n]{0,4}(?:\n+|(?<=: ))",
    re.MULTILINE,
)
BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
DENIES = re.compile(
    r"(?:\b(?:none of|neither|nor|not|cannot)|n't)(?! (?:only|just|necessarily|always|because)\b)"
    r"(?: (?:be|give|use|choose|pick|start))?(?=[ \"'(:])"
)
BETWEEN_DENIAL = re.compile(
    r"[ \"'(:]{0,4}(?:(?:the|an?|either|options?|choices?|answers?)[ \"'(:]{1,4}){0,2}"
)
JOINTLY = re.compile(r"\b(?:none of|neither|n?or)\b")
CLAUSE_START = re.compile(
    r"(?:\A|(?<=[.!?;,] )|(?<=\n)|(?<=and )|(?<=but )|(?<=while ))"
    r"(?:(?:options?|choices?|answers?|both) )?(?=[\"'(\[]{0,3}\w)"
)
ONLY_ONE = re.compile(
    r"\bonly (?:one|option|choice|answer|\w{3,20})(?: here| left| listed)? (?:that|which|who) "
    r"[^.:;!?\n]{1,60}? (?:is|would be)(?= )"
)
GIVE = re.compile(
    r"(?:\A|(?<=[.!?;:] )|(?<=\n)|\bso,? |\binstead,? )(?:please )?(?:give|start|use|administer"
    r"|order|prescribe|perform|do|take|begin|try|obtain|choose|pick)(?: (?:her|him|them|the patient"
    r"))?(?= )"
)
SHOULD = re.compile(
    r"\b(?:should|must|needs? to|has to|is to)(?: \w{2,12}ly| now| first){0,2} be (?:\w{2,12}ly )?"
    r"(?:given|done|performed|started|used|administered|ordered|prescribed|tried|initiated"
    r"|obtained|chosen)\b|\bis (?:clearly )?(?:indicated|required|needed|warranted|recommended"
    r"|the (?:\w+ )?(?:drug|treatment|therapy|test|agent|step) of choice"
    r"|what (?:this|the|our) patient needs)\b"
)
_NEED = r"(?:ask|want|need|insist|requir|request|press|forc|push|must|have|had)"
COLON_LEAD = re.compile(
    r"(?:\A|(?<=[.!?,] )|(?<=\n)|\bbut |\bso )(?:(?:and|but|so|still|yet|now),? )?"
    rf"(?:(?:since|as|because|given that) you(?:'ve| have)? (?:\w+ )?{_NEED}\w*"
    rf"|if (?:(?:you|i|we)(?: \w+)? {_NEED}\w*|forced|pressed|pushed|an? (?:\w+ )?(?:class"
    r"|label|word|answer|letter) is (?:needed|required|wanted))"
    r"|(?:going|judging|judged) (?:\w+ly |just )?(?:by|from|on)|based (?:\w+ly |only )?(?:up)?on"
    r"|in (?:general|principle|short|brief|summary|(?:one|a single) word)|generally(?: speaking)?"
    r"|as an? (?:\w+ )?(?:class|label|word|answer|letter)|for (?:the|this) (?:classification|task"
    r"|exercise|purpose))\b[^.:;!?\n]{0,120}: ?(?=\S)"
)
OVERALL = re.compile(
    r"(?:so,? |thus,? |but,? )?(?:overall|in (?:summary|conclusion|short|sum)|all in all"
    r"|taken together|altogether|on (?:the whole|balance)|to (?:conclude|sum up)),? "
    r"(?:the|this|that|your|his|her)(?: (?:whole|entire|x-?ray|chest|ct|mri|radiology|clinical"
    r"|patient'?s?))* ?(?:report|x-?ray|film|scan|study|image|picture|result|examination|exam|case"
    r"|letter|message|note|text|request|call|referral|e-?mail|complaint|review|comment|statement"
    r"|class|category|urgency|triage|severity|label|rating) (?:is|was|would be|counts as|must be)"
    r"(?: (?:best |most )?(?:classed|classified|rated|labell?ed|called|described|graded) as)?"
    r"(?: clearly| therefore| thus)? (?=\S)"
)
BRACKET_NEXT = re.compile(
    r" \((?!(?:or|maybe|perhaps|not|if|unless|possibly|but|probably|likely|versus|vs)\b|\?)"
    r"[^()\n]{1,200}\)\W{0,4}(?:\Z|\n)"
)
UNCERTAIN_NEXT = re.compile(r"[\"')\]]{0,4},? \((?:or|maybe|perhaps|not|if|unless|possibly|but)\b")
LINKED = re.compile(
    r"\b(?:is|are|be|was|suggests?|indicates?|fits?|supports?|confirms?|means|called|of|with|for"
    r"|to) "
)
