"""Replies written by hand in two sets, with what a person reads in them.

`FIRST` was written before its author had seen the reader of extraction version 6, or a reply of
`check`; what the reader got wrong in it was then mended. `SECOND` was written after that, with
other questions and words, and measured before anything else was mended by it.
"""
# ruff: noqa: E501  (a reply is a line)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its options in order, with labels where the prompt shows them."""

    stem: str
    options: tuple[str, ...]
    method: str = "choice"
    has_labels: bool = True

    @property
    def output_mapping(self) -> dict[str, str]:
        """The options by label; empty where the prompt shows none."""
        return dict(zip("ABCDE", self.options, strict=False)) if self.has_labels else {}

    @property
    def question(self) -> str:
        """As the prompt shows it."""
        return "\n".join(
            [self.stem, *(f"{key}. {text}" for key, text in self.output_mapping.items())]
        )


@dataclass(frozen=True, slots=True)
class Written:
    """A reply to a question, and what a person reads in it: None, no one option."""

    asked: Asked
    text: str
    expected: str | None
    is_cut: bool = False

    def read(self) -> str | None:
        """What the reader of the project reads."""
        return read_answer(
            self.text,
            AnswerExtraction(method=ExtractionMethod(self.asked.method)),
            output_mapping=self.asked.output_mapping,
            references=self.asked.options,
            question=self.asked.question,
            is_cut=self.is_cut,
        )


def _of(asked: Asked, *replies: tuple[str, str | None]) -> Iterator[Written]:
    for text, expected in replies:
        yield Written(asked, text, expected)


def _cut(asked: Asked, *replies: tuple[str, str | None]) -> Iterator[Written]:
    for text, expected in replies:
        yield Written(asked, text, expected, is_cut=True)


# fmt: off


FIRST: Sequence[Written] = (
    *_of(
        Asked("A 71-year-old woman has new atrial fibrillation. Which drug is best started?", ("Warfarin", "Apixaban", "Aspirin", "Clopidogrel")),
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
    *_cut(
        Asked("A 71-year-old woman has new atrial fibrillation. Which drug is best started?", ("Warfarin", "Apixaban", "Aspirin", "Clopidogrel")),
        ("### Option A: Warfarin\nThis is a vitamin K antagonist that has been", None),
        ("**A. Warfarin** – an oral anticoagulant which needs INR monitoring. It", None),
        ("A) Warfarin\n- Effective but needs monitoring\n- Many interactions\n\nB) Apixaban\n- Fewer bleeds, no", None),
        ("Answer: B\n\nExplanation: Apixaban has a lower risk of intracranial bleeding than warfarin and does not", "B"),
    ),
    *_of(
        Asked("A 24-year-old man has fever, neck stiffness and photophobia. What is the most likely diagnosis?", ("Migraine", "Bacterial meningitis", "Subarachnoid haemorrhage", "Tension headache", "Cluster headache")),
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
    *_cut(
        Asked("A 24-year-old man has fever, neck stiffness and photophobia. What is the most likely diagnosis?", ("Migraine", "Bacterial meningitis", "Subarachnoid haemorrhage", "Tension headache", "Cluster headache")),
        ("Let's go through the options one by one.\n\n1. Migraine: usually unilateral and pulsating, without fever", None),
        ("Option A (Migraine): would not explain the fever.\nOption B (Bacterial meningitis): explains fever and", None),
        ("A. Migraine: This would", None),
        ("- A: Migraine\n  Fever is unusual in", None),
        ("The answer is B. Bacterial meningitis presents with fever, neck stiffness and", "B"),
        ("First, fever and neck stiffness point to meningeal irritation. Migraine (A) can cause photophobia but not fever. Subarachnoid haemorrhage (C) begins", None),
    ),
    *_of(
        Asked("What is the next step?", ("CT of the head", "Lumbar puncture", "Give ceftriaxone at once", "Observe for 24 hours")),
        ("B. Scratch that: C, antibiotics must not wait.", "C"),
        ("~~B~~ C", "C"),
        ("The answer is B. Oops, I misread the question. It should be C.", "C"),
        ("Option | Assessment\n--- | ---\nCT of the head | Incorrect\nLumbar puncture | Incorrect\nGive ceftriaxone at once | **Correct**\nObserve for 24 hours | Incorrect", "C"),
        ("so answer c", "C"),
    ),
    *_cut(
        Asked("What is the next step?", ("CT of the head", "Lumbar puncture", "Give ceftriaxone at once", "Observe for 24 hours")),
        ("Considering A first: a CT of the head is needed before puncture if there are focal signs. The patient has", None),
        ("CT of the head: This may be considered when raised intracranial pressure is suspected, but it", None),
        ("To answer this, consider each choice:\n(A) CT of the head – delays treatment\n(B) Lumbar puncture – confirms", None),
    ),
    *_of(
        Asked("Which structures does the phrenic nerve supply?", ("Diaphragm", "Diaphragm, parietal pleura", "Diaphragm, parietal pleura, pericardium", "Pericardium")),
        ("diaphragm.", "A"),
        ("Diaphragm, parietal pleura, pericardium.", "C"),
        ("The diaphragm, the parietal pleura and the pericardium.", "C"),
        ("It supplies the diaphragm and parietal pleura.", "B"),
        ("Pericardium, diaphragm and parietal pleura", "C"),
    ),
    *_cut(
        Asked("Which structures does the phrenic nerve supply?", ("Diaphragm", "Diaphragm, parietal pleura", "Diaphragm, parietal pleura, pericardium", "Pericardium")),
        ("**Option A – Diaphragm**\n\nThe phrenic nerve is the only motor supply of the", None),
    ),
    *_of(
        Asked("All of the following are features of nephrotic syndrome EXCEPT:", ("Heavy proteinuria", "Oedema", "Gross haematuria", "Hypoalbuminaemia")),
        ("| Feature | Part of nephrotic syndrome? |\n|---|---|\n| A. Heavy proteinuria | Yes |\n| B. Oedema | Yes |\n| C. Gross haematuria | No |\n| D. Hypoalbuminaemia | Yes |", "C"),
        ("Gross haematuria is not a feature of nephrotic syndrome.", "C"),
        ("All are features except gross haematuria.", "C"),
        ("C is the exception.", "C"),
        ("A, B and D are features of nephrotic syndrome; C is not.", "C"),
        ("The odd one out is C: it points to nephritic syndrome.", "C"),
    ),
    *_cut(
        Asked("All of the following are features of nephrotic syndrome EXCEPT:", ("Heavy proteinuria", "Oedema", "Gross haematuria", "Hypoalbuminaemia")),
        ("Heavy proteinuria: this is a defining feature, with more than 3.5 g per day. Oedema:", None),
    ),
    *_of(
        Asked("Does metformin lower mortality in type 2 diabetes? Answer yes, no or maybe.", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No answer.", None),
        ("Not enough information to answer.", None),
        ("Yes, of course. Please paste the text of the study and I will answer.", None),
        ("As an AI, I cannot answer yes or no to this question.", None),
        ("Based on the evidence the answer is uncertain, so: maybe.", "maybe"),
        ("There is no doubt that it does: yes.", "yes"),
        ("The trials disagree. I would say maybe.", "maybe"),
    ),
    *_of(
        Asked("Is the wound infected?", ("yes", "no"), "yes_no", has_labels=False),
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
    *_of(
        Asked("Which disturbances are seen in tumour lysis?", ("Hyperkalaemia", "Hyperkalaemia and hyperphosphataemia", "Hyperkalaemia, hyperphosphataemia and hypocalcaemia", "Hypocalcaemia")),
        ("Hyperkalaemia, hyperphosphataemia and hypocalcaemia", "C"),
        ("hyperkalaemia and hyperphosphataemia", "B"),
        ("The disturbances are hyperkalaemia, hyperphosphataemia, and hypocalcaemia.", "C"),
    ),
    *_of(
        Asked("Where is the lesion?", ("liver", "liver, spleen", "spleen", "liver, spleen, kidney"), has_labels=False),
        ("liver", "liver"),
        ("Liver and spleen", "liver, spleen"),
        ("liver, spleen, kidney.", "liver, spleen, kidney"),
        ("The lesions are in the liver, spleen and kidney.", "liver, spleen, kidney"),
    ),
    *_of(
        Asked("How urgent is this letter?", ("urgent", "non-urgent", "routine"), has_labels=False),
        ("Non-urgent.", "non-urgent"),
        ("This letter is urgent.", "urgent"),
        ("not urgent, routine", "routine"),
    ),
    *_of(
        Asked("Which of the following is NOT a side effect of ACE inhibitors?", ("Dry cough", "Angioedema", "Hyperkalaemia", "Hypokalaemia")),
        ("Hypokalaemia is not a side effect; ACE inhibitors raise potassium.", "D"),
        ("D. ACE inhibitors cause hyperkalaemia, not hypokalaemia.", "D"),
        ("Dry cough, angioedema and hyperkalaemia are all known side effects, so the answer is hypokalaemia.", "D"),
        ("Everything but D is a known side effect.", "D"),
    ),
    *_of(
        Asked("Welk geneesmiddel is eerste keus?", ("Warfarine", "Apixaban", "Acetylsalicylzuur", "Clopidogrel")),
        ("Het juiste antwoord is B.", "B"),
        ("Optie B is juist, omdat apixaban minder bloedingen geeft.", "B"),
        ("Ik zou voor apixaban kiezen.", "B"),
        ("Geen antwoord.", None),
        ("Alles behalve A.", None),
    ),
    *_of(
        Asked("Jaki lek jest lekiem pierwszego wyboru?", ("Warfaryna", "Apiksaban", "Kwas acetylosalicylowy", "Klopidogrel")),
        ("Prawidłowa odpowiedź to B.", "B"),
        ("Poprawna jest odpowiedź B, ponieważ apiksaban jest bezpieczniejszy.", "B"),
        ("Wybieram apiksaban.", "B"),
        ("Odpowiedź: C", "C"),
        ("Nie wiem, czy to A, czy B.", None),
    ),
    *_of(
        Asked("Vilket läkemedel är förstahandsval?", ("Warfarin", "Apixaban", "Acetylsalicylsyra", "Klopidogrel")),
        ("Rätt svar är B.", "B"),
        ("Svaret är alternativ B, eftersom apixaban ger färre blödningar.", "B"),
        ("Jag väljer apixaban.", "B"),
        ("Alternativ A är fel. Rätt svar: B", "B"),
        ("Antingen A eller B.", None),
    ),
    *_of(
        Asked("पहली पसंद की दवा कौन सी है?", ("वारफेरिन", "एपिक्साबैन", "एस्पिरिन", "क्लोपिडोग्रेल")),
        ("सही उत्तर B है।", "B"),
        ("उत्तर: B", "B"),
        ("विकल्प B सही है क्योंकि इससे रक्तस्राव कम होता है।", "B"),
        ("मेरा उत्तर एपिक्साबैन है।", "B"),
        ("A गलत है, B सही है।", "B"),
    ),
)


SECOND: Sequence[Written] = (
    *_of(
        Asked("A 58-year-old man has an acutely swollen big toe. Which drug is first line?", ("Colchicine", "Allopurinol", "Febuxostat", "Probenecid")),
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
    *_cut(
        Asked("A 58-year-old man has an acutely swollen big toe. Which drug is first line?", ("Colchicine", "Allopurinol", "Febuxostat", "Probenecid")),
        ("## A. Colchicine\n\nColchicine inhibits microtubules and is used in", None),
        ("1) Colchicine: works in the first 36 hours, and has", None),
        ("Let me think. Allopurinol (B) must not be started during an attack. Febuxostat (C) is the", None),
        ("Correct answer: A. Colchicine\n\nColchicine is given early in an attack, whereas allopurinol", "A"),
    ),
    *_of(
        Asked("A child has fever and a strawberry tongue. What is the diagnosis?", ("Measles", "Scarlet fever", "Rubella", "Chickenpox", "Kawasaki disease")),
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
    *_cut(
        Asked("A child has fever and a strawberry tongue. What is the diagnosis?", ("Measles", "Scarlet fever", "Rubella", "Chickenpox", "Kawasaki disease")),
        ("Measles (option A): a maculopapular rash that starts behind the ears, Koplik", None),
        ("**Option A: Measles**\n* Prodrome with cough\n* Koplik spots\n\n**Option B: Scarlet fever**\n* Strawberry", None),
        ("Step 1: The child has a strawberry tongue, which is seen in scarlet fever and in Kawasaki disease. Step 2:", None),
        ("B. Scarlet fever\n\nExplanation: the strawberry tongue and the sandpaper rash are due to", "B"),
    ),
    *_of(
        Asked("What should be done first?", ("Order an ECG", "Give oxygen", "Call cardiology", "Send the patient home")),
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
    *_cut(
        Asked("What should be done first?", ("Order an ECG", "Give oxygen", "Call cardiology", "Send the patient home")),
        ("A. Order an ECG. This is quick and harmless but does not treat hypoxia, so we look at", None),
        ("We are asked what to do first. Let us weigh the answer choices:\nA: Order an ECG - useful\nB: Give oxygen - if", None),
        ("**Answer: B**\n\nOxygen comes first because the saturation is", "B"),
    ),
    *_of(
        Asked("All of the following increase the risk of deep vein thrombosis, EXCEPT:", ("Immobility", "Pregnancy", "Regular exercise", "Cancer")),
        ("| Factor | Raises the risk? |\n|---|---|\n| A. Immobility | yes |\n| B. Pregnancy | yes |\n| C. Regular exercise | no |\n| D. Cancer | yes |", "C"),
        ("Regular exercise does not increase the risk.", "C"),
        ("Regular exercise, which protects against thrombosis.", "C"),
        ("A, B and D are risk factors. C is not.", "C"),
        ("The exception is regular exercise.", "C"),
        ("All except C increase the risk.", "C"),
        ("Cancer, pregnancy and immobility all increase the risk; regular exercise lowers it. So the answer is C.", "C"),
    ),
    *_cut(
        Asked("All of the following increase the risk of deep vein thrombosis, EXCEPT:", ("Immobility", "Pregnancy", "Regular exercise", "Cancer")),
        ("Immobility – stasis is one of Virchow's factors, so this", None),
    ),
    *_of(
        Asked("Which muscles make up the rotator cuff?", ("Supraspinatus", "Supraspinatus and infraspinatus", "Supraspinatus, infraspinatus, teres minor and subscapularis", "Deltoid")),
        ("supraspinatus", "A"),
        ("Supraspinatus, infraspinatus, teres minor, subscapularis", "C"),
        ("The cuff is made of the supraspinatus, infraspinatus, subscapularis and teres minor.", "C"),
        ("Infraspinatus and supraspinatus", "B"),
        ("It is the supraspinatus, the infraspinatus, the teres minor and the subscapularis", "C"),
    ),
    *_cut(
        Asked("Which muscles make up the rotator cuff?", ("Supraspinatus", "Supraspinatus and infraspinatus", "Supraspinatus, infraspinatus, teres minor and subscapularis", "Deltoid")),
        ("A. Supraspinatus – it initiates abduction, and is", None),
    ),
    *_of(
        Asked("Which vitamins are fat soluble?", ("A, D", "A, D, E, K", "B, C", "E, K")),
        ("A, D, E, K", "B"),
        ("B. A, D, E, K", "B"),
        ("Vitamins A, D, E and K are fat soluble.", "B"),
    ),
    *_cut(
        Asked("Which vitamins are fat soluble?", ("A, D", "A, D, E, K", "B, C", "E, K")),
        ("Looking at each option in turn: A, D: both are", None),
    ),
    *_of(
        Asked("Is this patient eligible for the trial?", ("yes", "no"), "yes_no", has_labels=False),
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
    *_of(
        Asked("Does the trial show that statins prevent stroke? Answer yes, no or maybe.", ("yes", "no", "maybe"), "yes_no", has_labels=False),
        ("No answer provided.", None),
        ("No conclusion can be drawn from this text.", None),
        ("Yes, I am able to read abstracts. Please share the abstract you mean.", None),
        ("I can't say yes or no on the basis of one trial.", None),
        ("It is impossible to give a definite answer.", None),
        ("Yes. No serious harm was seen either.", "yes"),
        ("The result was not significant, hence no.", "no"),
        ("Possibly, the confidence interval is wide: maybe.", "maybe"),
    ),
    *_of(
        Asked("What is the sensitivity of the test?", ("60%", "75%", "90%", "99%")),
        ("{\"answer\": \"90%\"}", "C"),
    ),
    *_of(
        Asked("How severe is the asthma?", ("mild", "moderate", "severe"), has_labels=False),
        ("Mild. Correction: moderate.", "moderate"),
        ("moderately severe", None),
        ("This is a severe attack.", "severe"),
    ),
    *_of(
        Asked("Which organs are affected?", ("lungs", "lungs, kidneys", "kidneys", "skin"), has_labels=False),
        ("lungs and kidneys", "lungs, kidneys"),
        ("Kidneys and lungs.", "lungs, kidneys"),
        ("Only the lungs are affected.", "lungs"),
        ("The disease affects the lungs and the kidneys.", "lungs, kidneys"),
    ),
    *_of(
        Asked("Which of these is not a cause of microcytic anaemia?", ("Iron deficiency", "Thalassaemia", "Vitamin B12 deficiency", "Lead poisoning")),
        ("Vitamin B12 deficiency causes macrocytic anaemia, so C.", "C"),
        ("C is not a cause of microcytic anaemia.", "C"),
        ("Vitamin B12 deficiency is not associated with small red cells.", "C"),
        ("Everything except vitamin B12 deficiency causes it.", "C"),
        ("The odd one out: C", "C"),
    ),
    *_of(
        Asked("Wat is de meest waarschijnlijke diagnose?", ("Mazelen", "Roodvonk", "Waterpokken", "Rodehond")),
        ("Het goede antwoord is B.", "B"),
        ("Antwoord: B", "B"),
        ("De meest waarschijnlijke diagnose is roodvonk.", "B"),
        ("Ik kies B, omdat er een frambozentong is.", "B"),
        ("Ik weet het niet.", None),
    ),
    *_of(
        Asked("Jakie jest najbardziej prawdopodobne rozpoznanie?", ("Odra", "Płonica", "Ospa wietrzna", "Różyczka")),
        ("Poprawna odpowiedź: B", "B"),
        ("Najbardziej prawdopodobne rozpoznanie to płonica.", "B"),
        ("Odpowiedź B jest prawidłowa.", "B"),
        ("Wybieram odpowiedź B.", "B"),
        ("Każda oprócz A.", None),
    ),
    *_of(
        Asked("Vilken är den mest sannolika diagnosen?", ("Mässling", "Scharlakansfeber", "Vattkoppor", "Röda hund")),
        ("Rätt alternativ är B.", "B"),
        ("Den mest sannolika diagnosen är scharlakansfeber.", "B"),
        ("Svar: B", "B"),
        ("B är rätt, eftersom barnet har smultrontunga.", "B"),
        ("Jag kan inte svara.", None),
    ),
    *_of(
        Asked("सबसे संभावित निदान क्या है?", ("खसरा", "स्कार्लेट ज्वर", "चेचक", "रूबेला")),
        ("सही विकल्प B है।", "B"),
        ("उत्तर B है क्योंकि जीभ लाल है।", "B"),
        ("निदान स्कार्लेट ज्वर है।", "B"),
        ("B सही उत्तर है।", "B"),
        ("मुझे नहीं पता।", None),
    ),
)
