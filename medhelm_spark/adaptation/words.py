"""The words by which texts state an answer: one row per language, one column per function.

A column has, for example, nouns that mean the answer, verbs that choose one, words that deny one.
"""

from typing import NamedTuple


class _Words(NamedTuple):
    """One language; each field is an alternation of a regular expression, or empty."""

    answer: str = ""  # nouns that mean the answer
    option: str = ""  # nouns before a label
    right: str = ""  # "correct", "the best", after a form of `be`
    be: str = ""
    choose: str = ""  # verbs whose object is the chosen option
    follow: str = ""  # other words after a label
    so: str = ""  # words that draw a conclusion
    because: str = ""
    deny: str = ""  # before what is denied
    wrong: str = ""  # after `be`, of what is denied
    harmful: str = ""  # after `be`, of a treatment that should not be given
    worst: str = ""  # with a noun for the answer: the opposite of the best one
    absent: str = ""  # before a finding that is not there, or a treatment that is not chosen
    but: str = ""  # before what is true instead of what was denied
    would: str = ""  # a form of the verb for what is not so
    condition: str = ""  # before or after what is right under a condition only
    either: str = ""  # "and", "or" between options
    remain: str = ""  # before the option that is left
    point: str = ""  # verbs of findings, before the option that they speak for


RIGHT = (
    r"(?:(?:single |only |most )?(?:correct|right|accurate|appropriate|likely|suitable|probable"
    r"|plausible|consistent|fitting|preferred)|best|chosen|selected|final)"
)
_ENGLISH = _Words(
    answer=r"answer(?:[_ -]?(?:choice|letter|option|idx|index|key|text|label))?|ans|answr|anser"
    r"|awnser|anwser|asnwer|prediction|selection|verdict",
    option=r"option|choice|letter|answer|statement|alternative|number",
    right=r"(?:clearly |definitely |likely |probably |therefore |thus |indeed |equally "
    r"|also )?(?:the "
    rf"(?:(?!least|second|next)\w+ )?{RIGHT}|(?:the |an? )?(?:correct|right|best|accurate)"
    r"|the answer|(?:my|our) (?:best |final |first )?(?:answer|choice|pick|guess|bet|vote)|(?:most"
    r"|more) (?:accurate|appropriate|likely|suitable"
    r"|probable|plausible|consistent)|(?:a|the) better (?:choice|option|answer|fit)|preferable)\b",
    be=r"is|to be|(?:would|should|must|will|has to|can only)(?: therefore| thus| then)? be"
    r"|remains|(?:seems|appears|looks)(?: to be)?",
    choose=r"choos(?:e|ing)|chose|select(?:ing|ed)?|pick(?:ing|ed)?|(?:go|going|went) (?:with|for)"
    r"|opt(?:ing|ed)? for|favou?r|prefer|(?:i|we)(?: would|'d)? recommend|settl(?:e|ing) (?:on|for)"
    r"|(?:would|i'll|i will|i'd) (?:say|answer)|i (?:should|must|have to|need to) (?:say|answer)"
    r"|(?:stay|stick)(?:ing)? with|(?:i'd|i'll|i would|i will|i|\A) (?:mark"
    r"|vote(?: for)?|take)(?= \W?\w\b)|\Amark|(?:put|bet|place) (?:my|the|good) (?:money|bets?"
    r"|vote) on"
    r"|if (?:i|we) (?:must|had to|have to|were to|need to|really had to) (?:choose|pick|guess|bet"
    r"|decide"
    r"|commit)(?: one)?,?|(?:switched|switching|changed|changing) to"
    r"|this falls (?:under|into)(?! (?:the )?[\w-]+ (?:to|in)\b)"
    r"|be (?:class(?:ed|ified)|graded|rated|triaged|label(?:l?ed)?|coded|categori[sz]ed) as"
    r"|(?:classif(?:y|ied)|categori[sz]ed?|label(?:l?ed)?|rated?) (?:(?:this|it|the \w+) )?as",
    so=r"therefore|thus|hence|so|consequently|conclusion|overall|in (?:short|summary)",
    because=r"because|since|or|rather|instead",
    deny=r"not|never|(?:no|any) (?:reason|grounds|need|cause) to"
    r"|neither|nor|cannot|except|avoid|against|unlike|excludes?|(?<!by )eliminat\w+"
    r"|rather than|instead of|rul(?:e|es|ed|ing) out|than|anything|everything(?! (?!is\b|was\b"
    r"|has\b)\w+s\b)",
    wrong=r"not|incorrect|wrong|false|unlikely|less|ruled out|excluded|eliminated|absent",
    harmful=r"contraindicated|avoided|avoid|harmful|dangerous|unsafe|risky|inappropriate|stopped"
    r"|discontinued|an? (?:mistake|error)|not (?:recommended|indicated|appropriate|suitable)"
    r"|(?<=is )an? (?:\w+ )?contraindication",
    worst=r"wrong|incorrect|false|worst|poorest|inappropriate|contraindicated|(?:most|more) "
    r"(?:dangerous|harmful|inappropriate)|least(?: (?:appropriate|likely|suitable|probable"
    r"|plausible|accurate|indicated|effective|useful|preferred|safe|consistent|correct))?",
    absent=r"no|nothing|no (?:[\w-]+ ){0,4}?(?:of|for|to suggest|suggesting|suggestive of)|without"
    r"|(?:negative|tested) for|(?:free|absence|lack) of|free from|lacks|stop|hold|withhold"
    r"|discontinu(?:e|ing)|cease|already (?:\w+ )?(?:takes|taking|on|receives|receiving|uses)|(?:he"
    r"|she|patient|they) (?:currently )?(?:is on|was on|takes|took|has taken)|(?:switch|chang"
    r"|convert|transition)\w* (?:[\w-]+ ){0,2}?from|(?<!be )(?:said|answered|replied|responded"
    r"|reported(?! as\b))|(?:patient|he|she|they) (?:\w+ )?says"
    r"|confused with|mistaken for|(?:allerg(?:y|ic)|intoleran(?:t|ce)) (?:to|of)",
    but=r"but(?: rather| instead)?|rather|instead",
    would=r"would|could|might|had|were",
    condition=r"if(?! (?:i|we|you|so|forced|pressed|pushed)\b)|unless|otherwise|suppose|supposing"
    r"|in that case|(?:had|were|should) (?:she|he|it|they|the|this|there|his|her|i|we)"
    r"|only (?:if|when|in)|in (?:another|a different)|for (?:another|a different)|provided",
    either=r"and/or|and|or|as well as|vs",
)
_SPANISH = _Words(
    answer=r"respuesta|(?:opci[oó]n|alternativa|elecci[oó]n|conclusi[oó]n)",
    option=r"opci[oó]n|alternativa|letra|respuesta|inciso|literal",
    right=r"(?:claramente |probablemente )?(?:(?:la|el|lo) )?(?:[uú]nica |mejor )?(?:opci[oó]n "
    r"|respuesta |alternativa )?(?:m[aá]s )?(?:correct[ao]|adecuad[ao]|apropiad[ao]|acertad[ao]"
    r"|indicad[ao]|probable|verdader[ao]|mejor|respuesta)\b",
    be=r"es|ser[ií]a|debe ser|debe de ser|tiene que ser|parece(?: ser)?",
    choose=r"elijo|eleg(?:ir)?[ií]a|escojo|escoger[ií]a|selecciono|seleccionar[ií]a|me quedo con"
    r"|me quedar[ií]a con|(?:opto|optar[ií]a|me inclino|me decanto|me inclinar[ií]a) por"
    r"|marcar[ií]a"
    r"|dir[ií]a(?: que es)?|corresponde a|se trata de|se (?:elige|escoge|selecciona|opta por)",
    follow=r"parece",
    so=r"(?:ser[ií]a|es)(?= la \W?\w\b)|por lo tanto|por tanto|por ende|as[ií] que|entonces"
    r"|en conclusi[oó]n|en resumen",
    because=r"porque|ya que|pues|dado que",
    deny=r"no (?:es|sea|ser[ií]a|son|corresponde a)|ni|excepto|descart\w+|en vez de|en lugar de"
    r"|no (?=la |el |\W?\w\b)",
    wrong=r"no es|no est[aá]|incorrect[ao]|fals[ao]|err[oó]ne[ao]|descartad[ao]",
    harmful=r"contraindicad[ao]|perjudicial|no recomendad[ao]",
    worst=r"incorrect[ao]|peor|err[oó]ne[ao]|fals[ao]|equivocad[ao]|inadecuad[ao]|menos \w+",
    absent=r"sin|(?:ausencia|sin evidencia|sin signos) de|negativo para|suspend(?:er|a)",
    but=r"sino(?: que(?: es)?)?",
    would=r"ser[ií]a|habr[ií]a|fuera|hubiera|estuviera|tuviera",
    condition=r"si (?:la|el|fuera|hubiera|estuviera|tuviera|no|se)|de lo contrario|en otro caso"
    r"|en ese caso|de haber",
    remain=r"queda(?:r[ií]a)?|resta",
    point=r"se trata de|apuntan? a|sugieren?|indican?|orientan? a|a favor de|compatibles? con"
    r"|t[ií]pic[ao]s? de|caracter[ií]stic[ao]s? de|corresponden? a|(?:diagn[oó]stico"
    r"|causa)(?: [\w'-]+){0,4} es",
)
_PORTUGUESE = _Words(
    answer=r"resposta|opç[aã]o|escolha|gabarito|conclus[aã]o",
    option=r"opç[aã]o|alternativa|letra|resposta",
    right=r"(?:(?:a|o) )?(?:[uú]nica |melhor )?(?:opç[aã]o |resposta |alternativa )?(?:mais )?"
    r"(?:corret[ao]|cert[ao]|adequad[ao]|apropriad[ao]|indicad[ao]|prov[aá]vel|verdadeir[ao]|melhor"
    r"|resposta)\b",
    be=r"é|seria|será|deve ser|est[aá]|parece ser",
    choose=r"escolho|escolheria|seleciono|selecionaria|(?:opto|optaria) por|fico com|ficaria com"
    r"|(?:marco|marcaria|assinalo|assinalaria)|diria(?: que é)?|corresponde (?:à|a)"
    r"|trata-se d[aeo]",
    so=r"portanto|logo|assim|ent[aã]o|em conclus[aã]o|em resumo",
    because=r"pois|porque|j[aá] que",
    deny=r"n[aã]o (?:é|seja|seria|s[aã]o)|nem|exceto|descart\w+|em vez de|n[aã]o",
    wrong=r"n[aã]o é|n[aã]o est[aá]|incorret[ao]|fals[ao]|errad[ao]",
    harmful=r"contraindicad[ao]|prejudicial|n[aã]o recomendad[ao]",
    worst=r"incorret[ao]|errad[ao]|pior|fals[ao]|inadequad[ao]|menos \w+",
    absent=r"sem|(?:aus[eê]ncia|sem evid[eê]ncia|sem sinais) de|negativo para|suspend(?:er|a)",
    but=r"(?:mas|e) sim|mas",
    would=r"seria|teria|fosse|tivesse|houvesse|estivesse",
    condition=r"se (?:ela|ele|a|o|fosse|tivesse|houvesse|estivesse|n[aã]o)|caso contr[aá]rio"
    r"|caso (?:ela|ele|a|o)|nesse caso",
    either=r"ou",
    remain=r"restam?|sobram?",
    point=r"trata-se d[aeo]|apontam? para|sugerem?|indicam?|a favor de|compat[ií]ve(?:l|is) com"
    r"|t[ií]pic[ao]s? de|caracter[ií]stic[ao]s? de|(?:diagn[oó]stico|causa)(?: [\w'-]+){0,4} é",
)
_FRENCH = _Words(
    answer=r"r[eé]ponse|(?:bon|meilleur) choix|(?:bonne|meilleure|seule) (?:option|proposition)"
    r"|option (?:correcte|choisie|retenue)|proposition (?:correcte|exacte)|choix",
    option=r"option|proposition|r[eé]ponse|choix|lettre|l'option",
    right=r"(?:donc |clairement |probablement )?(?:(?:la|le|l') ?)?(?:seule |option |r[eé]ponse "
    r"|proposition )?(?:(?:la |le )?plus )?(?:correcte?|exacte?|juste|bonne|bon|meilleure?|vraie?"
    r"|appropri[eé]e?|ad[eé]quate?|probable|indiqu[eé]e?)\b",
    be=r"est|sera|serait|doit [eê]tre|semble(?: [eê]tre)?",
    choose=r"(?:je |j')?(?:choisis|choisirais|retiens|retiendrais|s[eé]lectionne|s[eé]lectionnerais"
    r"|dirais|r[eé]ponds|r[eé]pondrais)|il faut (?:choisir|retenir|cocher)"
    r"|(?:opte|opterais|penche|pencherais) pour|correspond à|il s'agit d[eu]",
    follow=r"semble|para[iî]t",
    so=r"donc|par cons[eé]quent|ainsi|en conclusion|en r[eé]sum[eé]|c'est",
    because=r"car|parce",
    deny=r"(?:n'est|n'[eé]tait|ne serait|ce n'est) pas|pas|ni|sauf|plut[oô]t que|au lieu de|non",
    wrong=r"n'est pas|incorrecte?|fausse|faux|inexacte?|erron[eé]e?",
    harmful=r"contre-indiqu[eé]e?|dangereux|dangereuse|d[eé]conseill[eé]e?",
    worst=r"mauvaise?|fausse|faux|incorrecte?|inexacte?|erron[eé]e?|pire|moins \w+",
    absent=r"sans|pas d[e']|(?:absence|sans signe) d[e']|n[eé]gatif pour|arr[eê]te[rz]",
    but=r"mais(?: bien| plut[oô]t)?",
    would=r"serait|aurait|[eé]tait|avait",
    condition=r"si (?:la|le|elle|il|on|l')|s'il|sinon|dans ce cas|dans le cas contraire",
    either=r"et|ou",
    remain=r"(?:il )?(?:ne )?reste(?: donc)?(?: plus)?(?: que)?",
    point=r"(?:on|je) retien[st]|il s'agit d[eu']|[eé]voquent?|orientent? vers|en faveur d[eu']"
    r"|sugg[eè]rent?|compatibles? avec|typiques? d[eu']|caract[eé]ristiques? d[eu']|(?:diagnostic"
    r"|cause)(?: [\w'-]+){0,4} est",
)
_GERMAN = _Words(
    answer=r"antwort|l[oö]sung|(?:richtige|korrekte|beste) (?:option|wahl|aussage)",
    option=r"antwort|option|buchstabe|aussage|m[oö]glichkeit|antwortm[oö]glichkeit",
    right=r"(?:also |somit |daher |eindeutig )?(?:(?:die|das|der) )?(?:richtig\w*|korrekt\w*"
    r"|beste?\w*"
    r"|zutreffend\w*|wahrscheinlichst\w*|am besten)\b",
    be=r"ist|lautet|w[aä]re|muss",
    choose=r"ich w[aä]hle|w[aä]hle|entscheide mich f[uü]r|w[uü]rde sagen|nehme|tippe auf|trifft"
    r"|ich w[uü]rde(?= \W?\w\W? (?:w[aä]hlen|nehmen|ankreuzen|sagen))"
    r"|handelt(?: es)? sich um",
    follow=r"richtig|korrekt|zutreffend|w[aä]hlen|nehmen|zu",
    so=r"(?:daher|somit|folglich|deshalb|also)(?: (?:ist|bleibt))?|fazit|es (?:ist|bleibt)",
    because=r"weil|denn|da",
    deny=r"nicht|weder|noch|keine?|statt|au[sß]er|anstatt",
    wrong=r"nicht|falsch|unzutreffend|inkorrekt",
    harmful=r"kontraindiziert|sch[aä]dlich|nicht (?:empfohlen|indiziert)",
    worst=r"falsche?[nrs]?|schlechteste?[nrs]?|unzutreffende?[nrs]?|unpassendste?[nrs]?"
    r"|inkorrekte?[nrs]?|am wenigsten \w+|unwahrscheinlichste?[nrs]?",
    absent=r"ohne|kein\w{0,2}|(?:hinweis|anhalt|zeichen) (?:auf|f[uü]r)|negativ f[uü]r",
    but=r"sondern",
    would=r"w[aä]re|h[aä]tte|w[uü]rde",
    condition=r"wenn|falls|andernfalls|sonst|w[aä]re (?:sie|er|die|der)|h[aä]tte (?:sie|er|die"
    r"|der)",
    either=r"und|oder|sowie",
    remain=r"(?:[uü]brig )?bleibt(?: nur)?(?: noch)?|verbleibt",
    point=r"handelt(?: es)? sich(?: hier)? um|spr(?:icht|echen) f[uü]r|deute[nt] auf|weis(?:t"
    r"|en) auf|pass(?:t|en) zu|typisch f[uü]r|charakteristisch f[uü]r|(?:diagnose"
    r"|ursache)(?: [\w'-]+){0,4} (?:ist|lautet)|liegt",
)
_ITALIAN = _Words(
    answer=r"risposta|scelta|soluzione|opzione",
    option=r"opzione|risposta|lettera|alternativa|scelta",
    right=r"(?:(?:la|il|l') ?)?(?:opzione |risposta |scelta )?(?:pi[uù] )?(?:corrett[ao]|giust[ao]"
    r"|esatt[ao]|migliore|appropriat[ao]|adeguat[ao]|probabile|indicat[ao])\b",
    be=r"è|e'|sarebbe|sar[aà]|deve essere",
    choose=r"scelgo|sceglierei|seleziono|opto per|opterei per|direi|indico|si tratta d[ei]",
    so=r"quindi|dunque|pertanto|perci[oò]|in conclusione",
    because=r"perché|poiché",
    deny=r"non (?:è|sarebbe|la|il)|non|né|tranne|invece di|piuttosto che|esclud\w+",
    wrong=r"non è|errat[ao]|sbagliat[ao]|fals[ao]|scorrett[ao]",
    harmful=r"controindicat[ao]|dannos[ao]|sconsigliat[ao]",
    worst=r"errat[ao]|sbagliat[ao]|fals[ao]|scorrett[ao]|peggiore?|meno \w+",
    absent=r"senza|(?:assenza|senza segni) di|negativo per|sospend(?:ere|i)",
    but=r"ma|bens[iì]",
    would=r"sarebbe|avrebbe|fosse|avesse",
    condition=r"se (?:la|il|fosse|avesse|non)|altrimenti|in tal caso|in caso contrario",
    either=r"oppure",
    remain=r"(?:resta|rimane)(?: solo)?",
    point=r"si tratta d[ei]|indica(?:no)?|suggerisc(?:e|ono)|depon(?:e|gono) per|a favore d[ei]"
    r"|compatibil[ei] con|tipic[aohe]+ d[ei]|(?:diagnosi|causa)(?: [\w'-]+){0,4} è",
)
_DUTCH = _Words(
    answer=r"antwoord|(?:juiste|beste|correcte) (?:optie|keuze)",
    option=r"optie|antwoord|keuze",
    right=r"(?:dus |duidelijk )?(?:(?:het|de) )?(?:juiste?|correcte?|goede|beste|meest \w+)\b"
    r"(?: (?:antwoord|optie|keuze))?",
    be=r"is|luidt",
    choose=r"kies(?: voor)?|zou(?= \W?\w\W? (?:kiezen|nemen|zeggen))|zou (?:ik )?(?:kiezen voor"
    r"|zeggen)",
    follow=r"kiezen|nemen|juist|correct(?=[.\n]|\Z)",
    so=r"(?:daarom|dus|derhalve)(?: is)?|conclusie",
    because=r"omdat",
    deny=r"niet|geen|noch|behalve",
    wrong=r"niet|onjuist|fout",
    worst=r"onjuiste|foute|verkeerde|slechtste",
    absent=r"zonder|geen",
    but=r"maar",
    would=r"zou",
    condition=r"als (?:de|het|ze|hij|er)|tenzij|anders",
    remain=r"(?:dan )?(?:blijft|resteert)(?: alleen)?(?: nog)?",
    point=r"wij(?:st|zen) op|pas(?:t|sen) bij|duid(?:t|en) op|typisch voor|(?:diagnose"
    r"|oorzaak)(?: [\w'-]+){0,4} is|gaat om",
)
_POLISH = _Words(
    answer=r"odpowied[zź](?:i[aą])?|rozwi[aą]zanie",
    option=r"odpowied[zź]|opcja|wariant",
    right=r"(?:najbardziej )?(?:prawid[lł]ow|poprawn|w[lł]a[sś]ciw|najlepsz|prawdopodobn)[aąey]\b"
    r"(?: odpowied[zź]\w{0,2})?",
    be=r"jest",
    choose=r"wybieram|wybra[lł](?:a)?bym",
    follow=r"jest",
    so=r"dlatego|zatem|wi[eę]c",
    because=r"poniewa[zż]|gdy[zż]|bo",
    deny=r"nie(?: jest)?|ani|opr[oó]cz|z wyj[aą]tkiem",
    wrong=r"nie jest|b[lł][eę]dn[aey]|niepoprawn[aey]|nieprawid[lł]ow[aey]",
    worst=r"b[lł][eę]dn[aą]|niepoprawn[aą]|nieprawid[lł]ow[aą]|najgorsz[aą]",
    absent=r"bez|brak|nie ma",
    but=r"lecz|ale|tylko",
    would=r"by[lł](?:a|o)?by",
    condition=r"je[sś]li|je[zż]eli|gdyby|chyba [zż]e",
    either=r"oraz|lub|albo",
    remain=r"(?:po)?zostaje(?: tylko)?",
    point=r"wskazuj[aeą] na|przemawia(?:j[aą])? za|sugeruj[aeą]|typow[aey] dla|(?:rozpoznanie"
    r"|przyczyna)(?: [\w'-]+){0,4} to",
)
_SWEDISH = _Words(
    answer=r"svar(?:et|salternativet)?|(?:r[aä]tta?|b[aä]sta) alternativ(?:et)?",
    option=r"alternativ(?:et)?|svar(?:et|salternativ)?",
    right=r"(?:(?:det|den) )?(?:r[aä]tta?|korrekta?|b[aä]sta?|mest \w+)\b"
    r"(?: (?:svar|alternativ)(?:et)?)?",
    be=r"är",
    choose=r"v[aä]lj(?:er|a)",
    follow=r"är|r[aä]tt",
    so=r"(?:d[aä]rf[oö]r|alltså|således)(?: är)?|slutsats",
    because=r"eftersom|därför att",
    deny=r"inte|ej|varken|utom|förutom",
    wrong=r"inte|fel|felaktigt?|inkorrekt",
    worst=r"fel|felaktiga?|sämsta",
    absent=r"utan|ingen|inga|inget",
    but=r"utan",
    would=r"vore",
    condition=r"om (?:hon|han|det|den)|annars",
    either=r"och|eller",
    remain=r"(?:kvar blir|kvar är|återstår|då återstår)",
    point=r"rör sig om|handlar om|talar för|tyder på|pekar på|passar med|typiskt för|(?:diagnosen?"
    r"|orsaken?)(?: [\w'-]+){0,4} är",
)
_OTHERS = (
    _Words(answer=r"cevap|yan[ıi]t", option=r"seçenek|ş[ıi]k", wrong=r"değil\w*"),
    _Words(answer=r"ответ", option=r"вариант|ответ", be=r"—", deny=r"не", but=r"а"),
    _Words(answer=r"उत्तर|जवाब", option=r"विकल्प|उत्तर", be=r"है", so=r"अतः|इसलिए"),
    _Words(answer=r"الإجابة|الجواب", be=r"هي|هو", deny=r"ليس|ليست"),
)
_LANGUAGES = (
    _ENGLISH, _SPANISH, _PORTUGUESE, _FRENCH, _GERMAN, _ITALIAN, _DUTCH, _POLISH, _SWEDISH,
    *_OTHERS,
)  # fmt: skip


def any_of(part: str) -> str:
    """One column over all languages, as one alternation."""
    return "|".join(words for language in _LANGUAGES if (words := getattr(language, part)))
