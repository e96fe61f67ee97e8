"""Patterns that several modules read answers by, built from the words of all languages.

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
    r"|(?:clear|simple|obvious):|thus|eine[nmrs]?|ein|den|dem|een"
    rf"|{OPTION}|the|la|le|el|los|die|der|das|il|lo|é|une?|una|l'option|l'opzione"
    r"|(?-i:[ao])(?= )(?! (?:is|would|seems|must|should|appears|remains)\b)"
)
_SURE = rf" (?:{any_of('because')})\b"
_FOLLOW = any_of("follow")
SURE_CONNECTIVE = re.compile(
    rf"{_SURE}| (?:{_FOLLOW}|in|for|over|before|beats|does|makes|stands|the (?:answer|best|correct"
    rf"|right|most)|best (?:fits|explains|matches|describes"
    r"|accounts)|and|is|are|(?:is|does)n(?=')|as|es|est|ist|è|é|seems|appears|remains|fits|it is)\b"
)
CONNECTIVE = re.compile(
    rf"{_SURE}| (?:nat[uü]rlich|natuurlijk|naturally|of course|obviously|bien s[uû]r|por supuesto"
    r"|claro|ovviamente|oczywi[sś]cie|s[aå]klart|f[oö]rst[aå]s)(?=[.!]|\Z)"
    rf"| (?:{_FOLLOW}|as|which|due|given|for|based|and|but|is|was|are|were|would|with|not"
    r"|(?:is|are|was|does)n(?=')"
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
    rf"final[_ ](?:{_NOUN}|choice|response|decision|diagnosis|verdict|selection|label|class)"
    r"|final(?=:)|(?:respuesta|resposta|decisi[oó]n|escolha) final|r[eé]ponse finale"
    r"|risposta finale"
    r"|(?:endg[uü]ltige|finale) antwort"
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
_VERB_LAST = (
    r"(?:उत्तर|जवाब|विकल्प) (?:विकल्प )?(?=[\"'(\[]{0,3}\w[\"')\]]{0,3} "
    r"(?:(?!नहीं|गलत|ग़लत)[^\s.\n]{1,40} ){0,4}?(?:है|होगा))"
    r"|\b(?:cevap|yan[ıi]t) (?=\W?\w\W? (?:ş[ıi]kk[ıi]|seçeneği)(?:d[ıi]r)?(?! değil)\W)"
)
ANSWER = re.compile(
    rf"{_VERB_LAST}|\b(?:(?:{_NOUN}|{RIGHT} (?:option|choice|response"
    rf"|statement|diagnosis|alternative|one)"
    r"|(?:my|the model'?s) (?:best )?(?:choice|selection|response|guess|pick|vote)"
    r"|(?:so|thus|and) the (?:choice|letter|pick)|\Athe letter|(?:correct|best|right)(?=:)"
    r"|corr?ec?t[ao](?= (?:es|é|è)\b)"
    r"|richtig(?= ist)|(?:prawid[lł]ow|poprawn|w[lł]a[sś]ciw)[aye](?= jest)|juist(?= is)"
    r"|r[aä]tt(?= är)|"
    r"moim zdaniem:?|enligt min mening:?|the (?:label|output|class|classification|category"
    r"|(?:\w+ )?(?:guidance|advice|consensus)|overall (?:sentiment|tone|rating|severity)"
    r"|(?:drug|agent|test|treatment) of choice (?:here|in this case))"
    rf"|the (?:choice|option|solution|key|winner|letter)(?= is\b))(?![a-z]){_TO_LINK}"
    rf"|ans\.? |\Aletra (?=\W?[a-e]\W?\.))|{_CJK}"
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
    rf"\b(?:{_BE}) (?:(?:the|la|le|el|il|die|der|das|a|o) (?:{_WORST}|exception|odd (?:one"
    rf"|man)(?: out)?"
    r"|outlier|intruder)"
    rf"|{any_of('harmful')})\b"
)
CALLED_WORST = re.compile(
    rf"\b(?:{_WORST})(?: (?:{_NOUN}|{OPTION}))?[ \"'(]{{1,4}}\Z|\bleast [\w-]+ \Z"
)
CALLED_WORST_AFTER = re.compile(
    rf"[\w']+ (?:(?:that|which|que|qui|die|che) (?:{_BE}) )?(?:the |la |le |die )?(?:{_WORST})\b"
)
IS_RIGHT = re.compile(
    rf"\b(?:(?:{_BE}|are|being|was)\s(?:{any_of('right')})|(?:fits|works|matches|applies) (?:best"
    r"|the (?:description|findings|picture|presentation|case))|best (?:fits|explains|matches"
    r"|describes|accounts)|would be appropriate(?=[.!])"
    r"|(?:is the only|only) \w+ (?:that|which) (?:fits|works|applies|explains)"
    rf"|(?<!\n)it is(?=[.!]|\Z)|(?:is|does|fits)(?=[.!])|makes (?:the )?most sense"
    r"|is the (?:drug|treatment|therapy|agent|test|investigation|procedure|method|step"
    r"|antibiotic) of"
    r" choice(?= (?:here|in this)\b)"
    r"|is the (?:\w+ ){1,2}with the (?:best|strongest|most|highest|greatest) [^.;,!?]{1,40}(?=[.!])"
    r"|stands out as the|is the one(?=[.!]))|(?:是|为)?最?(?:正确|佳选|合适|恰当)"
    r"|सही (?:उत्तर |विकल्प |जवाब )?है"
)
WEAK = re.compile(
    rf"\b(?:{any_of('so')}|{any_of('but')}|(?:(?:it|this|that) )?(?:is|are) (?:most |best "
    rf"|highly )?(?:consistent|compatible) with"
    r"|confident in|arrive at|argues? for|vote goes to|fits with|(?:i|we) (?:now )?(?:think|guess"
    r"|believe|suspect|suppose)|it (?:could|might|may) (?:also|equally) be|(?:it|that)'d be"
    r"|by (?:exclusion|elimination)|what remains is|left with|(?:data|results?|evidence|findings"
    r"|interval|authors|abstract|study|trial) says?|(?:matches|matched by|best described by)"
    r"|mak(?:es?|ing)(?= [^.;\n]{1,60} the (?:best|better|correct|right|most|answer))"
    r"|(?:its|(?:it|this|that)(?:'s| is| was| must be| would be| should be| has to be))"
    r"|(?:which |that )?makes? it|means(?= \W?\w\W?(?:[.,;!]|\Z))|(?:que|dass) (?:es|é|c'est)"
    r"|leaning towards?|lean towards?|leav(?:es|ing)(?: us| me)?(?: with)?"
    rf"|points? to|indicat(?:es?|ing)|suggests?|conclude|{RIGHT}(?: [\w'-]+){{0,6}}? (?:is|would be"
    rf"|should be)|(?:{_NOUN})[^.:;!?\n]{{0,40}}?\s(?:might|could|may|can|is likely to) be)"
    r"(?![a-zà-ÿ'])[,:]?"
)
WEAK_LEAD = re.compile(r"\b(?:based on|according to|given|considering|from|in) [^.:;!?\n]{2,120}?,")
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
    r"[✓✔✅☑←⬅⇐]|<--?|(?<!in)(?<!not )(?<!partially )\bcorrect\b|[.:;–—-] ?(?:the )?(?:best"
    r"|right) (?:choice|answer|option)\W{0,3}\Z"
    r"|\A[\"')\]]{0,4}\s?[:–—-]\s?(?:true"
    r"|right"
    r"|yes)\b"
)
MARKED_WRONG = re.compile(
    r"[✗✘❌]|\b(?:not|in)\s?correct\b|\bwrong\b|n't\b|\A\W{0,8}(?:false|no)\b"
)
HARMFUL = re.compile(
    rf"[)\]\"':]{{0,4}} ?(?:[-–—] ?(?:{any_of('harmful')}|incorrect|wrong|false)\b"
    r"|(?:(?!(?:and|but|so|over|which|as)\b|(?:"
    + any_of("because")
    + rf")\b|-)[^\s,;.!?–—]+ ){{0,3}}?(?:(?:{_BE}|are|was|were|be) )?"
    rf"(?:{any_of('harmful')})\b)"
)
DENIED_BEFORE = re.compile(
    rf"\b(?:not|never|cannot|avoid|against|{any_of('harmful')})\b(?![^\n]*\b(?:{any_of('but')})\b)"
    r"|n't\b"
)
LEAD = re.compile(
    r"\A(?!in?correct|wrong|not|neither|less|least|second|third|2nd|3rd|next|runner|initial"
    r"|previous|reject|exclud|against|alternative|other|worst)"
    r"[^\W\d_]{2,30}(?: [^\W\d_]{2,30}){0,2} ?: ?"
    r"|\Aanswer (?=\W{0,2}\w\W{0,3}\Z)"
    r"|\A(?=[^\W\d_]{1,30}(?: [^\W\d_]{2,30}){3,9} ?:)(?=[^:\n]{0,120}\b(?:overall|final"
    r"|answer|choice|diagnosis|conclu\w+|verdict|judge?ment|best|classification|category|label"
    r"|rating"
    r"|result)\b)(?![^:\n]{0,120}\b(?:not|never|least"
    r"|wrong|incorrect|avoid\w*|contraindicated|exclu\w+|differential|unlikely|worst|except)\b)"
    r"[^:\n]{0,300}: ?",
    re.I,
)
NOT_HERE = re.compile(
    rf"\b(?:{any_of('but')}|yet|though|although|however|pero|mais|aber|mas),? (?:(?:it|this|that|es"
    r"|c'est|elle est|il est|das|sie|é|è)(?:'s)? ?(?:is |was |would be |ist |est )?)?"
    r"(?:not (?:here|in (?:this|our)|for (?:this|our)|correct|right|appropriate|suitable)"
    r"|wrong|incorrect|false|(?:es |est |ist )?(?:incorrect[ao]|fals[aoc]h?|fausse|faux|errad[ao]))"
    r"|\bonly (?:if|when)\b"
)
EXCEPT = re.compile(
    r"\b(?:except(?: for)?|excepto|other than|apart from|aside from|besides|save(?: for)?|sauf"
    r"|au[sß]er|exceto|tranne|salvo)\b"
)
ALL_BUT = re.compile(
    r"\b(?:any(?:thing)?|every(?:thing)?|all|each)(?: of (?:these|them|the \w+))?(?: \w+){0,4}?,? "
    r"(?:but|except(?: for)?|with the exception of|other than|apart from"
    r"|aside from)(?: for)? (?:(?:the|an?) )?"
    r"[\"'(]{0,4}"
    rf"(?:(?:{OPTION}) [\"'(]{{0,4}})?\Z"
)
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
SENTENCE_TURN = re.compile(rf"(?:[.!?…][\"')\]]{{0,2}}\s|\n){_TURNING}")
UNREAL = re.compile(r"\b(?:if|unless|or|" + any_of("condition") + r")\b")
SENTENCE = re.compile(r"[.!?](?<!\b\w\.)(?=\s+\S)|\n")
CONDITION = re.compile(rf"\b(?:{any_of('condition')})\b")
TURN = re.compile(r"\b(?:wait|actually|however|but|instead|on re-?\w+|hmm|no,|correction)\b")
ASKS_FOR_WORST = re.compile(
    rf"\b(?:except(?:ion)?|odd one|excepto|exceto|sauf|au[sß]er|tranne|not|n't|least|nicht|kein\w*"
    rf"|no (?:es|est|se"
    rf"|deb)|n[aã]o|pas|non(?!-)|{_WORST}|{any_of('harmful')})\b|n't\b"
)
CLOSING_LINE = re.compile(
    rf"[^\w\n]{{0,6}}(?:(?:my|the|so|overall|{RIGHT}) ){{0,3}}(?:{_FINAL_NOUN}|{_NOUN}|label|class"
    r"|category|classification|choice|output|triage|priority|severity|grade|level|rating|decision"
    r"|conclusion|result|etikett|klasse|kategorie|einstufung|etiqueta|categor[ií]a|classe"
    r"|[eé]tiquette|cat[eé]gorie|clasificaci[oó]n|classifica[cç][aã]o|classificazione|etichetta"
    r"|categorie|etykieta|kategoria|etikett|kategori|标签|类别|ラベル)[\"')\]]{0,3} ?(?::|=>?|→)\s?"
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
VERDICT_NEXT = re.compile(
    r"[\"')]{0,3} (?:is|would be|seems|appears|remains|fits|must be|should be|es|est|è|é|är|jest)\b"
)
BELOW = re.compile(
    r"[\"')\].]{0,4}\n\n? ?(?![\"'(\[]{0,3}\w[.):\]]{1,2} (?!(?:and|or|both|is|are|was|would|could"
    r"|can|may"
    r"|might"
    r"|has|does|suggests?|causes?|describes?|refers|means|points)\b))"
)
REASON_NEXT = re.compile(
    rf"[\W_]{{0,12}}(?:explanations?|rationale|reason(?:s|ing)?|justification|why|{_BECAUSE}"
    r"|this is because|(?:this|it) is (?:the (?:\w+ )?(?:best|correct|right|answer|only|preferred"
    r"|appropriate|likely)|correct|right)|the (?:\w+ )?answer is)\b"
)
TABLE_ROW = re.compile(r"^\|?[^|\n]{1,400}\|[^\n]{1,2000}$", re.MULTILINE)
_REMARK = r"(?: ?[:;,(–—-] ?(?![^|]*\b(?:but|only|if|unless)\b)[^|]{0,60})?"
CELL_RIGHT = re.compile(
    r"\W*[✓✔✅☑][^|✗✘❌✖×]{0,60}|\W*(?:correct|right|true|yes|best|selected"
    r"|chosen|(?:most |very "
    r"|highly"
    r" )?(?:likely|probable|plausible)|fits|matches|accepted|kept|keep|passe?[sd]?|richtig"
    r"|correct[aeo]"
    r"|corrett[ao]|corret[ao]|juist|rätt|poprawn[aye]|oui|ja|s[íì]|sim|tak|सही)(?: (?:answer"
    r"|choice|option|match|fit"
    r"|diagnosis))?"
    rf"(?:\W*|{_REMARK})"
)
CELL_WRONG = re.compile(
    r"\W*[✗✘❌✖×][^|✓✔✅☑]{0,60}|\W*(?:incorrect|not correct|wrong|false"
    r"|no|not|rejected|excluded"
    r"|ruled out|eliminated|(?:exclude|reject|discard|drop|eliminate)d?|avoid|out|fails?|failed"
    r"|falsch|faux|fausse|incorrect[ao]"
    r"|errat[ao]|errad[ao]|onjuist|fout|fel|błędn[aye]|non|nein|nee|nej|nie|n[aã]o|गलत"
    r"|(?:very |highly )?unlikely|(?:less|least|not) likely|improbable"
    rf"|implausible|does(?: not|n't) fit|poor fit|no match|inconsistent)(?: (?:answer|choice"
    rf"|option))?(?:\W*|{_REMARK})"
)
NO_DOUBT = re.compile(
    r",? (?:no (?:doubt|question)|without (?:a |any )?(?:doubt|question)|for sure|hands down"
    r"|of course"
    r"|definitely|ohne (?:jeden )?zweifel|sans (?:aucun )?doute|sin (?:ninguna )?duda|senza dubbio"
    r"|zonder (?:enige )?twijfel|bez w[aą]tpienia|utan tvekan|sem d[uú]vida)[.!]{0,3}\Z",
    re.IGNORECASE,
)
FINAL_HEADING = re.compile(
    r"[^\w\n]{0,6}(?:\d{1,2}[.)] )?(?:(?:my|the|final|correct|best|overall|finale?"
    r"|endg[uü]ltige?) )"
    rf"{{0,2}}(?:{_NOUN}|final|conclusion|decision|choice|result|diagnosis|fazit|ergebnis"
    rf"|conclusi[oó]n"
    r"|conclus[aã]o|conclusione|conclusie|wniosek|slutsats|निष्कर्ष|उत्तर)(?: finale?)?[^\w\n]{0,4}"
)
RIGHT_NEXT = re.compile(rf" (?:(?:{_BE}) )?(?:{any_of('right')}|{_FOLLOW})")
ENDED = re.compile(r"[\"')\]]{0,4}(?:\Z|[\n.!])")
EXPLAINED = re.compile(
    rf"[\"')\].]{{0,4}}(?:\Z|\n|,? {_BECAUSE}| \(|[.,:]? (?:this is|explanation|rationale|reason))"
)
SENTENCE_ENDED = re.compile(rf"[\"')\]]{{0,4}}(?:\Z|[\n.,;!(]|,? {_BECAUSE})")
_DISCARD = (
    r"(?:scratch|scrap|strike|forget|ignore|disregard|cancel|delete) (?:that|this|it)"
    r"(?! (?:the|if|it|in|there|she|he)\b)"
)
_SORRY = (
    r"(?:f[oö]rl[aå]t"
    r"|urs[aä]kta|entschuldig\w*|verzeihung|pardon|d[eé]sol[eé]e?|perd[oó]n|disculp\w*|lo siento"
    r"|scusa\w*|przepraszam|desculp\w*|sorry|r[aä]ttelse|korrektur|korrigiere|correcci[oó]n"
    r"|correzione|corre[cç][aã]o|correctie|korekta|besser gesagt|vielmehr|plut[oô]t|mejor dicho"
    r"|oder (?:nein|doch|vielmehr)|o meglio|eller (?:snarare|nej)|ou plut[oô]t|o m[aá]s bien"
    r"|of (?:beter|nee)|albo nie|lub raczej"
    r"|anzi|of liever|r[aä]ttare sagt|a raczej|ou melhor|माफ़? ?करें|क्षमा करें)"
)
_TAKE_BACK_ELSEWHERE = (
    r"ich (?:korrigiere|nehme das zur[uü]ck|habe mich geirrt)|das war falsch"
    r"|je (?:corrige|me corrige|retire|me suis tromp[eé]e?)|me equivoqu[eé]|me corrijo|rectifico"
    r"|mi (?:sono sbagliat[oa]|correggo)|rettifico|ik (?:vergiste me|neem dat terug"
    r"|corrigeer)|pomyli[lł][ae]m|poprawiam|jag (?:hade fel|r[aä]ttar|tar tillbaka)"
    r"|enganei-me|me enganei|errei|corrijo"
)
AFTER_ALL = re.compile(
    rf"\b(?:on re-?(?:reading|checking|thinking|viewing|examination|consideration)|{_DISCARD}"
    rf"|{_SORRY}|replac(?:e|ing) (?:it|that|this|my \w+(?: \w+)?) (?:with|by)"
    r"|on (?:(?:second|another) (?:thoughts?|look|reading)|reflection|further thought"
    r"|review|(?:a )?closer (?:look|inspection|reading))|oops|or rather|correction|actually|wait"
    r"|edit|revised|(?:i )?meant?(?: to (?:say|write|type|put|answer))?"
    r"|(?<!n't )(?<!not )(?<!never )(?<!considered )(?<!tempted to )(?<!thought of )"
    r"(?<!thought about )"
    r"(?:chang(?:e|ed|ing)|revis\w+|correct\w*) (?:it |that |this "
    r"|my (?:\w+ )?\w+ )?(?:from \S{1,20} )?to"
    r"|switch to(?:(?<=\bme switch to)|(?<=\bi switch to)|(?<=\bi'll switch to))"
    r"|(?:correct|revise) (?:that|this|it|myself)(?=[:,])|let me (?:correct|revise)(?=:)"
    r"|(?:answer|choice|response|label|pick)(?: therefore| thus| now){0,2} (?:changes|is changed"
    r"|has changed|switches|moves|is revised|becomes)"
    r"(?: from \S{1,20})? to"
    r"|make (?:it|that)|or better(?: yet| still)?:?"
    r"|(?:i'm |so )?sorry|apologies|pardon(?: me)?|my (?:mistake|bad|error)"
    r"|(?:hmm+|well)(?=,)(?:(?<=\.\. well)|(?<=… well)|(?<= [–—-] well)|(?<=\.\. hmm)|(?<=… hmm)"
    r"|(?<= [–—-] hmm))"
    r"|(?:(?<=[.!?,;–—-] )|(?<=\()|(?<=\boh )|(?<=[–—]))(?:no|nej|nein|nee|nie|non|n[aã]o|नहीं)"
    rf"(?=,)),?:? (?:(?:{_SORRY}|sorry|no|rather|wait|on balance|overall|more likely"
    rf"|probably|doch|lieber|je voulais dire|quiero decir|voglio dire),? )?(?:it(?:'s| is) )?"
    r"|(?<=\w )(?:->|→|⇒) ?"
)
RETRACTED = re.compile(
    rf"\b(?:{_TAKE_BACK_ELSEWHERE}|{_DISCARD}(?=[.,:;!])|re-?(?:consider|evaluat|think)ing"
    rf"|(?:let me|i (?:need to|must|should|have to|will))"
    r" re-?(?:consider|think|check|evaluate|examine|read|assess)\w*|(?:hmm+|wait|actually|oh|no),? "
    r"(?:no|wait)(?=[.,!])|correction(?= ?[:–—-]|,? (?:it|that|this|the answer) )"
    r"|let me think (?:again|(?:about )?(?:this|it|that)"
    r" (?:again|over|through again))"
    r"|that was (?:wrong|incorrect|an? \w+)|i (?:was|am) (?:wrong|mistaken)"
    r"|i made an? (?:mistake|error)|(?:check|think|look|read)ing (?:it )?again"
    r"|i take (?:back \S{1,20}|(?:that|it|this|my (?:\w+ )?\w+) back)|i mis(?:read|understood"
    r"|interpreted)(?: (?:the|your) \w+)?)"
)
CORRECTED = re.compile(
    rf"{AFTER_ALL.pattern}|{RETRACTED.pattern}"
    r"|\b(?:final(?:ly)?|draft|revis\w+|correct(?:ed|ion)|instead"
    r"|now|at first|initial\w*|first (?:thought|guess|impression)|previous\w*|not)\b"
)
EQUALLY = re.compile(
    r"\b(?:also|too|as well|equally|likewise|just as|the same|both|either|similarly|comparabl\w+)\b"
)
DENIED_LINK = re.compile(
    rf"\b(?:no|n[aã]o|non|nicht|ne)\s(?:{_BE})\W*\Z|\bn'est\b.{{0,40}}\bpas\W*\Z"
)
HEADING = re.compile(r"[\"')\]]{0,4}\s?[:–—-]\s")
DOUBT_NEXT = re.compile(
    r"[\"')\]]{0,3}(?:\.\.\.?|…|\s?[–—]|\s-)\s?(?:hmm+|wait|no|well|actually|or|let me)\b"
)
MARK = re.compile(r"(?P<tick>[✓✔✅☑🟢]|\[x\])|[✗✘❌✖🔴]|\[ \]")
TICK = re.compile(r"[✓✔✅☑🟢]|\[x\]")
POINTED_AT = re.compile(
    r"(?:[←⬅⇐👈]|(?<!-)<-{1,2})[^\w\n]{0,6}(?:(?:this(?: one)?|here|correct|right|best"
    r"|(?:the |my )?(?:\w+ )?(?:answer|choice|pick))\b)?[^\w\n]{0,6}$"
    r"|[-–—:;,.(] {0,2}(?:(?:so|yes|it's|it is|and),? )?this one[^\w\n?]{0,6}$"
    r"|[-–—:] ?this is (?:the|my|our) (?:(?:correct|right|best|final) )?answer[^\w\n?]{0,6}$",
    re.MULTILINE,
)
YES_LAST = re.compile(r"(?:[:,;=→–—-]|->) ?yes[.!]?\Z")
NO_LAST = re.compile(r"(?:[:,;=→–—-]|->) ?no[.!]?\Z")
CAPITAL_LAST = re.compile(r"[a-z]{4}[.!] [A-HJ]\Z")
CAPITAL = re.compile(r"(?<![\w'-])[B-HJ](?![\w'-])")
MARKED_LABEL = re.compile(r"[\"'(\[]?(\w)[\"')\].:]{0,2}(?= ?[^\w\s'-])")
LINE_OF_OPTION = re.compile(
    r"^(?P<before>(?:[^\w\n]|x(?=\])){0,12})(?:\d{1,2}[.)] )?(?P<said>\w[^\n]{0,400}?)"
    r"(?P<after>[^\w\n]{0,12})$",
    re.MULTILINE,
)
CONCESSION = re.compile(
    r"(?:,? |\A)(?:although|though|even though|even if|while|whereas|unless|medan|während|mientras"
    r"(?: que)?|tandis que|alors que|enquanto|mentre|terwijl|podczas gdy) (?:[^,.;:!?\n]{0,300}"
    r"(?:,(?! (?:then|in which case|otherwise|but)\b)[^,.;:!?\n]{0,300})?)(?=[.!]?\Z)"
)
ARROW_NEXT = re.compile(r"[\"')\]]{0,4} ?(?:->|→|⇒)")
LABEL_LAST = re.compile(r"(?:\A|[\s(\[*])\w[.)]\s*\Z")
OPEN = re.compile(
    r"\b(?:whether|depends?|depending|would (?:need|require|have to|imply)"
    r"|(?:can(?:not|'t| not)|(?:unable|not able) to) (?:\w+ )?(?:answer|say|tell|decide|determine"
    r"|choose)|(?:consult|ask|see|talk to|speak (?:to|with)|contact) (?:your|an?|the"
    r"|with) (?:\w+ ){0,2}"
    r"(?:doctor|physician|pharmacist|provider|clinician|specialist|professional|dietiti?an)"
    r"|(?:i|we) (?:can(?:not|'t)|am (?:unable|not able)|doubt))\b"
)

BRACKET_NEXT = re.compile(
    r" \((?!(?:or|maybe|perhaps|not|if|unless|possibly|but|probably|likely|versus|vs)\b|\?)"
    r"[^()\n]{1,200}\)\W{0,4}(?:\Z|\n)"
)
