"""The regular expressions by which `conclusions` reads what a reasoning comes to."""

import re

from medhelm_spark.adaptation.words import RIGHT, any_of

_BEATS = r"edges out|beats|trumps|outranks|outperforms"
_MORE = r"(?:[)\]\"'*]{0,4})"
SENTENCE_END = re.compile(
    r"[.!?。！？](?=[\s\"')\]]"
    r"|\Z)(?<!\bi\.e\.)(?<!\be\.g\.)(?<!\bvs\.)(?<![(\n][A-J]\.)(?!(?<=\b[A-Z]\.)\s[a-z])"
    r"|(?<=[。！？])|\n"
)
LABEL = re.compile(
    r"(?<![\w'’\-.])[\"'(\[]{0,2}(?P<label>[A-J])(?![\w'’]|-\w|\.\s?[a-z]| ?[=×]|\.\d"
    r"| (?:cells?|lymphocytes?|fib(?:er|re)s?|dimers?|virus|antigens?|sections?|peptides?"
    r"|deficiency|strains?|toxin|waves?)\b)[\"')\]]{0,2}"
)
WORD_NEXT = re.compile(
    r" (?!(?:is|was|are|were|has|had|does|do|did|can|could|may|might|must|should|will|would|alone"
    r"|and"
    r"|or|it|because|since|as|but|nor|than|over|from|in|for|with|by|when|if|first|also|only|then"
    r"|here"
    r"|best|clearly|therefore|thus|to|[a-z]{3,}(?<![sui])s)\b)[a-zA-Z]"
)
"""After the article "A" and the pronoun "I"; a verb makes them labels."""
_LONGEST_NAME = 20
_NAME_BEFORE = re.compile(
    r"\b(?:vitamin[aes]{0,2}|hepatitis|types?|groups?|class|grade|stage|factor|complement|proteins?"
    r"|influenza|category|pugh|immunoglobulin|ig|apo\w*|cytochrome|troponin|phase|segment|zone"
    r"|interferon|lipid|toxin|coenzyme|cyclosporine?|amphotericin|penicillin|ha?emophilia)"
    r"[ \"'(]{1,2}\Z"
)
JOINT = re.compile(
    r"[\"')\]]{0,2}(?:(?P<and>,? ?\b(?:and|or|nor|as well as|und|oder|noch|sowie|y|e|o|u|ni|et|ou"
    r"|né|nem"
    r"|en|of|i|ani|oraz|lub|och|eller|samt)\b|/|&|和|或)|,|、)"
    r" ?(?:(?:both|the|an?|options?|choices?|answers?|el|la|los|las|le|les|der|die|das|den|il|lo"
    r"|het) )?[\"'(\[]{0,2}"
)
OPEN = re.compile(
    r"\b(?:whether|(?:so|neither|nor) (?:is|are|was|were|does|do|can|could|might|may|would|has)"
    r"(?= )"
    r"|(?:can(?:not|'t| not)|(?:unable|not able|impossible|hard|difficult) to)"
    r" (?:\w+ )?(?:answer|say|tell|decide|determine|choose|separate|distinguish)"
    r"|(?:remain|stay)s? (?:in play|possible|open(?! to))|depends?)\b"
)
WORST = re.compile(rf"\b(?:{any_of('worst')})\b|\bleast\b")
OPEN_AFTER = re.compile(
    r"\b(?:however|but|more (?:information|data|details)|further (?:information|testing|tests)"
    r"|cannot|can't|unclear|uncertain|depends?|please|aber|jedoch|pero|mais|mas|maar|ale|men)\b"
)
_CASES = (
    r"(?:patients?|children|adults|women|men|people|infants|pregnan\w+|those|cases|most|some|other"
    r"|stable|unstable|mild|severe|young\w*|old\w*|small|large|adolescents|neonates|the (?:elderly"
    r"|majority|past))"
)
SCOPE = re.compile(
    rf"\W{{0,3}}(?:(?:but|and|also|however),? )?(?:(?:in|for|among|after|during|with"
    rf"|under) (?![^,.;]{{0,40}}\bquestion\b|this\b"
    rf"|that\b|these\b|the (?:case|present)\b|our\b|my\b|her\b|his\b|summary|short|conclusion"
    rf"|fact|view|light|all\b|both\b|sum\b|total\b|brief\b|the (?:end|vignette|scenario)"
    rf"\b|a )(?=[^.;]{{0,80}}, |{_CASES})|(?:sometimes|occasionally|rarely|later|historically"
    r"|formerly|traditionally|otherwise)\b)"
)
_SMALL = (
    r"(?:(?:the|an?|our|this|it|things|the (?:list|field|choice)|options?|answers?|choices?"
    r"|letters?|diagnosis|alternatives?|most|likely"
    r"|strongly|clearly|only|just|rather|mainly|more|best|us|me|it|with|of|towards?|to|for|on|in"
    r"|as|at|by|out|down|from|straight|directly|back|up|that|really|definitely|simply|therefore"
    r"|thus|then|is|be|namely|one|not [\w ]{1,20} but|der|die|das|den|eine?n?|auf|für|zu|f[uü]r"
    r"|la|el|le|un|una?|une|a|o|os|as|het|de|een|to|jest|ett|en|den|det|lo|il|l'|d'|al|alla|à|au"
    r"|pour|por|per|vers|hacia|por|voor|op|naar|na|på|mot|om|around)[ :,]{1,2}){0,5}[\"'(\[]{0,2}\Z"
)
POINTED = re.compile(
    r"(?:\b(?:points?|pointing|indicat(?:es?|ing)|suggest(?:s|ive|ing)?|favou?r(?:s|ing)?"
    r"|supports?|supporting|argues? for|speaks? for|leaves?|leaving|left|remain(?:s|ing)?"
    r"(?: (?:option|choice|answer|diagnosis|candidate|possibility))?(?: is)?"
    r"|brings?|leads?|narrows?|corresponds?|belongs?|match(?:es|ing)?|fit(?:s|ting)?|consistent"
    r"|compatible|characteristic|typical|classic(?:al)?(?:ly)?|textbook(?: \w+)?|diagnostic"
    r"|pathognomonic|hallmark|definition|defin(?:es?|ing)|singles?|clinch(?:es)?|confirm(?:s|ing)?"
    r"|establish(?:es)?|identif(?:ies|y)|falls?|tips?(?: the (?:balance|scales?))?|tilts?(?: the"
    r" balance)?|comes?|gets? (?:its?|her|his|their) [\w ]{1,20}|needs|requires"
    r"|recommend(?:s|ed)?|means?|gives|giving|yields?|equals?|says?|puts?|prefers?|advises?"
    r"|(?:start|begin|treat|continue)(?: with)?|give|use|prescribe"
    r"|receive|(?:it|this|that) (?:can only|must|has to|should) be|triad of|side of|ends? up"
    r"|ending up|settles?|lands?"
    r"|arrives?|describ(?:es|ed)(?: by)?|(?:picture|features?|presentation|description|case|example"
    r"|sign|symptom|pattern|findings?) of|in keeping|explained|explains why|go(?:es)?|turns? out"
    r"|boils|i\.e\.|that(?:'s|’s| is)|this is|it(?:'s| is)|what(?:'s| is) left is|must be|has to be"
    r"|(?:answer|diagnosis|solution|conclusion|choice|pick|one|exception|explanation|verdict"
    r"|culprit|winner|(?:the|this|his|her|their) (?:cause|drug|option|treatment|test|step|structure"
    r"|organism|mechanism|design|disorder|nerve|artery|vein|muscle|agent))(?: [\w'-]+){0,5}"
    r" (?:is|would be|must be"
    r"|should be|has to be|can only be)"
    r"|(?:the|what) (?!(?:second|next|other|alternative|first"
    r"|usual)\b)(?=(?:[\w'-]+ ){0,6}?(?:only|best|most|one|likely|correct|right|true"
    r"|needed|asked|left|wanted|searched)\b)(?:(?!(?:in|for|during|among|with|after|if|when|not)\b)"
    r"[\w'-]+ ){1,8}?(?:is|would be|must be|should be|has to be)"
    rf"|{any_of('remain')}|{any_of('point')})(?![a-zà-ÿ])[ :,]{{1,2}}|[=→⇒:] ?|-> ?){_SMALL}"
    r"|(?:剩下|只剩|考虑|提示|符合|支持|诊断是|诊断为|属于|说明是?)(?:的是|的)?[\"'(]{0,2}\Z"
)
_SO = (
    rf"(?:{any_of('so')}|accordingly|it follows(?: that)?|taken together|taking everything together"
    r"|all (?:in all|things considered)|as it stands|on balance|ultimately|finally|in the end"
    r"|in sum"
    r"|for (?:this|that|these|those) reasons?|given (?:this|that|the)|by (?:exclusion|elimination)"
    r"|here|clearly|in this (?:case|patient|setting)|now|ergo|por descarte|por exclusi[oó]n"
    r"|par [eé]limination|per esclusione|som slutsats|综上|所以|因此|故)"
)
SO = re.compile(rf"(?:\A|[^\w]){_SO}(?![a-zà-ÿ])[^.;!?]{{0,80}}?[ ,:\"'(]{{0,3}}\Z")
LOWER = re.compile(
    r"\b(?:runner-?up|second|third|fourth|2nd|3rd|4th|next|alternativ\w+|differentials?|others?"
    r"|less likely|against|plan b)[\w' -]{0,24}: ?[\"'(]{0,2}\Z(?<!top differential: )"
)
ARROW_LAST = re.compile(r"(?:->|→|⇒) ?[\"'(]{0,2}\Z")
OF_CASE = re.compile(
    r"\b(?:(?:this|our|the|her|his) (?:patient|case|child|man|woman|girl|boy|picture|question|one)"
    r"|here|answer|therefore|thus|hence|so|conclusion|final|dieser fall|ce cas|este caso)\b"
)
CLAUSE_ENDS = re.compile(
    rf"{_MORE}(?:\Z|[.,;:!)。，]|\s?[—–]|\s-\s|\n| ?\("
    r"| \d[\d.,]{0,5} ?(?:mg|g|mcg|μg|ml|iu|units)\b"
    r"| (?:from the list|rather than|because|since|as"
    r"|and|but|which|who|where|over|than|instead|best|first|here|alone|most|more|very well"
    r"|perfectly"
    r"|well|with|by|due|given|in this|for this|über|übrig|over|am ehesten|am besten|weil|denn|car"
    r"|porque|ya que|pois|perch[eé]|omdat|bo|eftersom|vor|dar)\b)"
)
PREDICATE = re.compile(
    rf"{_MORE} (?:(?:\w+ly|also|thus|therefore|then|still|best|alone) )?(?:is|are|fits|explains"
    r"|accounts|matches|applies|remains|stands|wins|must be|must|should be|has to be|has the best"
    r"|would be (?:my|the)|it is)\b"
)
FITS = re.compile(
    rf"{_MORE}(?:,| \([^)]{{1,40}}\))? ?(?:(?:then|which|here|alone|clearly|therefore|thus|however"
    r"|additionally|instead|also|best|is what|it is|it must be|it has to be)\b[ ,]{0,2}){0,2}"
    rf"(?:best )?(?:fits?|explains?|accounts? for|matches|{_BEATS}"
    r"|applies\b(?! to| in| when| only)"
    r"|corresponds|wins|stands out|clinches"
    r"|covers (?:all|both|every\w*|each|the (?:whole|entire))|is (?:thus |therefore |then "
    r"|clearly |the |what |typical|classic|left|responsible"
    r"|by far|most |more )(?!(?:common|frequent|second|next|least|rare|usual|same|other|drug of"
    r"|often)"
    r"\w*\b)|should be (?:\w+ )?(?:added|given|started|chosen|done|performed|used|preferred"
    r"|selected|ordered|prescribed)"
    r"|is (?:superior|better|preferred|preferable|recommended|indicated|favou?red|first[- ]line)\b"
    r"(?! (?:with|in|for|if|when|only|after|during|as) (?!(?:this|our|her|his|these|such|all)\b))"
    r"|remains?(?=[.!,]|\Z)|it (?:is|should be|must be|has to be)(?=[.!,]|\Z)|(?:is|does|it is"
    r"|would be my (?:guess|choice|pick|answer)|first)(?=[.!,]|\Z)"
    r"|has the best|is therefore|(?:trifft zu|past|stämmer|pasuje|passt)\b)"
)
ONLY = re.compile(
    rf"(?:\A|[^\w])(?:only|nur|seul(?:e|ement)?|solo|s[oó]lo|somente|apenas|soltanto|alleen|tylko"
    rf"|endast|bara|只有|仅)(?: (?:{any_of('option')}))? ?[\"'(]{{0,2}}\Z"
)
CLAUSE = re.compile(r"[,;:] |[，；：]|(?<= )(?=but |yet |while |whereas )")
RELATIVE = re.compile(
    r"\b(?:who|whose|that|which) (?:(?:is|are|was|has|have|does|do|did|can|cannot|can't)"
    r"(?:n't| not)?|\w+ (?:is|are)(?:n't| not)) (?:\w+ ){0,2}?\w+(?=,? (?:the|we|i|it)\b)"
)
BUT = re.compile(
    r"[,;.]? (?:but|yet|however,?|aber|jedoch|pero|sin embargo,?|mais|mas|por[eé]m|ma|maar|ale|lecz"
    r"|men) |,?但是?"
)
DROPPED = re.compile(
    r"[\"')\]]{0,4} (?:(?:both|all|each|therefore|thus|also|now|then) )?(?:(?:can|could|may|must"
    r"|should) (?:\w+ly )?(?:\w+ )?be|(?:is|are|was|were)(?: \w+ly)?|ha(?:s|ve) (?:\w+ )?been)"
    r" (?:\w+ly )?(?:dropped|ruled out|eliminated|excluded|discarded|dismissed|crossed out"
    r"|crossed off|struck (?:out|off)|set aside|left out|put aside|removed|out)\b"
)
NOT_ANSWER = re.compile(
    r"[\"')\]]{0,4} (?:is|was)(?: not|n't) (?:the|my|our|an?) (?:\w+ )?(?:answer|choice|exception"
    r"|option)\b"
)
ASIDE_CLAUSE = re.compile(
    r"\W*(?:(?:and|but|also|so|yet) )?(?:while|although|though|even though|even if|whereas|unlike"
    r"|despite|in spite|compared|in contrast|as opposed|contrary|if|unless|had|were|since|because"
    r"|as(?! it stands)|given that|when|apart from|besides|between|at first|initially|first i"
    r"|zun[aä]chst|zuerst|anfangs|primero|al principio|(?:j'ai )?d'abord|au d[eé]but"
    r"|eerst|aanvankelijk|najpierw|pocz[aą]tkowo|f[oö]rst|inizialmente|primeiro"
    r"|起初|一开始|i (?:first"
    r"|initially|was|had|considered|thought)|one (?:could|might)|some|many"
    r"|obwohl|w[aä]hrend|wenn|da|weil|aunque|mientras|si|bien que|tandis|alors que|comme|embora"
    r"|enquanto|sebbene|mentre|hoewel|terwijl|omdat|als|cho[cć]|podczas|je[sś]li|[aä]ven om|medan"
    r"|eftersom|om|虽然|尽管|如果)(?![a-zà-ÿ])"
)
_BARE = (
    r"(?:(?:the|an?|both|either|option|options|choices?|answers?|also|and|even|any|of|der|die|das"
    r"|la|el|le|les|il|un|una|het|de|een|den|det)[ ]){0,3}[\"'(\[]{0,2}\Z"
)
DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|no|than|over|ahead of|before|unlike|against|without|except"
    r"|instead of"
    rf"|rather than|{_BEATS}"
    r"|opposed to|compared (?:with|to)|exclud(?:es?|ed|ing)|rul(?:es?|ed|ing) out|eliminat(?:es?"
    r"|ed|ing)|cross(?:es|ed|ing)? out|discard\w*|dismiss\w*|reject\w*|strik(?:e|es|ing)(?: out)?"
    r"|away from|(?:distinguish|differ|separat|tell|sets?|switch)\w*[^.]{0,30} from|confused with"
    r"|mistaken for|mimics?|similar to|variant of|alternative to|progress(?:es)? to"
    r"|(?:nothing|no (?:finding|feature|sign|clue|symptom|result|evidence)\w*)(?: [\w']+){0,5}"
    r" (?:supports?|suggests?|fits?|favou?rs|(?:points?|speaks?|argues?) (?:to|for|towards?)|for)"
    r"|makes(?= [^.]"
    r"{1,14} (?:unlikely|impossible|less))|(?:reserved )?for failure of|lower than in|as in"
    r"|unlike in|times as \w+ as"
    r"|differs from that (?:in|of)|weder|noch|nicht|kein\w*|schlie[sß]t|gegen|statt|sauf|ni|pas|sin"
    r"|odrzuc\w+|wyklucz\w+|[eé]limin\w+|ausschlie\w+|exclu\w+|uitsluit\w*|utesluta\w*|descart\w+"
    r"|ni|nem|n[eé]|esclud\w+|non|noch|geen|niet|ani|nie|wyklucza|varken|inte|utesluter"
    rf")\b|n't|不是|排除|并非) {{0,1}}{_BARE}"
)
DENIED_AFTER = re.compile(
    rf"(?! and\b){_MORE}(?:,| \([^)]{{1,60}}\)| ?[:–—-](?= ))? ?(?:(?:the one (?:that|which)|\w+ly"
    rf"|also|both|all|each|too|then|therefore|thus|each|itself"
    r"|alone|likewise|can|could|may|should|must|is|are|be|was|were|seems?|looks?|falls?|drops?"
    r"|trifft|treffen|gilt|gelten|passt|passen|stimmt|stimmen"
    r"|being|remains?|would|has|have|to|by|on|as|too|far|quite|very|much|rather|and|thus|so|already"
    r"|hence|kan|kann|k[oö]nnen|peut|peuvent|puede[n]?|podem?|possono|kunnen|mo[zż]na|wird|werden"
    r"|sont|est|son|sind"
    r"|ist|zijn|s[aą]|är|[eê]tre|ser|essere|ook|auch|także|också|均|都) ){0,6}"
    r"(?:out\b|excluded|eliminated|ruled out|set aside|dismissed|discarded|rejected|crossed out"
    r"|too (?!many)|insufficient|inadequate|unlikely|improbable|implausible|not\b|wrong|incorrect"
    r"|false|inconsistent|incompatible|contraindicated|unacceptable|unsuitable|inappropriate"
    r"|unnecessary|harmful|dangerous|negligent|weak\b|weaker|inferior|less\b|never|no\b|does(?: not"
    r"|n't)|do(?: not|n't)|cannot|can't|won't|isn't|aren't|wouldn't|lacks?\b|fails?\b|neither"
    r"|n'\w+|nothing|none|impossible|irrelevant|off the (?:list|table)|away|falsch"
    r"|scheide[nt]|nicht"
    r"|f[aä]llt"
    r"|fallen|se descarta|no\b|non\b|ne\b|n[aã]o|nie\b|niet|inte|valt|vallen|uteslut\w+"
    r"|ausgeschlossen|exclu\w*|[eé]limin\w*|descartad\w*|esclus\w*|uitgesloten"
    r"|wyklucz\w*|odpada\w*|odrzuc\w*|faller bort|kommt nicht|均?不|都不|不|错误|被排除|गलत|नहीं)"
    r"|[ ]?(?:[✗✘❌✖])|[)\]]? ?\((?:no|false|wrong|incorrect|not [\w ]{1,40})\)|[)\]]?: (?:no|wrong"
    r"|incorrect|false|not|excluded|out|eliminated)\b"
)
OTHER = re.compile(
    r"\b(?:confused with|mistaken for|in contrast to|as opposed to|contrary to|different from"
    r"|differs from|not to be confused)\b"
)
UNUSUAL = re.compile(
    rf"{_MORE}(?: ?[:–—-])? (?:(?:is|are|would be|was) )?(?:\w+ly )?(?:atypical|absent|unusual"
    rf"|uncommon"
    r"|rare|unexpected|unrelated|untrue|normal|the exception)\b"
    r"|[^.;!?\n]{0,120}? (?:(?:so|and|therefore|thus|hence),? (?:that|this|it)(?:'s| is)"
    r"|which (?:is|makes it)|making it|and is(?: therefore| thus)?) (?:the|our"
    r"|my) exception\b(?! to)"
)
AVOID = re.compile(
    r"\b(?:avoid(?:ing)?|(?:do not|don't|never|must not|should not|shouldn't|cannot|can't|would not"
    r"|wouldn't) (?:give|use|start|prescribe|administer|choose|take|order|perform|do|expect|see"
    r"|find))"
    r"(?: (?:(?:the|an?|any|him|her|this|patient|giving|using|option))){0,3} [\"'(\[]{0,2}\Z"
)
AVOIDED = re.compile(
    rf"{_MORE} (?:(?:is|are|should|must|has|ought) (?:to )?be avoided|(?:must|should|may"
    rf"|can)(?:n't| not"
    r"| never) (?:ever )?be (?:given|used|started|prescribed|administered|taken|chosen|performed)"
    r"|cannot be (?:given|used)|(?:is|are)(?:n't| not) (?:to be |allowed|permitted|recommended"
    r"|indicated|safe)\w*|(?:is|are) (?:unsafe|(?:strictly |absolutely )?contraindicated"
    r"|to be avoided))"
)
ASIDE_BEFORE = re.compile(
    r"\b(?:could|might|may|can|would|one|tempt\w*|think|thought|consider\w*|initially|confuse\w*"
    r"|mistake\w*|(?:could|might|may|can|sometimes|often|also|even|usually|occasionally)"
    r" (?:also |even |well |then )?(?:\w+ ){0,3}?(?:be|to|with|of|from|like|in|as|for|has|have"
    r"|into))"
    r" (?:of |to |be |in |for |about |the |an? )*[\"'(]{0,2}\Z"
    r"|\b(?:in|for|under|within|(?:patients?|people|associated|seen|occurs?|children|adults|those"
    r"|overlap\w*|along|together|compared"
    r"|cases) with) [\"'(]{0,2}\Z(?<!consistent with )(?<!compatible with )"
    r"(?<!up with )(?<!go with )(?<!left with )(?<!fits with )(?<!keeping with )(?<!results in )"
    r"(?<!argues for )(?<!speaks for )(?<!classic for )(?<!typical for )(?<!textbook for )"
    r"(?<!opt for )(?<!points for )(?<!diagnostic for )(?<!ratio for )(?<!evidence for )"
    r"(?<!go for )(?<!case for )(?<!us with )(?<!me with )(?<!falls under )(?<!stay with )"
    r"(?<!stick with )(?<!stuck with )(?<!fit with )"
)
ASIDE_AFTER = re.compile(
    rf"{_MORE}(?:,| \([^)]{{1,40}}\))? (?:could|might|may|can|would(?! be (?:my|the (?:best|correct"
    rf"|right|answer|most|{RIGHT})))|is (?:also|another|often|sometimes|usually|generally|typically"
    r"|commonly|reserved|an?|common|more common|frequent)|are|should only|also|gives|has|in which"
    r"|was|were|tends?|usually|often|typically|generally|sometimes|shows|presents|causes|begins"
    r"|affects|occurs|takes)\b|\?"
)


def is_part_of_name(low: str, at: int) -> bool:
    """Whether the letter at a position of a lower-case text ends a name: "vitamin A"."""
    return _NAME_BEFORE.search(low, max(0, at - _LONGEST_NAME), at) is not None
