"""The words by which `stances` finds how a clause takes an option.

Tables of a kind of word each: what begins a clause; what denies (before an option, in what is said
of it) and what looks like a denial and affirms; what passes an option by; what approves it; what
speaks of the author or draws a conclusion; what calls an option by its ordinal.
"""

import re

from medhelm_spark.adaptation import conclusion_patterns as own

CLAUSE = re.compile(
    r"[;:] |, (?=(?:but|so|and|therefore|hence|thus|yet|while|whereas|though|although|because|since"
    r"|as|which|who|where|not|rather|then|however|with|i|we|it|this|that|these|the|one|only)\b)"
    r"|,? [–—-]{1,2} |->|→|=>|⇒|∴|=|[()]"
    r"| (?=(?:but|yet|while|whereas|so|because|although|though|unless|if|when|since|until)\b)"
    r"|,? (?=(?:and |but )?(?:not|rather than|instead of|over) (?:(?:the|an?) )?\Z)"
)
BARE = re.compile(r"[\W_]+|\b(?:the|an?|option|choice|answer|letter|it|is|and|but|so)\b")
CONTRAST = re.compile(
    r",? (?:and |but )?(?:not|rather than|instead of|over) (?:(?:the|an?) )?[\"'(]{0,2}"
)
AND = re.compile(r",? (?:and|but)\b")
SHARED = re.compile(
    r",? (?:which|that|who) [^,;]{0,60}|[^.;:]{0,60}, then (?:(?:the|an?) )?"
    r"|,? (?:and|or|nor) (?:(?!(?:is|are|was|were|has|does|do|it"
    r"|i|that|this|so|thus)\b)[\w'-]+ ){0,4}"
)
AFFIRMED = re.compile(
    r"\b(?:no|without|little) (?:\w+ )?(?:doubt|question)\b|(?:n't|\bnot|\bnever) hesitate to\b"
    r"|\bno (?:better|safer|other) (?:choice|option|answer|drug|test|candidate) (?:here )?than\b"
    r"|\b(?:nobody|no one|none) (?:would|could|can) (?:argue|object|decide) against\b"
    r"|\bnot (?:only|just|merely"
    r"|(?:[\w%]+ )?(?:sure|certain))\b"
    r"|(?:n't|\b(?:cannot|not|no))\b[^.;]{0,24}\b(?:reason|way|doubt) (?:not|but|except)\b"
    r"|\b(?:no|any) reason not\b"
    r"|\bnothing (?:but|against|other than)\b|\bcannot but\b|\b(?:no|not) (?:more|less|later"
    r"|longer) than\b"
    r"|\bcan(?:no|')t be (?:anything|any) (?:but|other than)\b"
)
NEGATES = re.compile(
    r"\b(?:not|never|neither|nor|no|none|nothing|nobody"
    r"|without(?! [\w -]{2,30}? (?:is|are|was|were|means|suggests) )"
    r"|cannot|avoid\w*|against|except\w*"
    r"|exclud\w*|rul(?:e|es|ed|ing) out|eliminat\w*|reject\w*|discard\w*|dismiss\w*|unlike|than"
    r"|instead of|rather than|beyond|wrong|incorrect|false|(?:mistake|error) to|disregard"
    r"|ignor\w+|forget|withh[eo]ld\w*"
    r"|stop\w*|lacks?|absent|remov(?:es?|ed|ing)|(?:leav|tak|knock|cross|cancel|throw)\w* (?:out"
    r"|off)"
    r"|get\w* rid of|disqualif\w+"
    r"|unlikely|doubt\w*|fails?|barely|hardly|ain't|aint)\b|n't\b|\b(?:rather|instead|short|free"
    r"|absence|lack) (?:than|of)\b"
)
ALL_BUT = re.compile(
    r"\b(?:tod[ao]s|toutes?|tous|alle|tutt[ei]|wszystkie|alla|all|every\w*|any\w*)\b[^.;:]{0,30}"
    r"\b(?:menos|salvo|sauf|moins|au[sß]er|tranne|behalve|op|poza|opr[oó]cz|utom|but|except)\b"
)
NEGATED = re.compile(
    r"[^.;:]{0,60}?(?:\b(?:not|never|no|cannot|nothing|neither|none|wrong|incorrect|false|unlikely"
    r"|less|lacks?|fails?|excluded|ruled|eliminated|rejected|out|removed|contraindicated|unsafe"
    r"|harmful"
    r"|insufficient|inadequate|inappropriate|implausible|improbable|distant|worse|weaker"
    r"|too(?= \w)|rarer"
    r"|only (?:if|when|in|for|after))\b|n't\b|[✗✘❌✖])"
)
KEPT = re.compile(
    r"(?:n't|\b(?:cannot|can not|not)) (?:\w+ )?(?:rul(?:e|ed|ing) out|exclud\w*|dismiss\w*"
    r"|eliminat\w*|reject\w*|discard\w*)\b"
)
KEPT_AFTER = re.compile(
    r"[^.;:]{0,24}(?:n't|\b(?:cannot|can not|not)) (?:\w+ ){0,2}?(?:ruled out|excluded|dismissed"
    r"|eliminated|rejected|discarded)\b"
)
DENIES_CLASS = re.compile(
    r"(?:n't|\b(?:not|never|cannot|wrong|incorrect|unsafe|mistake|nor)) "
    r"(?!(?:clearly|certain\w*|necessarily|definite\w*|entirely|obvious\w*|always|sure|only|just)\b)"
    r"(?:(?!(?:ha(?:s|ve)|show\w*|evidence|signs?|suggest\w*|indicat\w*|support\w*|meet|fulfil\w*"
    r"|for certain)\b)[\w'-]+ ){0,8}[\"'(]{0,2}\Z"
)
IS_NOT = re.compile(r"(?: [\w-]+){0,3}? (?:is|are|was|would be)(?: not\b|n't\b)")
UNKNOWN = re.compile(
    r"\b(?:missing|insufficient|information|pending|unclear|uncertain|unknown|not (?:enough|sure"
    r"|known)|can(?:not|'t| not) be (?:classified|labell?ed) as (?:either|any))\b|\?"
)
CROSSED = re.compile(r"[^\n✓✔✅☑]{0,200}[✗✘❌✖]")
PASSES = re.compile(
    r"\b(?:whether|czy|ob)\b|"
    r"\A\W*(?:(?:and|but|also|so|yet) )?(?:if(?! forced| pressed| pushed)|unless|had|were|should"
    r"|suppos\w+|assuming|although"
    r"|though|even|while|whereas|despite|in spite|when|because|since|as (?!it)|like|such as)\b"
    r"|\b(?:would|might|could) (?:have|'ve)\b|(?:ld|ht)'ve\b|\b(?:some|many|most|others?|people"
    r"|students?"
    r"|one|textbooks?|candidates|you) (?:\w+ )?(?:would|might|may|could|say|said|think|choose|pick"
    r"|prefer|answer|call)\w*\b|\bothers?\W*\Z|\A\W*(?:others|some|many) (?:for|to|with)\b"
    r"|\b(?:i|we) (?:\w+ )?(?:said|thought|initially|had|was|were|previously|originally"
    r"|considered)\b"
    r"|\b(?:earlier|initial(?:ly)?|at first|first (?:thought|guess)|previous(?:ly)?|tempt\w*|would"
    r"|confus\w*|mistak\w*|common\w*|usual\w*|often|sometimes|between|among|e\.g|example)\b"
)
TOPIC = re.compile(
    r"\b(?:colleague|sister|brother|mother|father|histor(?:y|ies)|worr\w+|fears?|asked|differential"
    r"|think(?:s|ing)? (?:of|about)|start(?:ing)? with|previously|formerly)\b"
)
PASSES_AFTER = re.compile(
    r"\A[^.;:]{0,30}?\b(?:would|often|usually|sometimes|also|common\w*|earlier|initially|are|was"
    r"|were|has|had"
    r"|have|causes?|gives?|shows?|presents?|occurs?|acts?|means|tends)\b"
)
COMPARED = re.compile(
    r"\b(?:than|like|unlike|versus|vs\.?|before|prior to|as opposed to|compared (?:with"
    r"|to)) (?:\w+ ){0,2}\W{0,2}\Z|\bas \w+ as (?:\w+ ){0,2}\W{0,2}\Z"
)
CONDITION = re.compile(
    r"\A\W*(?:(?:but|and|or|so|even|only) )?(?:if|had|were|unless|should) (?!(?:i "
    r"|we )?(?:\w+ )?(?:forced|pressed|pushed|to choose"
    r"|to pick|had to|have to|must|asked|press|insist))"
)
CONDITION_NEXT = re.compile(
    r"[\"')\]]{0,4},? (?:only )?(?:if|when|in case|provided|in (?:children|adults|pregnan\w+))\b"
)
LIMITED_NEXT = re.compile(r"[\"')\]]{0,4},? (?:unless|except)\b")
WORD_NEXT = re.compile(rf"{own.WORD_NEXT.pattern}| \d")
JOINED_LABEL = re.compile(r"[\"')\]]{0,2}(?:,? \w{1,7}){1,3} [\"'(]?[A-J]\b")
BESIDE = re.compile(r" ?[/+] ?| plus |,? as well as |,? and also |[\"')\]]{0,2}[.):]? [\"'(]{0,2}")
SMALL_LABEL = re.compile(
    r"(?:(?:option|choice|answer|letter) [\"'(]{0,2}|\()([a-j])(?=[)\"'.,;:!]|\Z| (?:is|as"
    r"|because)\b)"
)
VERDICT_NO = re.compile(
    r"[\"')\]]{0,3}(?:[?!:]{1,3}| ?(?:→|->|=>|[–—-]))\s?(?:no|not|nope|wrong|false|incorrect|nein"
    r"|non|nie|nee)\b"
)
VERB_NEXT = re.compile(
    r"[)\]\"'*]{0,4}(?: \w+ly)? (?:is|are|was|were|has|have|had|does|do|did|can|could|will|would"
    r"|may|might|should|must"
    r"|(?!this\b|its\b|was\b|yes\b|as\b|plus\b|versus\b|less\b|weeks\b|months\b|days\b"
    r"|hours\b)[a-z]{3,}(?<!s)s)\b"
)
MAY = re.compile(
    r"[^.;]{0,20}\b(?:pourrai\w+|k[oö]nnte\w*|podr[ií]a\w*|poderia\w*|potrebbe\w*|kunde"
    r"|m[oó]g[lł]by|zou|could|might|may|possib\w+|perhaps|conceivabl\w+)\b"
)
APPROVES = re.compile(
    r"[)\]\"'*]{0,4},?(?: (?:alone|here|on its own|by itself|then|thus|therefore))? (?:(?:is|are"
    r"|would be|should be|must be|seems|remains|stays) (?:\w+ly )?"
    r"(?:(?:the|my|our) (?:one|answer|best|right|correct|choice|only|option|winner|pick|most|way)"
    r"|best|right|correct|better (?:suited|choice|option|fit)|more (?:appropriate|suitable)"
    r"|enough|sufficient|adequate|preferred|preferable|indicated|recommended|what|left|mine)\b"
    r"(?! (?:with|in|for|if|when|only|after|during) (?!(?:this|our|her|his|these|such|all|the)\b))"
    r"|should be (?:\w+ )?(?:given|done|used|started|performed|ordered|chosen|added|prescribed"
    r"|preferred|selected)\b"
    r"|(?:wins|fits|survives|stands|it is|it must be|does|remains|is)\b(?=[.,!]|\Z))"
)
CALLED_ANSWER = re.compile(
    r"[)\]\"'*]{0,4},? (?:is|would be|must be) (?:\w+ly )?(?:(?:the|my|our) (?:one to|answer"
    r"|exception|odd|choice|pick)|what|mine)\b"
)
ITEM = re.compile(r"[^\w\n]{0,8}(?:(?:\d{1,2}|[a-j])[.)][^\w\n]{0,4})?")
INSIDE_SENTENCE = re.compile(r"[a-zà-ÿ,] [\"'(]?\Z")
LABEL_BEFORE = re.compile(
    r"\b(?:la|el|le|les|der|die|das|den|dem|de|het|il|el|odpowied\w+|opci[oó]n|letra|als|como"
    r"|albo|eller|oder|ou) [\"'(]{0,2}\Z"
)
OR_LAST = re.compile(
    r"\b(?:or|oder|ou|eller|lub|albo|czy|oppure)\W{1,3}(?:\w{1,3} )?\Z|या \Z"
    r"|\A[\"')\]]{0,2},? (?:o|u|of) (?:\w{1,3} )?[\"'(]{0,2}\Z"
)
OR_NEXT = re.compile(
    r"[^.;:!?]{0,40}(?:,|\(| [–—-]) ?(?:or|maybe|perhaps|possibly|oder|ou|czy|eller|albo)\b"
    r"|[\"')\]]{0,3} (?:and/)?(?:or|oder|ou|eller|lub|albo|czy|oppure)(?!\w)| या "
    r"|[\"')\]]{0,3} (?:o|u|of)(?=[\"'( ]{1,3}(?:(?:la|el) )?[a-j](?:[^\w ]|\Z)|\Z)"
)
NUMBER_SIGN = re.compile(r" n[or]\. \d")
HEADING = re.compile(r"[\"')\]]{0,4}\s?(?:(?::|->|→|=>|=)\s)")
PARTICIPLE = re.compile(r" (?:given|taken|done|\w{3,}ed)\b")
FIRST_PERSON = re.compile(r"\b(?:i|i'[dm]|i'll|i've|we|we'[dr]e?|we'll|let's|my|me|us|our)\b")
DRAWS = re.compile(
    r"(?:\A|\W)(?:so|hence|thus|therefore|then|ergo|consequently|overall|ultimately|finally"
    r"|in (?:the end|short|sum)"
    r"|i\.e|o sea|→|->|=>|⇒|∴|=|:)(?:\W|\Z)|(?:→|->|=>|⇒|∴|=|:)"
)
COPULA = re.compile(
    r"(?:\b(?:is|be|are|as|was|means|called|remains|leaves|es|est|ist|è|é|är|jest)"
    r"|'s)(?: [\w'-]+){0,2}? [\"'(\[]{0,2}\Z"
)
_NUMBER = "first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th"
ORDINAL = re.compile(
    rf"\b(?P<before>{_NUMBER}) (?:option|answer|alternative|one|(?<!first )choice|of (?:the"
    rf"|these)\b(?! (?:two|three|four|five|six)))"
    r"|\b(?:option|answer|choice|number) (?:number |no\.? ?|nr\.? ?|#)?(?P<after>one|two|three"
    r"|four|five|[1-5])(?=[.,;!)\n]|\Z| )"
    rf"|(?:\A|(?<=\n)|(?<=[.!?] ))\W{{0,3}}(?:the )?(?P<alone>{_NUMBER})(?=[.!,]|\Z)"
)
INDEX_BY_ORDINAL = {
    "first": 0, "one": 0, "1st": 0, "1": 0, "second": 1, "two": 1, "2nd": 1, "2": 1, "third": 2,
    "three": 2, "3rd": 2, "3": 2, "fourth": 3, "four": 3, "4th": 3, "4": 3, "fifth": 4, "five": 4,
    "5th": 4, "5": 4, "last": -1,
}  # fmt: skip
OPEN_AFTER = re.compile(
    r"\b(?:retract|can(?:not|'t| not) (?:be )?(?:told|tell|say|said|decide\w*|determine\w*|commit"
    r"|choose|chosen|answer\w*|settle\w*|judge\w*|assess\w*|comment|advise|help)"
    r"|(?:none|any|neither|not (?:\w+ )?one) of (?:the|these|them|those)|undecided|depends|settle"
    r"|before (?:making|choosing|deciding|committing)|neither (?:\w+ ){0,2}(?:can|could)"
    r"|leave (?:it|this|the)|more information|consult|please|paste|share|upload|send|need to know"
    r"|would need)\b"
)
ANSWER_NOT = re.compile(
    r"\b(?:answer|solution|antwort|r[eé]ponse|respuesta|risposta|resposta|antwoord|svaret"
    r"|odpowied[zź])"
    r" [^.;:!?]{0,12}?\b(?:not|neither|nicht|weder|pas|ni|no|n[aã]o|non|n[eé]|niet|noch|inte|varken"
    r"|nie|ani)\b|n't\b"
)
IT_IS_NOT = re.compile(
    r"(?:\A\W*|[.;,\n] )(?:it|this|that|(?:the|my) (?:answer|diagnosis))"
    r"(?:'s not|(?: is| can)(?: not|n't)| can't| cannot)(?: be)? [\"'(]{0,2}\Z"
)
LEFT = re.compile(
    r"\b(?:only (?:the )?(?:\w+ )?(?:one|option|choice|remaining|of|diagnosis)|remaining|leaves?"
    r"|leaving|left|survives?|remains|the last one|the other one)\b"
)

GUESS = re.compile(
    r"\b(?:not (?:\S+ )?sure|unsure|guess\w*|maybe|perhaps|prob\w*|i think|hm+|uh+m*)\b"
)
CHOOSES = re.compile(
    r"\b(?:choos\w+|chose|pick\w*|select\w*|forced|pressed|pushed|decide\w*|commit\w*|opt"
    r"|settl\w+)\b"
)
LIKEWISE = re.compile(
    r"\b(?:so|neither|nor) (?:is|are|do|does|can|could)\b|\bequally\b|\blikewise\b"
)
CLAUSE_MARK = re.compile(r"[.:;!?,\n]")
YES_OR_NO = re.compile(r"\b(?:yes|no|maybe)\b")
AFTERTHOUGHT = re.compile(
    r"\b(?:i (?:think|guess|reckon|believe|suppose|say)|for sure|obviously|probably|definitely"
    r"|though|then|it is)\Z"
)
