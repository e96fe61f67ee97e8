"""Yes, no, maybe, true and false in other words, as in "Probably not" and "It is unclear".

Only a phrase that makes up the first sentence or clause of a reply counts, and none before words to
the reader ("Certainly! Please share the abstract.").
"""

import re

_HEDGE = (
    r"(?:(?:very|most|quite|almost|highly|more than) )?(?:probably|likely|certainly|definitely"
    r"|absolutely|apparently|surely|clearly|evidently|presumably|obviously|undoubtedly)"
)
_WHO = r"(?:it|they|he|she|there|this|that|these|those)"
_DOES = r"(?:does|do|did|is|are|was|were|has|have|had|can|could|should|will|would)"
_SUBJECT = (
    r"(?:(?:it|this|that|they|these|(?:the )?(?:overall )?(?:answer|evidence|data|results?"
    r"|findings?|picture|association|effect|benefit|link|relationship|literature|study|trial)"
    r"(?: here)?)"
    r"(?:'s| is| are| was| were| remains?| seems?| appears?| looks?)"
    r"(?: (?:to be|still|currently|largely|rather|somewhat|therefore|thus|as yet))? )"
)
_MOSTLY = (
    r"(?:generally(?: speaking)?|usually|typically|mostly|broadly|normally|in (?:general|principle"
    r"|most cases)|for the most part|as a rule),? "
)
_STOP = r"[\"')\]]{0,3}(?:\Z|\s?[.,;:!\n。]|\s[–—-]|\s(?:because|since)\b)"
_NO = (
    rf"(?:(?:{_HEDGE}|of course|perhaps|sadly|unfortunately),? )?not(?: really| at all)?"
    r"|(?:i'm|i am) afraid not|(?:quite|on|just) the (?:contrary|opposite|reverse)|far from it"
    r"|no chance"
    rf"|(?:{_HEDGE}|{_MOSTLY}) ?no|not (?:very |so |at all )?likely"
    rf"|{_SUBJECT}?not (?:indicated|needed|required|necessary|warranted)(?: here)?"
    rf"|(?:very |highly |quite |rather |most |{_SUBJECT}){{0,2}}unlikely"
    r"|(?:i|we) (?:do not|don't|would not|wouldn't) (?:think|believe|say) so|by no means"
    r"|(?:in )?no way|under no circumstances|hardly|nope|nah|not really|negative"
    rf"|{_WHO} (?:{_DOES}(?: not|n't)|can't|cannot|won't|shan't)(?: (?:appear|seem|look)(?: (?:so"
    rf"|that way|to))?)?"
    rf"|{_WHO} (?:seems|appears|would (?:seem|appear)) not|does(?:n't| not) (?:seem|look"
    rf"|appear)(?: (?:so"
    r"|like it|that way))?|n(?=\W{{0,3}}\Z)"
)
_YES = (
    rf"(?:(?:i|we) (?:do )?(?:think|believe|would say)|{_WHO} (?:seems|appears|looks)"
    r"|apparently|seems|looks|appears) (?:so|like it|that way)"
    rf"|(?:very |highly |quite |most |{_SUBJECT}){{0,2}}likely|(?:yes,? )?indeed|yep|yeah|yup|yea"
    rf"|affirmative|{_MOSTLY}yes|{_HEDGE}|of course|{_WHO} (?:{_HEDGE} )?{_DOES}(?: (?:indeed|so))?"
    r"|y(?=\W{0,3}\Z)"
)
_UNSURE = (
    r"(?:not (?:entirely |yet |at all )?(?:clear|certain|conclusive|settled|known)|unclear"
    r"|uncertain|inconclusive|equivocal|mixed|conflicting|ambiguous|debatable"
    r"|controversial|insufficient|the jury is (?:still )?out|(?:hard|difficult|too early"
    r"|impossible) to (?:say|tell|know))"
)
_MAYBE = (
    rf"{_SUBJECT}?{_UNSURE}|possibly|perhaps|potentially|conceivably"
    r"|(?:yes and no|no and yes)(?=[.,;:] ?\S)"
    rf"|{_WHO} (?:may|might) or (?:may|might) not|(?:{_WHO} )?(?:could|might|may) be|it depends"
    r"|there is (?:insufficient|not enough|conflicting|mixed|limited) (?:evidence|data)"
    r"|(?:insufficient|not enough|conflicting|mixed) (?:evidence|data)"
)
_WHETHER = (
    r"|(?=\s(?:whether|if|because|since|as|based|on|to|in|for|at|from|about|regarding|here)\b)"
)
_PROBABLY = (
    r"(?:wahrscheinlich|vermutlich|eher|wohl|ziemlich sicher|probablement|vraisemblablement"
    r"|plut[oô]t"
    r"|sans doute|probablemente|seguramente|m[aá]s bien|provavelmente|probabilmente|direi di"
    r"|credo di"
    r"|waarschijnlijk|vermoedelijk|eerder|prawdopodobnie|raczej|chyba|f[oö]rmodligen|troligen"
    r"|troligtvis"
    r"|sannolikt|antagligen|संभवतः|शायद)"
)
_YES_ELSEWHERE = (
    r"jawohl|nat[uü]rlich|selbstverst[aä]ndlich|auf jeden fall|absolument|certainement|bien s[uû]r"
    r"|tout à fait|por supuesto|claro(?: que s[ií])?|desde luego|assolutamente(?: s[iì])?"
    r"|certo(?: che s[iì])?|certamente|zeker(?: wel)?|absoluut|oczywi[sś]cie(?: [zż]e tak)?"
    r"|jak najbardziej|absolut|sj[aä]lvklart|com certeza|claro que sim|sem d[uú]vida|बिल्कुल|जी हाँ"
    r"|"
) + rf"{_PROBABLY} (?:ja|schon|oui|s[iíì]|sim|wel|tak|हाँ|हां)|很可能(?:是|会)?"
_NO_ELSEWHERE = (
    r"(?:absolut|sicher|sicherlich|nat[uü]rlich|[uü]berhaupt|gar) nicht|keineswegs|auf keinen fall"
    r"|keinesfalls|nein, (?:gar|[uü]berhaupt) nicht|(?:absolument|certainement|s[uû]rement) pas"
    r"|pas du tout|en aucun cas|de ninguna manera|en absoluto|claro que no|por supuesto que no"
    r"|assolutamente no|per niente|certo che no|affatto|(?:zeker|beslist|absoluut|helemaal) niet"
    r"|geenszins|bynajmniej(?: nie)?|w [zż]adnym (?:razie|wypadku)|oczywi[sś]cie [zż]e nie"
    r"|absolut inte|inte alls|sj[aä]lvklart inte|de (?:modo|jeito) (?:algum|nenhum)"
    r"|claro que n[aã]o"
    r"|(?:बिल्कुल|हरगिज़) नहीं"
    rf"|{_PROBABLY} (?:nein|nicht|non|pas|no|n[aã]o|nee|niet|nie|nej|inte|नहीं)|可能不(?:是|会)?"
)
_MAYBE_ELSEWHERE = (
    r"eventuell|(?:(?:das|es|dies) ist )?(?:unklar|ungewiss|unsicher|umstritten|nicht eindeutig"
    r"|schwer zu sagen)|(?:das|es|dies) l[aä]sst sich (?:so )?nicht (?:\w+ )?(?:sagen|beantworten"
    r"|beurteilen|entscheiden)|jein|m[oö]glich|(?:c'est )?(?:possible|incertain|difficile à dire)"
    r"|(?:ce n'est )?pas clair|[cç]a d[eé]pend|possiblement|(?:es )?(?:posible|incierto|dif[ií]cil"
    r" (?:de )?decir(?:lo)?)|posiblemente|a lo mejor|puede ser|no est[aá] claro|possivelmente"
    r"|(?:é )?(?:poss[ií]vel|incerto)|pode ser|n[aã]o (?:est[aá]|é) claro|possibilmente"
    r"|pu[oò] darsi"
    r"|(?:è )?(?:possibile|incerto)|non è (?:chiaro|certo)|mogelijk|wellicht"
    r"|(?:het is )?(?:onduidelijk"
    r"|onzeker|niet duidelijk)|mo[zż]liwe|nie wiadomo|trudno powiedzie[cć]|(?:to )?niejasne"
    r"|m[oö]jligen"
    r"|m[oö]jligtvis|eventuellt|(?:det är )?(?:oklart|os[aä]kert)|स्पष्ट नहीं|हो सकता है|可能|不确定"
    r"|尚?不清楚"
    r"|不明确|无法确定|возможно|inconclus\w+|dipende|depende"
)
_FIRST = r"\A[\W_]{0,4}(?:(?:overall|well|hmm|in (?:short|summary)|on balance),? )?"
_PHRASES = tuple(
    (word, re.compile(f"{_FIRST}(?:{pattern})(?:{_STOP}{more})"))
    for word, pattern, more in (
        ("maybe", f"{_MAYBE}|{_MAYBE_ELSEWHERE}", _WHETHER),
        ("no", f"{_NO}|{_NO_ELSEWHERE}", ""),
        ("yes", f"{_YES}|{_YES_ELSEWHERE}", ""),
    )
)
_IT = r"(?:it|this|that|(?:the|this|that) (?:statement|claim|assertion))"
_TRUTH = tuple(
    (word, re.compile(rf"{_FIRST}(?:{pattern}){_STOP}"))
    for word, pattern in (
        (
            "false",
            rf"(?:no,? )?(?:(?:{_IT}(?:'s| is| was)(?: \w+ly)? )?(?:not (?:true|correct"
            rf"|accurate|right)|untrue|incorrect|inaccurate|wrong)"
            rf"|{_IT} isn't (?:true|correct|accurate|right))",
        ),
        ("true", rf"(?:yes,? )?(?:{_IT}(?:'s| is| was)(?: \w+ly)? )?(?:correct|right|accurate)"),
    )
)
_TO_READER = re.compile(
    r"\b(?:you|your|please|paste|share|upload|send|ask|provide|help|clarify|specify)\b|\?"
)
_NEXT = 80
"""Characters behind a phrase that are searched for words to the reader."""


def meant_word(low: str, words: frozenset[str]) -> str | None:
    """Which of `words` (yes, no, maybe, true, false) the beginning of a lower-case text means."""
    for word, pattern in (*_PHRASES, *_TRUTH):
        match = pattern.match(low)
        if match and not _TO_READER.search(low, match.end(), match.end() + _NEXT):
            return word if word in words else None
    return None
