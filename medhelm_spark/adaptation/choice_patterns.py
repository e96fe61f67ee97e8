"""Patterns of `choice` alone: how a reply states, doubts or takes back an option."""

import re

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
_SEND = (
    r"(?:transmet\w*|envo\w+|fourni\w*|partage\w*|coll\w+|communiqu\w+|send\w+|schick\w*|teil\w*"
    r"|geben|gib|f[uü]g\w+|env[ií]\w*|compart\w+|proporcion\w+|pega\w*|invi\w+|condivid\w+"
    r"|fornir\w*"
    r"|incoll\w+|stu(?:ur|ren)|del\w+|plak\w*|geef|prze[sś]\w+|poda\w*|wkle\w+|udost\w+|skicka\w*"
    r"|klistra\w*|ge|compartilh\w+|forne\w+|col[ae]\w*|भेज\S*|साझा)"
)
_HELP = (
    r"(?:aide\w*|assister|helfen|behilflich|weiterhelfen|unterst[uü]tzen|ayud\w+|ajud\w+|aiut\w+"
    r"|helpen|pom[oó]\w+|hj[aä]lpa|r[eé]pondre|beantworten|responder\w*|rispondere|beantwoorden"
    r"|odpowiedzie[cć]|svara|मदद|सहायता)"
)
_I_CAN = (
    r"(?:je (?:peux|pourrais|serai\w*|suis|vais)|ich (?:kann|helfe|bin|werde)|kann ich|puedo"
    r"|podr[eé]"
    r"|posso|ik (?:kan|help)|kan ik|mog[eę]|jag (?:kan|ska)|kan jag|मैं|avec plaisir|gerne?"
    r"|con gusto"
    r"|encantad[oa]|volentieri|graag|ch[eę]tnie|g[aä]rna|com (?:prazer|gosto))"
)
_PLEASE = (
    r"(?:veuillez|pourriez|pouvez|merci de|bitte|k[oö]nnten? sie|kannst du|por favor|podr[ií]a\w*"
    r"|puede\w*|per favore|pu[oò]i?|potrebbe|alstublieft|kunt u|kun je|prosz[eę]|czy mo[zż]e\w*"
    r"|v[aä]nligen|kan du|poderia|pode|कृपया)"
)
DISCLAIMER = re.compile(
    r"\b(?:not a (?:doctor|physician|clinician)|can(?:'t|not| not) (?:tell|advise|give|provide"
    r"|recommend)|medical advice|emergency|(?:consult|ask|see|talk to|speak (?:to|with)"
    r"|discuss\w* with) (?:your|an?|the) (?:\w+ )?(?:doctor|physician|pharmacist|provider|clinician"
    r"|professional))\b",
    re.IGNORECASE,
)
TO_QUESTION = re.compile(
    r"[.!;] (?:(?:that|this|having said that,? that) (?:being )?said|(?:as for|regarding"
    r"|for(?: the purposes? of)?|in answer to|back to) (?:the|this|your) (?:[\w-]+ )?question)"
    r"[,:] ",
    re.IGNORECASE,
)
LONGEST_DISCLAIMER = 400
OFFER_ELSEWHERE = re.compile(
    r"\A\W{0,4}(?:oui|ja|s[ií]|sim|tak|jasne|claro|certo|bien s[uû]r|nat[uü]rlich|हाँ|हां|जी)(?!\w)"
    rf"(?:[^\n]{{0,80}}?(?<!\w){_I_CAN}[^.!?\n]{{0,40}}?(?<!\w){_HELP}(?!\w)"
    rf"|[^\n]{{0,80}}?(?<!\w){_PLEASE}[^.!?\n]{{0,40}}?(?<!\w){_SEND}(?!\w))[^.!?\n]{{0,120}}[.!?]?",
    re.IGNORECASE,
)
CLOSING_OFFER = re.compile(
    r"(?:(?<=[.!?)] )|(?<=\n))(?:i hope (?:this|that|it) helps|hope (?:this|that|it) helps"
    r"|let me know"
    r" (?:if|whether|should)|(?:please )?feel free to|would you like me to|do you want me to"
    r"|shall i"
    r"|should you (?:want|have|need)|if you(?:'d| would)? (?:want|like|have|need)[^.!?\n]{0,60}?,"
    r" (?:let me|i can|i could|just ask|feel free)|(?:please )?don't hesitate|happy to (?:explain"
    r"|go"
    r"|help|discuss))\b(?![^\n]{0,240}\b(?:answer (?:is|would)|(?:is|:) \W?[A-J]\b))[^\n]{0,240}\Z",
    re.IGNORECASE,
)
RANGE = re.compile(
    r"([A-E])(?<![\w'-][A-E])\)? ?(?:[–-]|to|through|bis) ?\(?([A-E])\)?(?= (?:are|were|all|can|do"
    r"|have"
    r"|cause|belong|is|sind|sont|son|zijn|s[aą]|är|alle|gehören)\b)"
)
OBJECT_BEGUN = re.compile(r"[{\[]\s{0,80}[{\"'][^}]{0,4000}\Z")
LONGEST_BEGUN = 1 + 80 + 1 + 4000
MEMBER = re.compile(r"[{\"'][^\"'\n{}]{1,60}[\"']\s{0,20}:|\{\s{0,80}\"")
SPEAKER = re.compile(r"\A(?:assistant|response|output|model|ai)\s{0,3}(?::|\n)\s*", re.IGNORECASE)
CLOSED = re.compile(r"(?:\\(?:boxed|fbox)\s?\{[^{}]*\}+|<[/\\](?:final_?)?answer>)\W*\Z", re.I)
GRADE = re.compile(
    r"\b(?:the )?(?:(?:esi|triage|severity|risk|acuity) ){0,2}"
    r"(?:grade|level|stage|class|category|score|group|esi)(?: is|:)? (?=\d\b)",
    re.IGNORECASE,
)
BEFORE_LABEL = re.compile(
    r"\A(?:A:|\d{1,2}[.)](?!\d)) ?(?=[\"'(\[]{0,2}[^\W_][\"')\]]{0,2}\W{0,2}\Z)"
)
NUMBERED = re.compile(r"^[ \t]{0,8}(\d)[.)] (?=\S* ?[^\W\d_]{2})", re.MULTILINE)
ARTICLE_LAST = re.compile(
    r"(?<!answer )(?<!choice )(?<!option )\b(?:is|was|be|as|has|of|in|for|with|by) a\Z"
)
TEXT_AND_LABEL = re.compile(
    r"\A(?![^.!?\n]{0,120}\b(?:(?:first|third|last) (?:option|choice|one)|second|next|usual"
    r"|other)\b)[^.!?\n]{4,120}? is (?:(?:the|an?) )?([^.!?\n]{2,80}?) (?=\(\w\))"
)
OTHERS = re.compile(
    r"[.!] (?:all )?the (?:other (?:\w+ )?(?:options|choices|answers)|others|rest)\b"
)
DRAWN_WHERE_CUT = re.compile(
    r"(?:\b(?:so|thus|hence|therefore|consequently),? (?:this|it|that|she|he|the [\w ]{3,20}?)"
    r" (?:is|must be|has to be|has)|\b(?:this|that|which)(?: only)? leaves(?: us with)?"
    r"|\bleaving|\bwe are left with|\b(?:this|it|that) (?:can only|must) be|⇒|∴)"
    r"(?: only)?(?: treated| managed| given| started)?(?: with| on)? (?=[\w\"'(])"
)
ARROW_TO_LABEL = re.compile(r"(?:->|=>|→|⇒) ?\(?([A-J])\)?\Z")
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
    r"\b(?:probably|certainly|definitely|absolutely|likely|perhaps|maybe|apparently|surely|clearly"
    r"|sure|course|it does|it is|they do|if|or|why|hope|guess|think|afraid) not\Z"
    r"|\bif (?:ever|any|anything|at all|not|so|possible|needed|necessary)\Z"
    r"|\A\W{0,3}(?:\w+ ){0,3}[\w)]+ it is\Z|\b(?:confirms?|explains?|supports?|suggests?|fits?|does"
    r"|treats?"
    r"|causes?|prevents?|excludes?|proves?|indicates?|ha(?:s|ve)|of|for|with|about|against|do) it\Z"
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
TAKEN_BACK = re.compile(
    r"(?:[.!?…\n][\"')\]]{0,2}\s{0,2}|[–—-] )(?:(?:but|oh|hmm+|no|ok(?:ay)?|actually|sorry|wait"
    r"|hold on),? (?:(?:that|this|it)(?:'s| is) (?:wrong|incorrect|not right))|(?:(?:but|oh|hmm+|no"
    r"|ok(?:ay)?|actually|sorry),? ){0,2}(?:wait(?=[.,:;!…–—-])|wait \w+ no\b"
    r"|hmm+,? (?:but\b|(?:let me|let's) (?:look|read|check)\b[^.!?\n]{0,40}? (?:again|once more)\b)"
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
NEGATIVE_RELATIVE = re.compile(
    r"\b(?:that|which|to) (?:\w+ ){0,3}?(?:not|never|avoid)\b[^.;,\n]{0,40}? (?:is|are) [\"'(]{0,3}"
    r"(?:(?:the|an?) )?\Z"
)
WRONG_TO = re.compile(r"\b(?:wrong|incorrect|unsafe|dangerous|mistake|error|unwise) to\b")
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
BEGUN_CLAUSE = re.compile(
    r"(?:\A|[ .\n])(?:but|however|if|unless|when|while|whereas|or|wait|although|pero|mais|aber)"
    r"(?:,? [\w'-]+){0,3}(?<=\w\w)\Z"
)
CLAUSE_END = re.compile(r"[.!?:]\s|\n")
