r"""A model's text as plain text: without Markdown, LaTeX, HTML, chat tokens, typographic quotes.

Markup that marks the answer (`\\boxed{B}`, `<answer>B</answer>`, `#### B`) becomes the words "final
answer: B"; a single bold letter becomes a letter in brackets, since models mark labels so.
"""

import re

from medhelm_spark.adaptation.normal_form import nfkc

FINAL = "\nfinal answer: "

_TYPOGRAPHIC = str.maketrans(
    "“”„‟«»‹›〝〞″‘’‚‛´ʼʹ′‵՚ꞌ।➜➔➝➞⟶⇨➡",
    '"' * 11 + "'" * 11 + ".→→→→→→→",
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufffd",
)
_DASH = re.compile(r"(?<=\w)[‐‑‒–−־֊᠆˗⁃](?=\w)|[‐‑‒–−˗](?=\d)")
"""A hyphen of any script within a word, or a minus before a number; an em dash parts sentences."""
_MARKS = str.maketrans("`", "'", "*~")
_MARKUP = re.compile(r"[^\w\s.,;:()'\"%?!/-]|_|:\*|```")
_STEPS = tuple(
    (re.compile(pattern, flags), new)
    for pattern, new, flags in (
        (r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:eos|end_of_turn|/?INST)>|\[/?INST\]", " ", 0),
        (r"```[\w-]*|`", " ", 0),
        (r"\\(?:text|mathrm|mathbf|mathsf|mathit)\w*\s*\{([^{}]*)\}", r"\1", 0),
        (r"\\(?:boxed|fbox)\s*\{([^{}]*)\}", rf"{FINAL}\1\n", 0),
        (r"\\(?:boxed|fbox)\s+(\w)\b", rf"{FINAL}\1\n", 0),
        (r"(?:^[ \t]{0,4}(?:[-*+] )?\(?\w[.):]\)?[ \t]{1,4})?~~[^~\n]{1,400}~~", " ", re.M),
        (r"\\[()\[\]]|\$+|\\[,;!~ ]", " ", 0),
        (r"<(?:final_?)?(?:answer|choice|solution|conclusion)>\s*", FINAL, re.I),
        (r"^([^|\n]{0,80})\|\| ?(\w) ?\|\|(?=[^|\n]{0,80}$)", rf"\1{FINAL}\2", re.M),
        (
            r"<br\s*/?>|<[/\\](?:p|li|div|(?:final_?)?(?:answer|choice|solution|conclusion))>",
            "\n",
            re.I,
        ),
        (r"<[/\\]?(?:[a-zA-Z][\w-]{1,20}|[abipqsu])(?:\s[^<>\n]{0,80})?/?>", " ", 0),
        (r"(?:\*\*|__)[(\[]?(\w)[)\]]?[.:]?(?:\*\*|__)(?!\w)", r"(\1)", 0),
        (r"^#{3,4}\s+(?=\W{0,3}\w\W{0,3}$)", FINAL.lstrip(), re.M),
        (r"^\s{0,8}(?:#{1,6}|>+|[-+•–—])\s+", "", re.M),
        (r"__", "", 0),
    )
)
_UNIT = re.compile(r"(?<=\d)(?: (?=%)|(?=(?:mg|mcg|μg|g|kg|ml|l|mmol|iu|mm|cm)\b))", re.I)
_BLANK_LINES = re.compile(r"\n{3,}")
_SPACE = re.compile(r"[ \t\u00a0]+")


def plain(text: str) -> str:
    """The text in compatibility form (NFKC), without markup and without repeated white space."""
    if not text.isascii():
        text = _DASH.sub("-", nfkc(text).translate(_TYPOGRAPHIC))
    if _MARKUP.search(text):
        for pattern, new in _STEPS:
            text = pattern.sub(new, text)
        text = text.translate(_MARKS)
    text = _SPACE.sub(" ", text)
    text = _UNIT.sub(lambda match: "" if match[0] else " ", text)
    if "\n" not in text:
        return text.strip()
    lines = (line.strip() for line in text.splitlines())
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
