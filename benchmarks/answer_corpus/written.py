"""Replies written by hand in sets, with what a person reads in them.

`FIRST` was written before its author had seen the reader of extraction version 6, or a reply of
`check`; what the reader got wrong in it was then mended. `SECOND` was written after that, with
other questions and words, and measured before anything else was mended by it. `THIRD` was written
by somebody else, who had not seen the reader, and measured before its failures were mended in
extraction version 7. One reply of it is thinking alone; thinking is removed before answers are read.
`fourth` was written by somebody else again, who had seen neither the reader nor the other sets; the
author of extraction version 8 read it and mended the reader by it, and by `fifth`, which is that
author's own. The author of `sixth` had seen neither the reader nor the other sets; it measured
version 8, and was then mended by in version 9; `seventh` measured version 9 in the same way, and
was then mended by in version 10, and `eighth` version 10, mended by in version 11. `ninth` measured
version 11 before its release, and was then mended by too; `tenth` measured version 11, and its
kinds were mended in version 12. `eleventh` measured version 12 too, with replies that are worded to
mislead, and its kinds were mended in version 13; `reworded` is of the author of version 13: replies
of the same kinds, each part measured before it was mended. `twelfth` measured version 13, and its
kinds were mended in version 14; in one line of it labels and answer were corrected. Nobody has
mended by the texts of `thirteenth`; it was `unseen` until one change in version 14 had been weighed
by its count. `unseen` is a set by which nobody mends:
where `unseen.jsonl` is there, its author has seen neither the reader nor the other sets. Whoever
has read it writes another set first.
"""
# ruff: noqa: E501  (a reply is a line)

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.domain.thinking import split_thinking


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question: its options in order, with labels where the prompt shows them."""

    stem: str
    options: tuple[str, ...]
    method: str = "choice"
    has_labels: bool = True
    labels: str = "ABCDEF"

    @property
    def output_mapping(self) -> dict[str, str]:
        """The options by label; empty where the prompt shows none."""
        return dict(zip(self.labels, self.options, strict=False)) if self.has_labels else {}

    @property
    def question(self) -> str:
        """As the prompt shows it."""
        return "\n".join(
            [self.stem, *(f"{key}. {text}" for key, text in self.output_mapping.items())]
        )


@dataclass(frozen=True, slots=True)
class Written:
    """A reply to a question, and what a person reads in it: None, no one option."""

    prompt: Prompt
    text: str
    expected: str | None
    is_cut: bool = False

    def read(self) -> str | None:
        """What the reader of the project reads."""
        return read_answer(
            split_thinking(self.text)[0],
            AnswerExtraction(method=ExtractionMethod(self.prompt.method)),
            output_mapping=self.prompt.output_mapping,
            references=self.prompt.options,
            question=self.prompt.question,
            is_cut=self.is_cut,
        )


@cache
def from_file(name: str) -> tuple[Written, ...]:
    """The set in `<name>.jsonl`, a reply a line; empty where the file is not there."""
    path = Path(__file__).with_name(f"{name}.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(from_row(json.loads(line)) for line in lines)


def from_row(row: dict[str, Any]) -> Written:
    """A reply as a line of a file has it.

    Its members: `question`, `reply`, `right` (null: no one option), `is_cut`, and `options`
    (label, one sign, to text) or `labels` (the classes, where the prompt shows no options).
    """
    options = row.get("options") or dict.fromkeys(row.get("labels", ()))
    texts = tuple(text or label for label, text in options.items())
    is_yes_no = set(texts) <= {"yes", "no", "maybe"}
    prompt = Prompt(
        row["question"],
        texts,
        method="yes_no" if is_yes_no else "choice",
        has_labels="options" in row,
        labels="".join(options) if "options" in row else "",
    )
    return Written(prompt, row["reply"], row["right"], is_cut=bool(row.get("is_cut")))


def _replies(prompt: Prompt, *replies: tuple[str, str | None]) -> Iterator[Written]:
    for text, expected in replies:
        yield Written(prompt, text, expected)


def _cut_replies(prompt: Prompt, *replies: tuple[str, str | None]) -> Iterator[Written]:
    for text, expected in replies:
        yield Written(prompt, text, expected, is_cut=True)


# fmt: off


FIRST: Sequence[Written] = (
    *_replies(
        Prompt("A 71-year-old woman has new atrial fibrillation. Which drug is best started?", ("Warfarin", "Apixaban", "Aspirin", "Clopidogrel")),
        ("No answer.", None),
        ("Of course! I can help you choose between the options. Please tell me the patient's renal function.", None),
        ("Anything but warfarin.", None),
        ("Anything except A.", None),
        ("All but C would be reasonable.", None),
        ("Never aspirin alone.", None),
        ("Not A.", None),
        ("I would choose none but apixaban here.", "B"),
        ("{\"answer\": \"A\"}\n{\"answer\": \"B\"}", None),
        ("```json\n{\"answer\": \"C\"}\n```\nor\n```json\n{\"answer\": \"D\"}\n```", None),
        ("{\"answer\": \"B\", \"explanation\": \"Warfarin (A) needs INR checks.\"}", "B"),
        ("{\"reasoning\": \"A is old, C is not an anticoagulant\", \"final_answer\": \"B. Apixaban\"}", "B"),
        ("{\"answer\": \"B\"}\n\n{\"answer\": \"B\"}", "B"),
        ("{\"answer\": [\"A\", \"B\"]}", None),
        ("{\"answer\": null}", None),
        ("Draft: {\"answer\": \"A\"}\nOn reflection apixaban is safer.\nFinal: {\"answer\": \"B\"}", "B"),
        ("{'answer': 'D'}", "D"),
        ("C, sorry, B.", "B"),
        ("A... no wait, B.", "B"),
        ("The answer is C. Correction: B.", "B"),
        ("I first thought warfarin, but apixaban is the better choice.", "B"),
        ("A, I mean B.", "B"),
        ("| | Drug | Verdict |\n|---|---|---|\n| A | Warfarin | ❌ |\n| B | Apixaban | ✅ |\n| C | Aspirin | ❌ |\n| D | Clopidogrel | ❌ |", "B"),
        ("| Option | Verdict | Why |\n|---|---|---|\n| A | Wrong | needs INR |\n| B | Right | first line |\n| C | Wrong | no anticoagulant |\n| D | Wrong | no anticoagulant |", "B"),
        ("| Option | Verdict |\n|---|---|\n| A | Possible |\n| B | Possible |\n| C | Wrong |\n| D | Wrong |", None),
        ("option b is correct", "B"),
        ("I believe choice b is right.", "B"),
        ("i think its b", "B"),
        ("b) apixaban", "B"),
        ("option (b) would be the best", "B"),
    ),
    *_cut_replies(
        Prompt("A 71-year-old woman has new atrial fibrillation. Which drug is best started?", ("Warfarin", "Apixaban", "Aspirin", "Clopidogrel")),
        ("### Option A: Warfarin\nThis is a vitamin K antagonist that has been", None),
        ("**A. Warfarin** – an oral anticoagulant which needs INR monitoring. It", None),
        ("A) Warfarin\n- Effective but needs monitoring\n- Many interactions\n\nB) Apixaban\n- Fewer bleeds, no", None),
        ("Answer: B\n\nExplanation: Apixaban has a lower risk of intracranial bleeding than warfarin and does not", "B"),
    ),
    *_replies(
        Prompt("A 24-year-old man has fever, neck stiffness and photophobia. What is the most likely diagnosis?", ("Migraine", "Bacterial meningitis", "Subarachnoid haemorrhage", "Tension headache", "Cluster headache")),
        ("Any of these other than migraine is possible.", None),
        ("It could be anything apart from a cluster headache.", None),
        ("{\"choices\": {\"A\": 0.1, \"B\": 0.7, \"C\": 0.2}, \"answer\": \"B\"}", "B"),
        ("C – actually no, it's B, because of the fever.", "B"),
        ("Answer: A. Hmm, photophobia with fever is not migraine. Answer: B.", "B"),
        ("My initial answer was D; I now change it to B.", "B"),
        ("| Option | Fits? |\n|---|---|\n| A. Migraine | No |\n| B. Bacterial meningitis | Yes |\n| C. Subarachnoid haemorrhage | No |\n| D. Tension headache | No |\n| E. Cluster headache | No |", "B"),
        ("| Diagnosis | Likelihood |\n|---|---|\n| Migraine | low |\n| Bacterial meningitis | high |\n| Tension headache | low |\n\nTherefore: **B**", "B"),
        ("b is the correct answer", "B"),
    ),
    *_cut_replies(
        Prompt("A 24-year-old man has fever, neck stiffness and photophobia. What is the most likely diagnosis?", ("Migraine", "Bacterial meningitis", "Subarachnoid haemorrhage", "Tension headache", "Cluster headache")),
        ("Let's go through the options one by one.\n\n1. Migraine: usually unilateral and pulsating, without fever", None),
        ("Option A (Migraine): would not explain the fever.\nOption B (Bacterial meningitis): explains fever and", None),
        ("A. Migraine: This would", None),
        ("- A: Migraine\n  Fever is unusual in", None),
        ("The answer is B. Bacterial meningitis presents with fever, neck stiffness and", "B"),
        ("First, fever and neck stiffness point to meningeal irritation. Migraine (A) can cause photophobia but not fever. Subarachnoid haemorrhage (C) begins", None),
    ),
    *_replies(
        Prompt("What is the next step?", ("CT of the head", "Lumbar puncture", "Give ceftriaxone at once", "Observe for 24 hours")),
        ("B. Scratch that: C, antibiotics must not wait.", "C"),
        ("~~B~~ C", "C"),
        ("The answer is B. Oops, I misread the question. It should be C.", "C"),
        ("Option | Assessment\n--- | ---\nCT of the head | Incorrect\nLumbar puncture | Incorrect\nGive ceftriaxone at once | **Correct**\nObserve for 24 hours | Incorrect", "C"),
        ("so answer c", "C"),
    ),
    *_cut_replies(
        Prompt("What is the next step?", ("CT of the head", "Lumbar puncture", "Give ceftriaxone at once", "Observe for 24 hours")),
        ("Considering A first: a CT of the head is needed before puncture if there are focal signs. The patient has", None),
        ("CT of the head: This may be considered when raised intracranial pressure is suspected, but it", None),
        ("To answer this, consider each choice:\n(A) CT of the head – delays treatment\n(B) Lumbar puncture – confirms", None),
    ),
    *_replies(
        Prompt("Which structures does the phrenic nerve supply?", ("Diaphragm", "Diaphragm, parietal pleura", "Diaphragm, parietal pleura, pericardium", "Pericardium")),
        ("diaphragm.", "A"),
        ("Diaphragm, parietal pleura, pericardium.", "C"),
        ("The diaphragm, the parietal pleura and the pericardium.", "C"),
        ("It supplies the diaphragm and parietal pleura.", "B"),
        ("Pericardium, diaphragm and parietal pleura", "C"),
    ),
    *_cut_replies(
        Prompt("Which structures does the phrenic nerve supply?", ("Diaphragm", "Diaphragm, parietal pleura", "Diaphragm, parietal pleura, pericardium", "Pericardium")),
        ("**Option A – Diaphragm**\n\nThe phrenic nerve is the only motor supply of the", None),
    ),
    *_replies(
        Prompt("All of the following are features of nephrotic syndrome EXCEPT:", ("Heavy proteinuria", "Oedema", "Gross haematuria", "Hypoalbuminaemia")),
        ("| Feature | Part of nephrotic syndrome? |\n|---|---|\n| A. Heavy proteinuria | Yes |\n| B. Oedema | Yes |\n| C. Gross haematuria | No |\n| D. Hypoalbuminaemia | Yes |", "C"),
        ("Gross haematuria is not a feature of nephrotic syndrome.", "C"),
        ("All are features except gross haematuria.", "C"),
        ("C is the exception.", "C"),
        ("A, B and D are features of nephrotic syndrome; C is not.", "C"),
        ("The odd one out is C: it points to nephritic syndrome.", "C"),
    ),
    *_cut_replies(
        Prompt("All of the following are features of nephrotic syndrome EXCEPT:", ("Heavy proteinuria", "Oedema", "Gross haematuria", "Hypoalbuminaemia")),
        ("Heavy proteinuria: this is a defining feature, with more than 3.5 g per day. Oedema:", None),
    ),
    *_replies(
        Prompt("Does metformin lower mortality in type 2 diabetes? Answer yes, no or maybe.", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No answer.", None),
        ("Not enough information to answer.", None),
        ("Yes, of course. Please paste the text of the study and I will answer.", None),
        ("As an AI, I cannot answer yes or no to this question.", None),
        ("Based on the evidence the answer is uncertain, so: maybe.", "maybe"),
        ("There is no doubt that it does: yes.", "yes"),
        ("The trials disagree. I would say maybe.", "maybe"),
    ),
    *_replies(
        Prompt("Is the wound infected?", ("yes", "no"), "yes_no", has_labels=False),
        ("No answer can be given without the picture.", None),
        ("Yes, I can help with that! Please provide the abstract.", None),
        ("Sure! Yes, I'd be happy to look at the wound. Could you share the photograph?", None),
        ("No problem! Send me the description and I will assess it.", None),
        ("I'm sorry, but no image was provided, so I cannot say.", None),
        ("Yes, there is pus and spreading redness, so it is infected.", "yes"),
        ("No. The margins are clean and there is no discharge.", "no"),
        ("No signs of infection are described, so the answer is no.", "no"),
        ("{\"infected\": true}", "yes"),
        ("{\"answer\": \"no\", \"confidence\": \"high\"}", "no"),
        ("Yes. Sorry, I mean no.", "no"),
    ),
    *_replies(
        Prompt("Which disturbances are seen in tumour lysis?", ("Hyperkalaemia", "Hyperkalaemia and hyperphosphataemia", "Hyperkalaemia, hyperphosphataemia and hypocalcaemia", "Hypocalcaemia")),
        ("Hyperkalaemia, hyperphosphataemia and hypocalcaemia", "C"),
        ("hyperkalaemia and hyperphosphataemia", "B"),
        ("The disturbances are hyperkalaemia, hyperphosphataemia, and hypocalcaemia.", "C"),
    ),
    *_replies(
        Prompt("Where is the lesion?", ("liver", "liver, spleen", "spleen", "liver, spleen, kidney"), has_labels=False),
        ("liver", "liver"),
        ("Liver and spleen", "liver, spleen"),
        ("liver, spleen, kidney.", "liver, spleen, kidney"),
        ("The lesions are in the liver, spleen and kidney.", "liver, spleen, kidney"),
    ),
    *_replies(
        Prompt("How urgent is this letter?", ("urgent", "non-urgent", "routine"), has_labels=False),
        ("Non-urgent.", "non-urgent"),
        ("This letter is urgent.", "urgent"),
        ("not urgent, routine", "routine"),
    ),
    *_replies(
        Prompt("Which of the following is NOT a side effect of ACE inhibitors?", ("Dry cough", "Angioedema", "Hyperkalaemia", "Hypokalaemia")),
        ("Hypokalaemia is not a side effect; ACE inhibitors raise potassium.", "D"),
        ("D. ACE inhibitors cause hyperkalaemia, not hypokalaemia.", "D"),
        ("Dry cough, angioedema and hyperkalaemia are all known side effects, so the answer is hypokalaemia.", "D"),
        ("Everything but D is a known side effect.", "D"),
    ),
    *_replies(
        Prompt("Welk geneesmiddel is eerste keus?", ("Warfarine", "Apixaban", "Acetylsalicylzuur", "Clopidogrel")),
        ("Het juiste antwoord is B.", "B"),
        ("Optie B is juist, omdat apixaban minder bloedingen geeft.", "B"),
        ("Ik zou voor apixaban kiezen.", "B"),
        ("Geen antwoord.", None),
        ("Alles behalve A.", None),
    ),
    *_replies(
        Prompt("Jaki lek jest lekiem pierwszego wyboru?", ("Warfaryna", "Apiksaban", "Kwas acetylosalicylowy", "Klopidogrel")),
        ("Prawidłowa odpowiedź to B.", "B"),
        ("Poprawna jest odpowiedź B, ponieważ apiksaban jest bezpieczniejszy.", "B"),
        ("Wybieram apiksaban.", "B"),
        ("Odpowiedź: C", "C"),
        ("Nie wiem, czy to A, czy B.", None),
    ),
    *_replies(
        Prompt("Vilket läkemedel är förstahandsval?", ("Warfarin", "Apixaban", "Acetylsalicylsyra", "Klopidogrel")),
        ("Rätt svar är B.", "B"),
        ("Svaret är alternativ B, eftersom apixaban ger färre blödningar.", "B"),
        ("Jag väljer apixaban.", "B"),
        ("Alternativ A är fel. Rätt svar: B", "B"),
        ("Antingen A eller B.", None),
    ),
    *_replies(
        Prompt("पहली पसंद की दवा कौन सी है?", ("वारफेरिन", "एपिक्साबैन", "एस्पिरिन", "क्लोपिडोग्रेल")),
        ("सही उत्तर B है।", "B"),
        ("उत्तर: B", "B"),
        ("विकल्प B सही है क्योंकि इससे रक्तस्राव कम होता है।", "B"),
        ("मेरा उत्तर एपिक्साबैन है।", "B"),
        ("A गलत है, B सही है।", "B"),
    ),
)


SECOND: Sequence[Written] = (
    *_replies(
        Prompt("A 58-year-old man has an acutely swollen big toe. Which drug is first line?", ("Colchicine", "Allopurinol", "Febuxostat", "Probenecid")),
        ("Happy to help! Could you give me the patient's kidney function first?", None),
        ("Anything but allopurinol.", None),
        ("Anything other than B.", None),
        ("Any but D.", None),
        ("Nothing but colchicine works within a day.", "A"),
        ("{\"rejected\": [\"B\", \"C\", \"D\"], \"answer\": \"A\"}", "A"),
        ("{\"answer\": {\"letter\": \"A\", \"text\": \"Colchicine\"}}", "A"),
        ("B, no sorry, A.", "A"),
        ("D. Wait, that is for prevention. A.", "A"),
        ("~~B~~ A", "A"),
        ("My answer was B, but after checking it must be A.", "A"),
        ("| Drug | First line in an attack |\n|---|---|\n| Colchicine | yes |\n| Allopurinol | no |\n| Febuxostat | no |\n| Probenecid | no |", "A"),
        ("option a is correct", "A"),
        ("a is right", "A"),
    ),
    *_cut_replies(
        Prompt("A 58-year-old man has an acutely swollen big toe. Which drug is first line?", ("Colchicine", "Allopurinol", "Febuxostat", "Probenecid")),
        ("## A. Colchicine\n\nColchicine inhibits microtubules and is used in", None),
        ("1) Colchicine: works in the first 36 hours, and has", None),
        ("Let me think. Allopurinol (B) must not be started during an attack. Febuxostat (C) is the", None),
        ("Correct answer: A. Colchicine\n\nColchicine is given early in an attack, whereas allopurinol", "A"),
    ),
    *_replies(
        Prompt("A child has fever and a strawberry tongue. What is the diagnosis?", ("Measles", "Scarlet fever", "Rubella", "Chickenpox", "Kawasaki disease")),
        ("I cannot make a diagnosis without examining the child.", None),
        ("Everything except rubella is possible.", None),
        ("Certainly not C.", None),
        ("{\"diagnosis\": \"B\"}\n\n{\"diagnosis\": \"E\"}", None),
        ("[{\"answer\": \"A\"}, {\"answer\": \"C\"}]", None),
        ("{\"answer\": \"B\", \"alternative\": \"E\"}", "B"),
        ("First try: {\"answer\": \"A\"}. I was wrong. {\"answer\": \"B\"}", "B"),
        ("E – correction: B.", "B"),
        ("The answer is A. No, B.", "B"),
        ("I said measles before, but it is scarlet fever.", "B"),
        ("Answer: E. Sorry, I misread the age. The answer is B.", "B"),
        ("| Diagnosis | Consistent? |\n|:--|:-:|\n| A. Measles | ✗ |\n| B. Scarlet fever | ✓ |\n| C. Rubella | ✗ |\n| D. Chickenpox | ✗ |\n| E. Kawasaki disease | ✗ |", "B"),
        ("| Option | Assessment |\n|---|---|\n| Measles | Incorrect: no Koplik spots |\n| Scarlet fever | Correct: strawberry tongue |\n| Rubella | Incorrect: mild |\n", "B"),
        ("| Option | Fits |\n|---|---|\n| Scarlet fever | yes |\n| Kawasaki disease | yes |\n| Measles | no |", None),
        ("the correct one is option b", "B"),
        ("b.", "B"),
        ("it's b I think", "B"),
        ("choice b", "B"),
    ),
    *_cut_replies(
        Prompt("A child has fever and a strawberry tongue. What is the diagnosis?", ("Measles", "Scarlet fever", "Rubella", "Chickenpox", "Kawasaki disease")),
        ("Measles (option A): a maculopapular rash that starts behind the ears, Koplik", None),
        ("**Option A: Measles**\n* Prodrome with cough\n* Koplik spots\n\n**Option B: Scarlet fever**\n* Strawberry", None),
        ("Step 1: The child has a strawberry tongue, which is seen in scarlet fever and in Kawasaki disease. Step 2:", None),
        ("B. Scarlet fever\n\nExplanation: the strawberry tongue and the sandpaper rash are due to", "B"),
    ),
    *_replies(
        Prompt("What should be done first?", ("Order an ECG", "Give oxygen", "Call cardiology", "Send the patient home")),
        ("Do anything but send the patient home.", None),
        ("Not A, not C, not D.", None),
        ("```json\n{\"thought\": \"A is useful\", \"answer\": \"B) Give oxygen\"}\n```", "B"),
        ("{\"answer\": \"A or B\"}", None),
        ("{\"answer\": \"none of these\"}", None),
        ("Answer: C\nEdit: Answer: B", "B"),
        ("A — apologies, B.", "B"),
        ("| # | Action | Evaluation |\n|---|---|---|\n| A | Order an ECG | later |\n| B | Give oxygen | **Correct** |\n| C | Call cardiology | later |\n| D | Send the patient home | wrong |", "B"),
        ("| Option | Correct? |\n|---|---|\n| A | False |\n| B | True |\n| C | False |\n| D | False |\n", "B"),
        ("i would go for b", "B"),
        ("answer b seems best", "B"),
    ),
    *_cut_replies(
        Prompt("What should be done first?", ("Order an ECG", "Give oxygen", "Call cardiology", "Send the patient home")),
        ("A. Order an ECG. This is quick and harmless but does not treat hypoxia, so we look at", None),
        ("We are asked what to do first. Let us weigh the answer choices:\nA: Order an ECG - useful\nB: Give oxygen - if", None),
        ("**Answer: B**\n\nOxygen comes first because the saturation is", "B"),
    ),
    *_replies(
        Prompt("All of the following increase the risk of deep vein thrombosis, EXCEPT:", ("Immobility", "Pregnancy", "Regular exercise", "Cancer")),
        ("| Factor | Raises the risk? |\n|---|---|\n| A. Immobility | yes |\n| B. Pregnancy | yes |\n| C. Regular exercise | no |\n| D. Cancer | yes |", "C"),
        ("Regular exercise does not increase the risk.", "C"),
        ("Regular exercise, which protects against thrombosis.", "C"),
        ("A, B and D are risk factors. C is not.", "C"),
        ("The exception is regular exercise.", "C"),
        ("All except C increase the risk.", "C"),
        ("Cancer, pregnancy and immobility all increase the risk; regular exercise lowers it. So the answer is C.", "C"),
    ),
    *_cut_replies(
        Prompt("All of the following increase the risk of deep vein thrombosis, EXCEPT:", ("Immobility", "Pregnancy", "Regular exercise", "Cancer")),
        ("Immobility – stasis is one of Virchow's factors, so this", None),
    ),
    *_replies(
        Prompt("Which muscles make up the rotator cuff?", ("Supraspinatus", "Supraspinatus and infraspinatus", "Supraspinatus, infraspinatus, teres minor and subscapularis", "Deltoid")),
        ("supraspinatus", "A"),
        ("Supraspinatus, infraspinatus, teres minor, subscapularis", "C"),
        ("The cuff is made of the supraspinatus, infraspinatus, subscapularis and teres minor.", "C"),
        ("Infraspinatus and supraspinatus", "B"),
        ("It is the supraspinatus, the infraspinatus, the teres minor and the subscapularis", "C"),
    ),
    *_cut_replies(
        Prompt("Which muscles make up the rotator cuff?", ("Supraspinatus", "Supraspinatus and infraspinatus", "Supraspinatus, infraspinatus, teres minor and subscapularis", "Deltoid")),
        ("A. Supraspinatus – it initiates abduction, and is", None),
    ),
    *_replies(
        Prompt("Which vitamins are fat soluble?", ("A, D", "A, D, E, K", "B, C", "E, K")),
        ("A, D, E, K", "B"),
        ("B. A, D, E, K", "B"),
        ("Vitamins A, D, E and K are fat soluble.", "B"),
    ),
    *_cut_replies(
        Prompt("Which vitamins are fat soluble?", ("A, D", "A, D, E, K", "B, C", "E, K")),
        ("Looking at each option in turn: A, D: both are", None),
    ),
    *_replies(
        Prompt("Is this patient eligible for the trial?", ("yes", "no"), "yes_no", has_labels=False),
        ("No answer possible.", None),
        ("Yes! I'd be glad to check eligibility. Please send the record.", None),
        ("Sure, yes. Could you paste the inclusion criteria?", None),
        ("No worries, just upload the file and I'll have a look.", None),
        ("Yes - all inclusion criteria are met and no exclusion applies.", "yes"),
        ("No; he takes warfarin, which is excluded.", "no"),
        ("There is no reason to exclude her. Yes.", "yes"),
        ("{\"eligible\": \"yes\", \"reason\": \"no exclusion\"}", "yes"),
        ("{\"eligible\": false}", "no"),
        ("No, sorry, yes.", "yes"),
    ),
    *_replies(
        Prompt("Does the trial show that statins prevent stroke? Answer yes, no or maybe.", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No answer provided.", None),
        ("No conclusion can be drawn from this text.", None),
        ("Yes, I am able to read abstracts. Please share the abstract you mean.", None),
        ("I can't say yes or no on the basis of one trial.", None),
        ("It is impossible to give a definite answer.", None),
        ("Yes. No serious harm was seen either.", "yes"),
        ("The result was not significant, hence no.", "no"),
        ("Possibly, the confidence interval is wide: maybe.", "maybe"),
    ),
    *_replies(
        Prompt("What is the sensitivity of the test?", ("60%", "75%", "90%", "99%")),
        ("{\"answer\": \"90%\"}", "C"),
    ),
    *_replies(
        Prompt("How severe is the asthma?", ("mild", "moderate", "severe"), has_labels=False),
        ("Mild. Correction: moderate.", "moderate"),
        ("moderately severe", None),
        ("This is a severe attack.", "severe"),
    ),
    *_replies(
        Prompt("Which organs are affected?", ("lungs", "lungs, kidneys", "kidneys", "skin"), has_labels=False),
        ("lungs and kidneys", "lungs, kidneys"),
        ("Kidneys and lungs.", "lungs, kidneys"),
        ("Only the lungs are affected.", "lungs"),
        ("The disease affects the lungs and the kidneys.", "lungs, kidneys"),
    ),
    *_replies(
        Prompt("Which of these is not a cause of microcytic anaemia?", ("Iron deficiency", "Thalassaemia", "Vitamin B12 deficiency", "Lead poisoning")),
        ("Vitamin B12 deficiency causes macrocytic anaemia, so C.", "C"),
        ("C is not a cause of microcytic anaemia.", "C"),
        ("Vitamin B12 deficiency is not associated with small red cells.", "C"),
        ("Everything except vitamin B12 deficiency causes it.", "C"),
        ("The odd one out: C", "C"),
    ),
    *_replies(
        Prompt("Wat is de meest waarschijnlijke diagnose?", ("Mazelen", "Roodvonk", "Waterpokken", "Rodehond")),
        ("Het goede antwoord is B.", "B"),
        ("Antwoord: B", "B"),
        ("De meest waarschijnlijke diagnose is roodvonk.", "B"),
        ("Ik kies B, omdat er een frambozentong is.", "B"),
        ("Ik weet het niet.", None),
    ),
    *_replies(
        Prompt("Jakie jest najbardziej prawdopodobne rozpoznanie?", ("Odra", "Płonica", "Ospa wietrzna", "Różyczka")),
        ("Poprawna odpowiedź: B", "B"),
        ("Najbardziej prawdopodobne rozpoznanie to płonica.", "B"),
        ("Odpowiedź B jest prawidłowa.", "B"),
        ("Wybieram odpowiedź B.", "B"),
        ("Każda oprócz A.", None),
    ),
    *_replies(
        Prompt("Vilken är den mest sannolika diagnosen?", ("Mässling", "Scharlakansfeber", "Vattkoppor", "Röda hund")),
        ("Rätt alternativ är B.", "B"),
        ("Den mest sannolika diagnosen är scharlakansfeber.", "B"),
        ("Svar: B", "B"),
        ("B är rätt, eftersom barnet har smultrontunga.", "B"),
        ("Jag kan inte svara.", None),
    ),
    *_replies(
        Prompt("सबसे संभावित निदान क्या है?", ("खसरा", "स्कार्लेट ज्वर", "चेचक", "रूबेला")),
        ("सही विकल्प B है।", "B"),
        ("उत्तर B है क्योंकि जीभ लाल है।", "B"),
        ("निदान स्कार्लेट ज्वर है।", "B"),
        ("B सही उत्तर है।", "B"),
        ("मुझे नहीं पता।", None),
    ),
)

THIRD: Sequence[Written] = (
    *_cut_replies(
        Prompt("Which drug is given first in a patient with suspected NSTEMI?", ("Aspirin", "Heparin", "Warfarin", "Alteplase")),
        ("### Option A: Aspirin\nThis is a", None),
    ),
    *_replies(
        Prompt("Which agent is a vitamin K antagonist?", ("Aspirin", "Heparin", "Warfarin", "Alteplase")),
        ("### Option A: Aspirin\nAspirin irreversibly inhibits COX-1.\n\n### Option B: Heparin\nHeparin potentiates antithrombin.\n\n### Option C: Warfarin\nWarfarin inhibits vitamin K epoxide reductase.\n\n### Option D: Alteplase\nAlteplase is a recombinant tPA.\n\n### Conclusion\nThe vitamin K antagonist is **C. Warfarin**.", "C"),
    ),
    *_cut_replies(
        Prompt("A 3-year-old has a barking cough and inspiratory stridor after a cold. Most likely diagnosis?", ("Croup", "Epiglottitis", "Bacterial tracheitis", "Foreign body aspiration")),
        ("Let's analyze each option:\n\n**A. Croup**: Croup (laryngotracheobronchitis) is usually caused by parainfluenza virus and presents with", None),
    ),
    *_cut_replies(
        Prompt("Which electrolyte abnormality causes peaked T waves?", ("Hyponatremia", "Hyperkalemia", "Hypocalcemia", "Hypomagnesemia")),
        ("To determine the correct answer, we go through the choices one at a time.\n\nA) Hyponatremia: Low sodium mainly causes neurological symptoms such as confusion and seizures. It does not typically change the T wave.\n\nB) Hyperkalemia: High potassium", None),
    ),
    *_replies(
        Prompt("Which electrolyte abnormality causes peaked T waves?", ("Hyponatremia", "Hyperkalemia", "Hypocalcemia", "Hypomagnesemia")),
        ("A) Hyponatremia: mainly neurological symptoms.\nB) Hyperkalemia: tall, peaked T waves, then widening of the QRS.\nC) Hypocalcemia: prolonged QT.\nD) Hypomagnesemia: prolonged QT, torsades.\n\nSo the right choice is B.", "B"),
    ),
    *_cut_replies(
        Prompt("First step in a patient with thunderclap headache?", ("CT head without contrast", "MRI brain", "Lumbar puncture", "EEG")),
        ("Option A: CT head without contrast\n- Fast, widely available\n- Sensitivity close to 100% within 6 hours of onset\n\nOption B: MRI brain\n- More sensitive for", None),
    ),
    *_replies(
        Prompt("First step in a patient with thunderclap headache?", ("CT head without contrast", "MRI brain", "Lumbar puncture", "EEG")),
        ("Option A: CT head without contrast\n- Fast, widely available\n- Sensitivity close to 100% within 6 hours of onset\n\nOption B: MRI brain\n- Slow and less available\n\nOption C: Lumbar puncture\n- Done if the CT is negative\n\nOption D: EEG\n- Not relevant here\n\nTherefore CT head without contrast should be done first.", "A"),
    ),
    *_cut_replies(
        Prompt("Which drug should be avoided in heart failure?", ("Metformin", "Glipizide", "Insulin glargine", "Sitagliptin", "Pioglitazone")),
        ("1. **Metformin (A)**: Metformin is a biguanide that lowers hepatic glucose output. It was once", None),
    ),
    *_replies(
        Prompt("Which drug should be avoided in heart failure?", ("Metformin", "Glipizide", "Insulin glargine", "Sitagliptin", "Pioglitazone")),
        ("1. **Metformin (A)**: now considered safe in stable heart failure.\n2. **Glipizide (B)**: no fluid retention.\n3. **Insulin glargine (C)**: may cause weight gain but not contraindicated.\n4. **Sitagliptin (D)**: neutral in TECOS.\n5. **Pioglitazone (E)**: causes fluid retention, boxed warning for heart failure.\n\n**Answer: E**\n\nPioglitazone acts on PPAR-gamma in the collecting duct, which", "E"),
    ),
    *_cut_replies(
        Prompt("A woman has a tender thyroid after a viral illness with a high ESR. Diagnosis?", ("Graves disease", "Hashimoto thyroiditis", "Subacute thyroiditis", "Toxic adenoma")),
        ("A. Graves disease\n\nGraves disease is an autoimmune disorder in which thyroid-stimulating antibodies lead to diffuse, non-tender goitre. This does not fit because the gland is tender.\n\nB. Hashimoto thyroiditis\n\nHashimoto thyroiditis is typically painless and", None),
    ),
    *_replies(
        Prompt("A woman has a tender thyroid after a viral illness with a high ESR. Diagnosis?", ("Graves disease", "Hashimoto thyroiditis", "Subacute thyroiditis", "Toxic adenoma")),
        ("C. Subacute thyroiditis\n\nSubacute (de Quervain) thyroiditis follows a viral infection and presents with a painful gland and a raised ESR. Graves disease would", "C"),
    ),
    *_cut_replies(
        Prompt("Does early mobilisation shorten hospital stay after hip fracture?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ('## Arguments for "yes"\n\nThe mean length of stay was 1.8 days shorter in the early group. In addition, the', None),
    ),
    *_replies(
        Prompt("Does early mobilisation shorten hospital stay after hip fracture?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ('## Arguments for "yes"\nThe mean stay was 1.8 days shorter.\n\n## Arguments for "no"\nThe confidence interval crosses zero and the groups differed at baseline.\n\n## Verdict\nOn balance: maybe.', "maybe"),
    ),
    *_cut_replies(
        Prompt("Fever, clonus and diarrhoea after starting linezolid with sertraline.", ("Serotonin syndrome", "Neuroleptic malignant syndrome", "Malignant hyperthermia", "Anticholinergic toxicity")),
        ("Okay, let's break down the case and look at each of the options:\n\n*   **A. Serotonin syndrome:** This condition results from excess serotonergic activity. Typical findings are clonus, hyperreflexia, diarrhoea and fever.\n*   **B. Neuroleptic malignant syndrome:** Caused by dopamine antagonists; rigidity is \"lead pipe\" and reflexes are", None),
    ),
    *_replies(
        Prompt("Fever, clonus and diarrhoea after starting linezolid with sertraline.", ("Serotonin syndrome", "Neuroleptic malignant syndrome", "Malignant hyperthermia", "Anticholinergic toxicity")),
        ("Okay, let's break down the case and look at each of the options:\n\n*   **A. Serotonin syndrome:** Excess serotonergic activity; clonus, diarrhoea, fever. Fits well.\n*   **B. Neuroleptic malignant syndrome:** No antipsychotic given.\n*   **C. Malignant hyperthermia:** No anaesthetic given.\n*   **D. Anticholinergic toxicity:** Would cause dry skin and constipation.\n\n**Therefore, the most likely diagnosis is A.**", "A"),
    ),
    *_cut_replies(
        Prompt("ST elevation in II, III, aVF. Which artery is occluded?", ("Left anterior descending artery", "Right coronary artery", "Left circumflex artery", "Left main coronary artery")),
        ("## Step 1: Understand the ECG findings\nLeads II, III and aVF look at the inferior wall of the heart.\n\n## Step 2: Consider the options\nA. Left anterior descending artery supplies the anterior wall and the", None),
    ),
    *_replies(
        Prompt("ST elevation in II, III, aVF. Which artery is occluded?", ("Left anterior descending artery", "Right coronary artery", "Left circumflex artery", "Left main coronary artery")),
        ("## Step 1: Understand the ECG findings\nLeads II, III and aVF look at the inferior wall of the heart.\n\n## Step 2: Consider the options\nA. Left anterior descending artery supplies the anterior wall.\nB. Right coronary artery supplies the inferior wall in most people.\nC. Left circumflex artery supplies the lateral wall.\nD. Left main would give widespread changes.\n\nThe final answer is: $\\boxed{B}$", "B"),
    ),
    *_cut_replies(
        Prompt("Best drug for MRSA pneumonia?", ("Vancomycin", "Nafcillin", "Ceftriaxone", "Daptomycin")),
        ("**Vancomycin:** A glycopeptide with activity against MRSA. It penetrates the lung moderately well.\n\n**Nafcillin:** Active against MSSA only.\n\n**Ceftriaxone:** No MRSA", None),
    ),
    *_cut_replies(
        Prompt("Classify the lesion from the report.", ("benign", "malignant"), "choice", has_labels=False),
        ("Benign features: smooth margins, no growth over two years, central calcification.\nMalignant features: size of 9 mm, smoking history", None),
    ),
    *_replies(
        Prompt("Classify the lesion from the report.", ("benign", "malignant"), "choice", has_labels=False),
        ("Benign features: smooth margins, no growth over two years, central calcification.\nMalignant features: size of 9 mm, smoking history.\n\nTwo-year stability and the central calcification outweigh the risk factors.\n\nClassification: benign", "benign"),
    ),
    *_replies(
        Prompt("Is the PSA density useful to select patients for biopsy?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No answer.", None),
        ("Yes, I can help with that! Please provide the abstract.", None),
        ("Yes. The abstract reports a higher AUC for PSA density than for PSA alone. Let me know if you would like me to help with anything else!", "yes"),
    ),
    *_replies(
        Prompt("Does the patient currently smoke?", ("yes", "no"), "yes_no", has_labels=False),
        ("I'm sorry, but I can't determine that without the clinical note. Could you share it?", None),
        ("No, the note says he quit in 2009.", "no"),
    ),
    *_replies(
        Prompt("First-line antihypertensive in diabetic nephropathy?", ("Lisinopril", "Amlodipine", "Metoprolol", "Hydrochlorothiazide")),
        ("I cannot provide medical advice. Please consult a healthcare professional about your medication.", None),
        ("I can't give personal medical advice, but for exam purposes the correct answer is A. Lisinopril.", "A"),
    ),
    *_replies(
        Prompt("Which drug shown in the picture is the patient taking?", ("Lisinopril", "Amlodipine", "Metoprolol", "Hydrochlorothiazide")),
        ("As an AI language model, I don't have access to images, so I'm unable to say which of the options A, B, C or D is shown.", None),
    ),
    *_replies(
        Prompt("Does vitamin D prevent falls in older adults?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No problem! I'd be glad to answer. Could you paste the study you want me to look at?", None),
        ("Sure! Based on the abstract, the answer is no: fall rates were the same in both arms.", "no"),
    ),
    *_replies(
        Prompt("How many of the listed criteria does the patient meet?", ("0", "1", "2", "3")),
        ("A patient summary was not included in your message. Please send the case details and I will gladly work through the criteria.", None),
    ),
    *_replies(
        Prompt("Which virus caused the outbreak described?", ("Influenza", "COVID-19", "RSV", "Adenovirus")),
        ("None of the options can be chosen with the information given.", None),
    ),
    *_replies(
        Prompt("Is this message asking for a prescription refill?", ("yes", "no"), "yes_no", has_labels=False),
        ("Yes, it is. The sender writes \"I'm nearly out of my lisinopril, can you send more to the pharmacy?\"", "yes"),
        ("I apologize, but I do not see a message in your prompt. If you share it, I can tell you yes or no.", None),
    ),
    *_replies(
        Prompt("Statement: Amoxicillin is safe in pregnancy.", ("true", "false"), "choice", has_labels=False),
        ("I'm not able to confirm whether this statement is true or false; please speak to your doctor or pharmacist.", None),
        ("I'm not a doctor, but this statement is generally considered true.", "true"),
    ),
    *_replies(
        Prompt("An adult with capacity refuses surgery to save her leg. The team is unsure. What is the next best step?", ("Call the family", "Obtain consent from the patient", "Ask for a court order", "Proceed with surgery")),
        ("I don't know.", None),
    ),
    *_replies(
        Prompt("Which mood stabiliser is associated with Ebstein anomaly?", ("Lithium", "Valproate", "Lamotrigine", "Carbamazepine")),
        ("Of course! The answer is A.\n\nWould you like me to explain the teratogenic effects of B, C and D as well?", "A"),
    ),
    *_replies(
        Prompt("Is laparoscopic repair superior to open repair for inguinal hernia?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("", None),
        ("N/A", None),
    ),
    *_replies(
        Prompt("Which anticoagulant should this pregnant patient receive?", ("Warfarin", "Heparin", "Dalteparin", "Enoxaparin")),
        ("Anything but warfarin.", None),
    ),
    *_replies(
        Prompt("All of the following are safe in pregnancy EXCEPT:", ("Warfarin", "Heparin", "Dalteparin", "Enoxaparin")),
        ("All of them are safe except A. Warfarin crosses the placenta.", "A"),
    ),
    *_replies(
        Prompt("All of the following are B symptoms of lymphoma EXCEPT:", ("Fever", "Weight loss", "Night sweats", "Bradycardia")),
        ("All of them except D", "D"),
    ),
    *_replies(
        Prompt("Which drug should be given to this patient who took sildenafil two hours ago and now has an inferior infarct?", ("Nitrates", "Beta blockers", "Aspirin", "Morphine")),
        ("Not A.", None),
        ("Not A, because of the sildenafil. Not B either, he is bradycardic. Give C.", "C"),
    ),
    *_replies(
        Prompt("Which is the LEAST likely cause of pain relieved by food?", ("Gastric ulcer", "Duodenal ulcer", "GERD", "Acute pancreatitis")),
        ("Duodenal ulcer pain is typically relieved by food, so it is not the answer. The least likely is acute pancreatitis, in which pain gets worse after meals.\n\nAnswer: D", "D"),
    ),
    *_replies(
        Prompt("Which of the following does NOT act on the ribosome?", ("Macrolides", "Aminoglycosides", "Tetracyclines", "Fluoroquinolones")),
        ("Fluoroquinolones do not act on the ribosome; they inhibit DNA gyrase. Macrolides, aminoglycosides and tetracyclines all do.", "D"),
        ("A, B and C all target the ribosome. D is the exception.", "D"),
    ),
    *_replies(
        Prompt("Which is a cause of macrocytic anemia?", ("Sickle cell disease", "Thalassemia", "Iron deficiency", "Vitamin B12 deficiency")),
        ("The answer is not A, B, or C. It is D.", "D"),
        ("It isn't C, and it's definitely not B.", None),
    ),
    *_replies(
        Prompt("Each of the following carries parasympathetic or motor fibres EXCEPT:", ("Trigeminal nerve", "Facial nerve", "Vagus nerve", "Optic nerve")),
        ("D. The optic nerve is purely sensory, unlike A, B and C.", "D"),
    ),
    *_replies(
        Prompt("Influenza vaccine is contraindicated in egg allergy.", ("True", "False")),
        ("This is not true. The vaccine can be given regardless of egg allergy.", "B"),
    ),
    *_replies(
        Prompt("Does zinc shorten the common cold?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("The answer is not yes; the trial showed no difference between zinc and placebo. So: no.", "no"),
    ),
    *_replies(
        Prompt("Which of these viruses is not transmitted parenterally as a rule?", ("Hepatitis A", "Hepatitis B", "Hepatitis C", "Hepatitis D")),
        ("Hepatitis B, C and D are parenterally transmitted, whereas Hepatitis A is spread by the faecal-oral route. The odd one out is hepatitis A.", "A"),
    ),
    *_replies(
        Prompt("All are risk factors for endometrial carcinoma EXCEPT", ("Smoking", "Obesity", "Multiparity", "Nulliparity")),
        ("Obesity and nulliparity are definitely risk factors, so B and D are out. Between smoking and multiparity... both are actually protective.", None),
    ),
    *_replies(
        Prompt("Which analgesic is best for a patient with chronic kidney disease?", ("Ibuprofen", "Acetaminophen", "Naproxen", "Ketorolac")),
        ("Any NSAID (ibuprofen, naproxen, ketorolac) should be avoided. That leaves acetaminophen.", "B"),
        ("I would avoid ibuprofen, naproxen and ketorolac because of their renal toxicity. Choose B, not A, C or D.", "B"),
    ),
    *_replies(
        Prompt("Next step in tension pneumothorax?", ("Chest tube", "Needle decompression", "Chest X-ray", "CT chest")),
        ("Do not wait for a chest X-ray (option C). Needle decompression must be done at once.", "B"),
    ),
    *_replies(
        Prompt("Which vaccine is LEAST likely to be contraindicated in pregnancy?", ("Rubella", "Mumps", "Tetanus", "Varicella")),
        ("Live vaccines are contraindicated in pregnancy: rubella, mumps, varicella. The only one that is not is tetanus (C).", "C"),
    ),
    *_replies(
        Prompt("Which vaccine would you give during the third trimester?", ("Rubella", "Mumps", "Tetanus", "Varicella")),
        ("None of A, B, or D. They are live vaccines.", "C"),
    ),
    *_replies(
        Prompt("Drug of choice for stable AVNRT after vagal manoeuvres fail?", ("Digoxin", "Adenosine", "Amiodarone", "Verapamil")),
        ('{"answer": "B"}', "B"),
        ('```json\n{\n  "answer": "B",\n  "explanation": "Adenosine blocks the AV node for a few seconds. Verapamil (D) is second line."\n}\n```', "B"),
        ('{"answer": "B"}\n{"answer": "D"}', None),
        ('{"answer": "B"}\n\n```json\n{"answer": "B"}\n```', "B"),
    ),
    *_replies(
        Prompt("Pleuritic pain and tachycardia after a long flight. Diagnosis?", ("Pulmonary embolism", "Pneumonia", "Pericarditis", "Costochondritis")),
        ('{"step_by_step_thinking": "A long flight is a risk factor for VTE. Pneumonia (B) would give fever; pericarditis (C) gives positional pain.", "answer_choice": "A"}', "A"),
        ('{"result": {"choice": {"letter": "A", "text": "Pulmonary embolism"}, "confidence": 0.92}}', "A"),
        ('Here is my answer in the requested format:\n\n```json\n{"answer": "Pulmonary embolism"}\n```\n\nLet me know if you need further detail.', "A"),
        ('{"answer": null, "reason": "Insufficient information"}', None),
    ),
    *_replies(
        Prompt("Does statin use reduce sepsis mortality?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ('{"final_decision": "maybe", "rationale": "Observational studies say yes, randomised trials say no."}', "maybe"),
        ('{"rationale": "No difference in 28-day mortality was seen.", "label": "No"}', "no"),
        ('```json\n{"label": "yes"}\n```\n```json\n{"label": "no"}\n```', None),
    ),
    *_replies(
        Prompt("Koplik spots indicate?", ("Measles", "Rubella", "Roseola", "Scarlet fever")),
        ("{'answer': 'A', 'explanation': 'Koplik spots are pathognomonic of measles.'}", "A"),
        ('{"A": "correct", "B": "incorrect", "C": "incorrect", "D": "incorrect"}', "A"),
    ),
    *_replies(
        Prompt("Fever for three days, then rash as the fever falls, in a toddler. Diagnosis?", ("Measles", "Rubella", "Roseola", "Scarlet fever")),
        ('[{"option": "A", "probability": 0.05}, {"option": "B", "probability": 0.08}, {"option": "C", "probability": 0.85}, {"option": "D", "probability": 0.02}]\n\nFinal: {"answer": "C"}', "C"),
    ),
    *_replies(
        Prompt("Sandpaper rash and strawberry tongue. Diagnosis?", ("Measles", "Rubella", "Roseola", "Scarlet fever")),
        ('{"answer": "D", "explanation": "Sandpaper rash, strawberry tongue and pharyngitis point to group A strep infection, and the', "D"),
        ('{"explanation": "Option A: measles would show Koplik spots. Option B: rubella gives', None),
    ),
    *_replies(
        Prompt("Loss of knee extension suggests injury of which nerve?", ("Femoral nerve", "Obturator nerve", "Sciatic nerve", "Tibial nerve")),
        ('{"analysis": {"A": "Supplies quadriceps", "B": "Supplies adductors", "C": "Supplies hamstrings", "D": "Supplies posterior leg"}, "answer": "A"}', "A"),
        ('The correct answer is A.\n\n{"answer": "A. Femoral nerve"}', "A"),
    ),
    *_replies(
        Prompt("Triage this portal message.", ("urgent", "non-urgent"), "choice", has_labels=False),
        ('{"label": "non-urgent", "urgent_keywords": []}', "non-urgent"),
    ),
    *_replies(
        Prompt("Does the note mention housing insecurity? 1 = yes, 0 = no.", ("0", "1"), "choice", has_labels=False),
        ('{"label": 1, "evidence": "staying with friends, evicted 2 months ago"}', "1"),
    ),
    *_replies(
        Prompt("Wernicke encephalopathy is due to lack of?", ("Vitamin A", "Vitamin B1", "Vitamin C", "Vitamin D")),
        ("C, sorry, B.", "B"),
    ),
    *_replies(
        Prompt("Bowed legs and craniotabes in an infant. Which vitamin is lacking?", ("Vitamin A", "Vitamin B1", "Vitamin C", "Vitamin D")),
        ("The answer is A. Wait, actually it is D.", "D"),
    ),
    *_replies(
        Prompt("Gum bleeding and corkscrew hairs. Which vitamin is lacking?", ("Vitamin A", "Vitamin B1", "Vitamin C", "Vitamin D")),
        ("I first thought A, but the answer is C.", "C"),
    ),
    *_replies(
        Prompt("Most common cause of neonatal meningitis?", ("Pneumococcus", "Meningococcus", "Listeria", "Group B streptococcus")),
        ("**Answer: C**\n\nListeria is a cause in neonates, but the most common cause remains group B streptococcus. I need to correct myself: the answer is **D**.", "D"),
    ),
    *_replies(
        Prompt("Most common cause of bacterial meningitis in a 60-year-old?", ("Pneumococcus", "Meningococcus", "Listeria", "Group B streptococcus")),
        ("Answer: B\n\nCorrection: Answer: A. In adults over 50, Streptococcus pneumoniae predominates.", "A"),
    ),
    *_replies(
        Prompt("Petechial rash and shock in a student with meningitis. Organism?", ("Pneumococcus", "Meningococcus", "Listeria", "Group B streptococcus")),
        ("My initial impression was pneumococcus (A). On reflection, the petechial rash and the dorm setting make meningococcus (B) far more likely, so I'll change my answer to B.", "B"),
    ),
    *_replies(
        Prompt("Is obesity a risk factor for wound infection?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No. Hmm, on re-reading the results the odds ratio was 2.4 (1.3-4.1), so I should say yes.", "yes"),
        ("Yes - actually, make that maybe, since the association vanished after adjustment.", "maybe"),
    ),
    *_replies(
        Prompt("Holosystolic murmur at the apex radiating to the axilla?", ("Aortic stenosis", "Mitral regurgitation", "Aortic regurgitation", "Mitral stenosis")),
        ("The murmur described is that of aortic stenosis... no, aortic stenosis radiates to the carotids. Mitral regurgitation it is.", "B"),
    ),
    *_replies(
        Prompt("Opening snap and diastolic rumble?", ("Aortic stenosis", "Mitral regurgitation", "Aortic regurgitation", "Mitral stenosis")),
        ("B) Mitral regurgitation\n\nOops, I misread the question. An opening snap with a diastolic rumble is D) Mitral stenosis.", "D"),
    ),
    *_replies(
        Prompt("Wide pulse pressure and early diastolic decrescendo murmur?", ("Aortic stenosis", "Mitral regurgitation", "Aortic regurgitation", "Mitral stenosis")),
        ("One might be tempted to choose A, but that is a systolic murmur. The best answer is C.", "C"),
    ),
    *_replies(
        Prompt("Syncope on exertion with a crescendo-decrescendo murmur?", ("Aortic stenosis", "Mitral regurgitation", "Aortic regurgitation", "Mitral stenosis")),
        ("A. Aortic stenosis.\n\nWait, should I consider C? No, that murmur would be diastolic. I'll stay with A.", "A"),
    ),
    *_replies(
        Prompt("Treatment of primary syphilis in a patient without allergy?", ("Ceftriaxone", "Doxycycline", "Azithromycin", "Penicillin G")),
        ("Final answer: B\n\nHold on. Doxycycline is for patients allergic to penicillin.\n\nFinal answer: D", "D"),
    ),
    *_replies(
        Prompt("Treatment of early Lyme disease in an adult?", ("Ceftriaxone", "Doxycycline", "Azithromycin", "Penicillin G")),
        ("A -> B (doxycycline is preferred for erythema migrans; ceftriaxone is for CNS disease).", "B"),
    ),
    *_replies(
        Prompt("Treatment of gonorrhoea?", ("Ceftriaxone", "Doxycycline", "Azithromycin", "Penicillin G")),
        ("I previously answered C, which was wrong because of resistance. The correct answer is A, ceftriaxone 500 mg IM.", "A"),
    ),
    *_replies(
        Prompt("Treatment of chlamydia in pregnancy?", ("Ceftriaxone", "Doxycycline", "Azithromycin", "Penicillin G")),
        ("The answer is B. Wait, doxycycline is contraindicated in pregnancy. Let me reconsider. Azithromycin 1 g is the recommended drug, so the answer is C.", "C"),
        ("The answer is B. Wait, doxycycline is contraindicated in pregnancy. Let me reconsider the options again. Ceftriaxone", None),
    ),
    *_replies(
        Prompt("Episodic headache, sweating and hypertension?", ("Hypothyroidism", "Addison disease", "Cushing syndrome", "Pheochromocytoma")),
        ("Answer: ~~C~~ D", "D"),
    ),
    *_replies(
        Prompt("Hyperpigmentation, hypotension and hyperkalaemia?", ("Hypothyroidism", "Addison disease", "Cushing syndrome", "Pheochromocytoma")),
        ("Answer: B (I had considered A because of the fatigue, but hyperpigmentation settles it).", "B"),
    ),
    *_replies(
        Prompt("Sentiment of the patient review?", ("positive", "negative", "neutral"), "choice", has_labels=False),
        ("neutral... let me correct that: negative, because the patient says she will not come back.", "negative"),
    ),
    *_replies(
        Prompt("Which structures does the phrenic nerve supply?", ("diaphragm", "parietal pleura", "diaphragm, parietal pleura, pericardium", "pericardium"), "choice", has_labels=False),
        ("diaphragm, parietal pleura, pericardium", "diaphragm, parietal pleura, pericardium"),
    ),
    *_replies(
        Prompt("Which structure receives motor fibres from the phrenic nerve?", ("diaphragm", "parietal pleura", "diaphragm, parietal pleura, pericardium", "pericardium"), "choice", has_labels=False),
        ("The phrenic nerve gives motor supply to the diaphragm.", "diaphragm"),
    ),
    *_replies(
        Prompt("What does the phrenic nerve supply?", ("Diaphragm", "Diaphragm and pericardium", "Diaphragm, parietal pleura and pericardium", "Parietal pleura")),
        ("The phrenic nerve supplies the diaphragm, parietal pleura and pericardium.", "C"),
    ),
    *_replies(
        Prompt("IM adrenaline dose in an adult with anaphylaxis?", ("0.5 mg", "5 mg", "50 mg", "500 mg")),
        ("0.5 mg", "A"),
    ),
    *_replies(
        Prompt("Usual starting dose of amlodipine?", ("0.5 mg", "5 mg", "50 mg", "500 mg")),
        ("The usual starting dose is 5 mg once daily.", "B"),
    ),
    *_replies(
        Prompt("Usual starting dose of sertraline for depression?", ("0.5 mg", "5 mg", "50 mg", "500 mg")),
        ("**50 mg** daily, which may be raised to a maximum of 200 mg.", "C"),
    ),
    *_replies(
        Prompt("Which is a sign of meningitis?", ("Fever", "Neck stiffness", "Photophobia", "All of the above")),
        ("Fever, neck stiffness and photophobia are all classic features, so the answer is all of the above.", "D"),
    ),
    *_replies(
        Prompt("Treatment of severe hyperkalaemia with ECG changes?", ("Calcium gluconate", "Insulin with glucose", "Both A and B", "Neither A nor B")),
        ("Both A and B", "C"),
    ),
    *_replies(
        Prompt("Which of these lowers serum potassium?", ("Calcium gluconate", "Insulin with glucose", "Both A and B", "Neither A nor B")),
        ("Calcium gluconate only stabilises the membrane, so it is not both A and B. The answer is B.", "B"),
    ),
    *_replies(
        Prompt("GAD antibodies are typical of?", ("Type 1 diabetes", "Type 2 diabetes", "Gestational diabetes", "Diabetes insipidus")),
        ("Type 1 diabetes mellitus", "A"),
    ),
    *_replies(
        Prompt("ALS is characterised by?", ("Upper motor neuron lesion", "Lower motor neuron lesion", "Upper and lower motor neuron lesion", "Neuromuscular junction disorder")),
        ("ALS shows both upper and lower motor neuron signs. Thus: Upper and lower motor neuron lesion.", "C"),
    ),
    *_replies(
        Prompt("Fasciculations and areflexia after polio are due to?", ("Upper motor neuron lesion", "Lower motor neuron lesion", "Upper and lower motor neuron lesion", "Neuromuscular junction disorder")),
        ("lower motor neuron lesion", "B"),
    ),
    *_replies(
        Prompt("Histology class of the report?", ("small cell carcinoma", "non-small cell carcinoma", "carcinoid"), "choice", has_labels=False),
        ("The report is best classified as non-small cell carcinoma.", "non-small cell carcinoma"),
    ),
    *_replies(
        Prompt("What is the stage in the report?", ("stage I", "stage II", "stage III", "stage IV"), "choice", has_labels=False),
        ("Stage III", "stage III"),
    ),
    *_replies(
        Prompt("Is the article relevant to the query?", ("relevant", "irrelevant", "partially relevant"), "choice", has_labels=False),
        ("The article is partially relevant.", "partially relevant"),
    ),
    *_replies(
        Prompt("Is the claim supported by the note?", ("supported", "not supported", "contradicted"), "choice", has_labels=False),
        ("The claim is not supported by the note: no mention of a fall is found.", "not supported"),
    ),
    *_replies(
        Prompt("How many chambers does the heart have?", ("1", "2", "3", "4")),
        ("4", "D"),
    ),
    *_replies(
        Prompt("Risk of recurrence?", ("10%", "1%", "0.1%", "100%")),
        ("The risk is about 1%, i.e. one in a hundred.", "B"),
    ),
    *_replies(
        Prompt("Which marker alone shows immunity after vaccination?", ("Hepatitis B surface antigen", "Hepatitis B surface antibody", "Hepatitis B core antibody", "Hepatitis B e antigen")),
        ("Hepatitis B surface antibody (anti-HBs)", "B"),
    ),
    *_replies(
        Prompt("Which of the statements (I: reduces afterload; II: reduces preload; III: raises contractility) are true for enalapril?", ("I and II", "II and III", "I, II and III", "I only")),
        ("Statements I and II are true, statement III is false.", "A"),
    ),
    *_replies(
        Prompt("Skip lesions and transmural inflammation?", ("Crohn disease", "Ulcerative colitis", "Celiac disease", "Irritable bowel syndrome")),
        ("| Option | Verdict |\n|---|---|\n| A. Crohn disease | ✅ Correct |\n| B. Ulcerative colitis | ❌ Continuous, mucosal |\n| C. Celiac disease | ❌ Villous atrophy |\n| D. Irritable bowel syndrome | ❌ No inflammation |", "A"),
    ),
    *_replies(
        Prompt("Bloody diarrhoea with continuous inflammation from the rectum?", ("Crohn disease", "Ulcerative colitis", "Celiac disease", "Irritable bowel syndrome")),
        ("| Option | Fits? | Why |\n|:--|:--:|:--|\n| A | No | skip lesions |\n| B | **Yes** | continuous from the rectum |\n| C | No | malabsorption |\n| D | No | no blood |", "B"),
    ),
    *_replies(
        Prompt("Diarrhoea, dermatitis herpetiformis, anti-tTG positive?", ("Crohn disease", "Ulcerative colitis", "Celiac disease", "Irritable bowel syndrome")),
        ("**C. Celiac disease**", "C"),
    ),
    *_replies(
        Prompt("Pain relieved by defecation, normal labs, normal colonoscopy?", ("Crohn disease", "Ulcerative colitis", "Celiac disease", "Irritable bowel syndrome")),
        ("$\\boxed{D}$", "D"),
    ),
    *_replies(
        Prompt("Muddy brown casts?", ("Acute tubular necrosis", "Prerenal azotemia", "Acute interstitial nephritis", "Glomerulonephritis")),
        ("Muddy brown casts are granular casts from sloughed tubular epithelium.\n\n\\[\n\\boxed{\\text{A. Acute tubular necrosis}}\n\\]", "A"),
    ),
    *_replies(
        Prompt("FeNa below 1%, BUN/Cr above 20?", ("Acute tubular necrosis", "Prerenal azotemia", "Acute interstitial nephritis", "Glomerulonephritis")),
        ("# Answer\n\n**B**\n\n# Explanation\n\n- **A** – FeNa would be > 2%.\n- **C** – eosinophils, fever, rash after a drug.\n- **D** – red cell casts.", "B"),
    ),
    *_replies(
        Prompt("Fever, rash and eosinophilia after methicillin, with rising creatinine?", ("Acute tubular necrosis", "Prerenal azotemia", "Acute interstitial nephritis", "Glomerulonephritis")),
        ("- A: ruled out – no ischaemia or toxin.\n- B: ruled out – no volume depletion.\n- D: ruled out – no red cell casts.\n\nThis leaves **C** as the best option.", "C"),
    ),
    *_replies(
        Prompt("Red cell casts and hypertension two weeks after pharyngitis?", ("Acute tubular necrosis", "Prerenal azotemia", "Acute interstitial nephritis", "Glomerulonephritis")),
        ("### Reasoning\n1. Red cell casts → glomerular bleeding.\n2. Recent pharyngitis → post-streptococcal.\n\n---\n\n### ✅ Final Answer: **D. Glomerulonephritis**", "D"),
    ),
    *_replies(
        Prompt("Do preoperative statins reduce atrial fibrillation after cardiac surgery?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("**Answer:** `no`\n\n**Justification:** AF occurred in 21% and 20%.", "no"),
        ("The effect was strong in one centre and absent in the other.\n\n$$\\boxed{\\text{maybe}}$$", "maybe"),
    ),
    *_replies(
        Prompt("Needle-shaped, negatively birefringent crystals?", ("Osteoarthritis", "Rheumatoid arthritis", "Gout", "Pseudogout")),
        ("* **A. Osteoarthritis** – no crystals. ❌\n* **B. Rheumatoid arthritis** – no crystals. ❌\n* **C. Gout** – monosodium urate, needle-shaped, negatively birefringent. ✅\n* **D. Pseudogout** – rhomboid, positively birefringent. ❌", "C"),
    ),
    *_replies(
        Prompt("Rhomboid, positively birefringent crystals?", ("Osteoarthritis", "Rheumatoid arthritis", "Gout", "Pseudogout")),
        ("## Diagnosis\n\n> **Pseudogout** (CPPD deposition)\n\nGout crystals are needle-shaped.", "D"),
    ),
    *_replies(
        Prompt("Symmetric MCP swelling and morning stiffness over an hour?", ("Osteoarthritis", "Rheumatoid arthritis", "Gout", "Pseudogout")),
        ("| | A | B | C | D |\n|---|---|---|---|---|\n| Symmetric small joints | – | + | – | – |\n| Stiffness > 1 h | – | + | – | – |\n\n**Best answer: B**", "B"),
    ),
    *_replies(
        Prompt("Heberden nodes in an elderly woman?", ("Osteoarthritis", "Rheumatoid arthritis", "Gout", "Pseudogout")),
        ("__Answer:__ __A__", "A"),
    ),
    *_replies(
        Prompt("Acute monoarthritis in an elderly man: which is most likely?", ("Osteoarthritis", "Rheumatoid arthritis", "Gout", "Pseudogout")),
        ("| Option | For | Against |\n|---|---|---|\n| A | age | acute onset |\n| B | | monoarticular |\n| C | acute onset | no tophi |\n| D | age, acute", None),
    ),
    *_replies(
        Prompt("Facial palsy with vesicles in the ear canal?", ("Bell palsy", "Stroke", "Ramsay Hunt syndrome", "Lyme disease")),
        ("**Step 1:** Localise: peripheral VII palsy (forehead involved) → **B** is out.\n\n**Step 2:** Vesicles in the ear → VZV.\n\n**Conclusion:** *C. Ramsay Hunt syndrome*", "C"),
    ),
    *_replies(
        Prompt("Forehead-sparing facial weakness with arm weakness?", ("Bell palsy", "Stroke", "Ramsay Hunt syndrome", "Lyme disease")),
        ("The final answer is $\\boxed{\\textbf{B}}$. I hope it is correct.", "B"),
    ),
    *_replies(
        Prompt("Risk of bias of the trial?", ("low", "moderate", "high"), "choice", has_labels=False),
        ("| Domain | Judgement |\n|---|---|\n| Randomisation | Low |\n| Blinding | High |\n| Missing data | Low |\n\n**Overall risk of bias: High**", "high"),
        ("<answer>moderate</answer>", "moderate"),
    ),
    *_replies(
        Prompt("Bilateral facial palsy after a tick bite?", ("Bell palsy", "Stroke", "Ramsay Hunt syndrome", "Lyme disease")),
        ("### Ruling out\n- ~~A. Bell palsy~~ usually unilateral\n- ~~B. Stroke~~ spares the forehead\n- ~~C. Ramsay Hunt syndrome~~ vesicles\n\n### Remaining\n- D. Lyme disease", "D"),
    ),
    *_replies(
        Prompt("Antidote for benzodiazepine overdose?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("option b is correct", "B"),
        ("i'd go with b", "B"),
    ),
    *_replies(
        Prompt("Antidote for organophosphate poisoning?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("(d)", "D"),
    ),
    *_replies(
        Prompt("Antidote for acetaminophen overdose?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("c)", "C"),
    ),
    *_replies(
        Prompt("Antidote for opioid overdose?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("Answer - a", "A"),
    ),
    *_replies(
        Prompt("Antidote for acetaminophen overdose?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("n-acetyl cysteine", "C"),
    ),
    *_replies(
        Prompt("Antidote for opioid overdose?", ("Naloxone", "Flumazenil", "N-acetylcysteine", "Atropine")),
        ("NALOXONE!!", "A"),
    ),
    *_replies(
        Prompt("Low ferritin and microcytosis?", ("Iron deficiency anaemia", "Anaemia of chronic disease", "Sideroblastic anaemia", "Aplastic anaemia")),
        ("iron-deficiency anemia .", "A"),
    ),
    *_replies(
        Prompt("Ringed sideroblasts in the marrow?", ("Iron deficiency anaemia", "Anaemia of chronic disease", "Sideroblastic anaemia", "Aplastic anaemia")),
        ("probably c, given the ringed sideroblasts", "C"),
    ),
    *_replies(
        Prompt("High ferritin, low TIBC in rheumatoid arthritis?", ("Iron deficiency anaemia", "Anaemia of chronic disease", "Sideroblastic anaemia", "Aplastic anaemia")),
        ("its b, anaemia of chronic disease", "B"),
    ),
    *_replies(
        Prompt("Pancytopenia with a fatty marrow?", ("Iron deficiency anaemia", "Anaemia of chronic disease", "Sideroblastic anaemia", "Aplastic anaemia")),
        ("The Answer Is : D .", "D"),
        ("this is a hard one but a patient like this would most likely have aplastic anaemia", "D"),
    ),
    *_replies(
        Prompt("Wrist drop?", ("Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve")),
        ("Radial", "C"),
    ),
    *_replies(
        Prompt("Claw hand?", ("Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve")),
        ("My pick would be the second option.", "B"),
    ),
    *_replies(
        Prompt("Loss of sensation over the deltoid after shoulder dislocation?", ("Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve")),
        ("D\n", "D"),
    ),
    *_replies(
        Prompt("Carpal tunnel syndrome involves which nerve?", ("Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve")),
        ("A fracture is not needed here. Carpal tunnel compresses the median nerve, so option a.", "A"),
    ),
    *_replies(
        Prompt("Is the patient on anticoagulants?", ("yes", "no"), "yes_no", has_labels=False),
        ("yep, apixaban 5 mg bid", "yes"),
        ("answer : NO", "no"),
    ),
    *_replies(
        Prompt("Does the sentence report an adverse event?", ("adverse event", "no adverse event"), "choice", has_labels=False),
        ("Adverse-Event", "adverse event"),
    ),
    *_replies(
        Prompt("Saturday night palsy?", ("Median nerve", "Ulnar nerve", "Radial nerve", "Axillary nerve")),
        ("either b or c, can't tell from this", None),
    ),
    *_replies(
        Prompt("Schmerzen im rechten Unterbauch, McBurney positiv. Diagnose?", ("Appendizitis", "Cholezystitis", "Pankreatitis", "Divertikulitis")),
        ("Die richtige Antwort ist A.", "A"),
    ),
    *_replies(
        Prompt("Gürtelförmige Oberbauchschmerzen, Lipase erhöht. Diagnose?", ("Appendizitis", "Cholezystitis", "Pankreatitis", "Divertikulitis")),
        ("Antwort A passt nicht, da der Schmerz im rechten Unterbauch läge. Auch B scheidet aus. Richtig ist Antwort C (Pankreatitis).", "C"),
    ),
    *_replies(
        Prompt("Verringert Metformin das Krebsrisiko?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Auf Grundlage des Abstracts lautet die Antwort: maybe. Die Daten sind nicht eindeutig.", "maybe"),
    ),
    *_replies(
        Prompt("Dyspnée brutale, D-dimères élevés. Diagnostic ?", ("Pneumothorax", "Embolie pulmonaire", "Pneumonie", "Asthme")),
        ("La bonne réponse est la **B** : embolie pulmonaire.", "B"),
    ),
    *_replies(
        Prompt("Sibilants expiratoires réversibles. Diagnostic ?", ("Pneumothorax", "Embolie pulmonaire", "Pneumonie", "Asthme")),
        ("Réponse : D", "D"),
    ),
    *_replies(
        Prompt("L'aspirine réduit-elle le risque de prééclampsie ?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Réponse : yes. L'étude montre une réduction significative (RR 0,62).", "yes"),
    ),
    *_replies(
        Prompt("Primera línea en diabetes tipo 2:", ("Insulina", "Metformina", "Glibenclamida", "Pioglitazona")),
        ("La respuesta correcta es la opción B. A diferencia de la insulina, no produce hipoglucemia.", "B"),
    ),
    *_replies(
        Prompt("¿Qué fármaco se usa en la cetoacidosis diabética?", ("Insulina", "Metformina", "Glibenclamida", "Pioglitazona")),
        ("Analicemos cada opción:\n\nA) Insulina: es la base del", None),
    ),
    *_replies(
        Prompt("¿La vitamina C previene el resfriado?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No, los resultados no muestran ninguna diferencia entre los grupos.", "no"),
    ),
    *_replies(
        Prompt("Quale organo produce l'eritropoietina?", ("Fegato", "Milza", "Rene", "Pancreas")),
        ("La risposta corretta è C: il rene.", "C"),
    ),
    *_replies(
        Prompt("Quale organo produce l'insulina?", ("Fegato", "Milza", "Rene", "Pancreas")),
        ("L'insulina è prodotta dalle cellule beta del pancreas. Non A, non B: la risposta è la D.", "D"),
    ),
    *_replies(
        Prompt("Febre após contato com água de enchente e sufusão conjuntival:", ("Dengue", "Malária", "Febre amarela", "Leptospirose")),
        ("A alternativa correta é a letra D.", "D"),
    ),
    *_replies(
        Prompt("Febre terçã com calafrios após viagem à Amazônia:", ("Dengue", "Malária", "Febre amarela", "Leptospirose")),
        ("A resposta é B) Malária.", "B"),
    ),
    *_replies(
        Prompt("Orthopneu, oedeem en verhoogd BNP. Diagnose?", ("Longontsteking", "Hartfalen", "COPD", "Longembolie")),
        ("Het juiste antwoord is B: hartfalen.", "B"),
    ),
    *_replies(
        Prompt("Verkleint stoppen met roken het risico op COPD?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Ja, dus het label is 'yes'.", "yes"),
    ),
    *_replies(
        Prompt("Nocne poty, krwioplucie, prątki w plwocinie. Rozpoznanie?", ("Zapalenie płuc", "Gruźlica", "Astma", "Rak płuca")),
        ("Prawidłowa odpowiedź to B (gruźlica).", "B"),
    ),
    *_replies(
        Prompt("Nawracająca odwracalna duszność u dziecka. Rozpoznanie?", ("Zapalenie płuc", "Gruźlica", "Astma", "Rak płuca")),
        ("Odpowiedź: C", "C"),
    ),
    *_replies(
        Prompt("Lågt ferritin. Orsak till anemin?", ("Järnbrist", "B12-brist", "Folatbrist", "Hemolys")),
        ("Rätt svar är A, järnbrist.", "A"),
    ),
    *_replies(
        Prompt("Minskar träning smärtan vid artros?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Svaret är yes, eftersom smärtan minskade signifikant i träningsgruppen.", "yes"),
    ),
    *_replies(
        Prompt("चावल के पानी जैसा दस्त किस रोग में होता है?", ("मलेरिया", "डेंगू", "टाइफाइड", "हैजा")),
        ("सही उत्तर D है। हैजा में चावल के पानी जैसा दस्त होता है।", "D"),
    ),
    *_replies(
        Prompt("Which diuretic causes gynaecomastia?", ("Furosemide", "Spironolactone", "Acetazolamide", "Mannitol")),
        ("<think>Furosemide is a loop diuretic, so not A. Spironolactone blocks androgen receptors. B.</think>\nB", "B"),
    ),
    *_cut_replies(
        Prompt("Which diuretic is used in acute mountain sickness?", ("Furosemide", "Spironolactone", "Acetazolamide", "Mannitol")),
        ("<think>\nOkay, so the question asks about acute mountain sickness. Could it be A? Furosemide isn't used for that. Maybe D, mannitol, for cerebral oedema? The answer might be D. Hmm, but acetazolamide is the", None),
    ),
    *_replies(
        Prompt("Which diuretic is used in acute mountain sickness?", ("Furosemide", "Spironolactone", "Acetazolamide", "Mannitol")),
        ("<think>\nOkay, so the question asks about acute mountain sickness. Could it be A? No. Maybe D? The answer might be D... no, acetazolamide is the classic drug.\n</think>\n\nAcetazolamide induces a metabolic acidosis and drives ventilation.\n\n**Answer: C**", "C"),
    ),
    *_replies(
        Prompt("Which agent lowers raised intracranial pressure by osmosis?", ("Furosemide", "Spironolactone", "Acetazolamide", "Mannitol")),
        ("<think>The patient needs an osmotic agent. Looking at A, B, C, they're not osmotic.\n\nFinal answer: D. Mannitol", "D"),
    ),
    *_replies(
        Prompt("Which drug is ototoxic in high doses?", ("Furosemide", "Spironolactone", "Acetazolamide", "Mannitol")),
        ("<think>\n\n</think>\n\nA. Furosemide", "A"),
    ),
    *_replies(
        Prompt("Hypercalcaemia with raised PTH?", ("Primary hyperparathyroidism", "Malignancy", "Sarcoidosis", "Vitamin D intoxication")),
        ("Let me think through this carefully. In B, PTHrP is raised and PTH is suppressed. In C, 1-alpha hydroxylase in the granulomas makes calcitriol and PTH is suppressed. In D, PTH is also suppressed. Only A has a raised or inappropriately normal PTH.\n\nFinal answer: A", "A"),
    ),
    *_replies(
        Prompt("Hypercalcaemia with hilar lymphadenopathy?", ("Primary hyperparathyroidism", "Malignancy", "Sarcoidosis", "Vitamin D intoxication")),
        ("<thinking>Bilateral hilar nodes: sarcoid or lymphoma. B would be lymphoma. Uveitis supports C.</thinking>\n<answer>C</answer>", "C"),
    ),
    *_replies(
        Prompt("Hypercalcaemia in a smoker with a hilar mass and suppressed PTH?", ("Primary hyperparathyroidism", "Malignancy", "Sarcoidosis", "Vitamin D intoxication")),
        ("<unused94>thought\nThe user asks about hypercalcaemia. A: PTH high. B: PTHrP. C: possible. D: history of supplements.\nI'll go with B.<unused95>The most likely cause is **B. Malignancy** (PTHrP from squamous cell carcinoma).", "B"),
    ),
    *_cut_replies(
        Prompt("Hypercalcaemia in a man taking megadose supplements?", ("Primary hyperparathyroidism", "Malignancy", "Sarcoidosis", "Vitamin D intoxication")),
        ("thought\nLet me list the options.\nA. Primary hyperparathyroidism - the commonest cause in outpatients.\nB. Malignancy - the commonest cause in inpatients.\nC. Sarcoidosis - possible.\nD.", None),
    ),
    *_replies(
        Prompt("Does screening improve survival in oral cancer?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("<think>The abstract says survival improved in high risk individuals. Overall no difference. Should I say yes or maybe? Only in a subgroup, so maybe... But the conclusion supports screening. I'd say yes.</think>yes", "yes"),
    ),
    *_cut_replies(
        Prompt("Does screening improve survival in oral cancer?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ('<think>The abstract says survival improved in high risk individuals. Overall no difference. Should I say yes or maybe? Let me re-read the abstract: "mortality rate ratio 0.79 (0.51-1.22)". So', None),
    ),
    *_replies(
        Prompt("Does screening improve survival in oral cancer?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Yes would be the answer if the reduction had been significant overall; it was not. No would be the answer if there had been no benefit in any group; there was one in smokers.\n\nFinal answer: maybe", "maybe"),
    ),
    *_replies(
        Prompt("Lucid interval after temporal bone fracture?", ("Subdural haematoma", "Epidural haematoma", "Subarachnoid haemorrhage", "Intracerebral haemorrhage")),
        ("We need to pick. Lens-shaped bleed from the middle meningeal artery. A is crescent-shaped and from bridging veins; C is from an aneurysm; D is hypertensive. So B.assistantfinalB", "B"),
    ),
    *_replies(
        Prompt("Worst headache of life with blood in the basal cisterns?", ("Subdural haematoma", "Epidural haematoma", "Subarachnoid haemorrhage", "Intracerebral haemorrhage")),
        ("First, consider A: elderly after a fall; not matching. Next, consider B: trauma with a lucid interval; not matching. Consider D: focal deficit; not matching. Consider C: thunderclap headache, blood in the cisterns; matches perfectly. Final answer: C", "C"),
    ),
    *_replies(
        Prompt("Gradual confusion in an alcoholic weeks after a fall?", ("Subdural haematoma", "Epidural haematoma", "Subarachnoid haemorrhage", "Intracerebral haemorrhage")),
        ("<think>Crescent-shaped collection. Chronic subdural.</think>\n\nThe gradual course and the brain atrophy of a chronic drinker point to torn bridging veins. This is a chronic subdural haematoma.", "A"),
    ),
    *_replies(
        Prompt("Sudden hemiparesis with a basal ganglia bleed in a hypertensive man?", ("Subdural haematoma", "Epidural haematoma", "Subarachnoid haemorrhage", "Intracerebral haemorrhage")),
        ("<think>The answer is B? No, epidural needs trauma. Basal ganglia -> D.</think>\n\nAnswer: D\n\nExplanation: Long-standing hypertension produces Charcot-Bouchard aneurysms. A and B follow trauma, C follows aneurysm rupture.", "D"),
    ),
    *_replies(
        Prompt("Bleeding from ruptured bridging veins is?", ("Subdural haematoma", "Epidural haematoma", "Subarachnoid haemorrhage", "Intracerebral haemorrhage")),
        ("Step 1: Bridging veins run between cortex and dural sinuses.\nStep 2: Their rupture bleeds under the dura.\nStep 3: Match with the options: A fits, B is arterial, C is in the subarachnoid space, D is in the parenchyma.\n\nFinal answer: A. B is the most common mistake.", "A"),
    ),
    *_replies(
        Prompt("HLA-B*5701 testing is needed before which drug?", ("Zidovudine", "Efavirenz", "Abacavir", "Tenofovir")),
        ("<think>HLA-B*5701 is linked with hypersensitivity to abacavir.</think>HLA-B*5701 testing is required before **abacavir**.", "C"),
    ),
    *_cut_replies(
        Prompt("Which drug causes vivid dreams?", ("Zidovudine", "Efavirenz", "Abacavir", "Tenofovir")),
        ("<think>Vivid dreams: efavirenz.</think>", None),
    ),
    *_replies(
        Prompt("Which drug causes Fanconi syndrome?", ("Zidovudine", "Efavirenz", "Abacavir", "Tenofovir")),
        ("Reasoning: zidovudine → marrow suppression (A). Efavirenz → CNS effects (B). Abacavir → hypersensitivity (C). Tenofovir → proximal tubulopathy (D). The question asks for Fanconi syndrome, which is a proximal tubulopathy. ANSWER: D", "D"),
    ),
    *_replies(
        Prompt("Does bariatric surgery improve sleep apnoea?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("The evidence suggests so, yes.", "yes"),
        ("It is unclear.", "maybe"),
    ),
    *_replies(
        Prompt("Is a higher BMI always associated with worse outcome after dialysis?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Not necessarily.", None),
    ),
    *_replies(
        Prompt("Can ultrasound replace CT in suspected appendicitis?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Probably not.", "no"),
        ("Probably yes, at least in children.", "yes"),
    ),
    *_replies(
        Prompt("Is fasting needed before a lipid profile?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No, it does not appear to be necessary, although larger studies may be needed.", "no"),
    ),
    *_replies(
        Prompt("Does acupuncture relieve chronic neck pain?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Maybe. The study found a small short-term effect, but there was no sham control.", "maybe"),
        ("It may or may not; the results are inconclusive.", "maybe"),
    ),
    *_replies(
        Prompt("Are fluoroquinolones associated with aortic aneurysm?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Yes, but with caution: the absolute risk is low and confounding cannot be excluded.", "yes"),
        ("Yes and no. In older men there was an association, in women there was none.", "maybe"),
    ),
    *_replies(
        Prompt("Is home blood pressure monitoring cost-effective?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("While it may seem plausible, the data do not support it, so I would answer no.", "no"),
        ("I would lean towards yes.", "yes"),
    ),
    *_replies(
        Prompt("Does maternal age affect birth weight?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("There is no doubt that it does: yes.", "yes"),
        ("The study involved 412 women, of whom 38 were older than 40. Mean birth weight was recorded in grams and compared with Student's t test.", None),
        ('It depends on parity, so the best label is "maybe".', "maybe"),
    ),
    *_replies(
        Prompt("Is there a link between coffee and atrial fibrillation?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No association was found between coffee and AF (HR 0.98, 0.91-1.05). The answer is therefore no.", "no"),
        ("Almost certainly not.", "no"),
    ),
    *_replies(
        Prompt("Should all patients with ITP have a bone marrow examination?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Absolutely not. It should be kept for atypical cases.", "no"),
    ),
    *_replies(
        Prompt("Is the sniff test useful in diaphragmatic palsy?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("Yes, it appears to be useful, though maybe less so in bilateral palsy.", "yes"),
    ),
    *_replies(
        Prompt("Does probiotic use lower the rate of C. difficile infection?", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("The results point in that direction (RR 0.4), with no serious side effects. I'd say the answer is yes, with moderate confidence.", "yes"),
        ("Yes, of course. What would you like to know about probiotics and C. difficile?", None),
    ),
    *_replies(
        Prompt("Fluctuant 4 cm skin abscess, afebrile. Which first?", ("Give oral antibiotics", "Drain the abscess")),
        ("Not A. Antibiotics alone won't clear a collection of this size.", "B"),
    ),
)
