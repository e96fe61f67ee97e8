"""Which option a text chooses among options that are easily mixed up, and in more languages."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_of

DRUGS = {"A": "Ceftriaxone", "B": "Nitrofurantoin", "C": "Doxycycline", "D": "Vancomycin"}
DOSES = {"A": "0.5 mg", "B": "1 mg", "C": "10 mg", "D": "None of the above"}
HEPATITIS = {letter: f"Hepatitis {letter}" for letter in "ABCD"}
NUMBERED = {"1": "Yes", "2": "No"}
TEN = {
    "A": "Iron deficiency",
    "B": "Thalassemia",
    "C": "B12 deficiency",
    "D": "Anemia of chronic disease",
    "E": "Sideroblastic anemia",
    "F": "Hemolysis",
    "G": "Aplastic anemia",
    "H": "Folate deficiency",
    "I": "Myelodysplasia",
    "J": "Blood loss",
}

OF_DRUGS = [
    (
        "### Analysis\n- **A. Ceftriaxone**: for pyelonephritis.\n- **B. Nitrofurantoin**: "
        "first line in pregnancy.\n- **C. Doxycycline**: contraindicated.\n- **D. "
        "Vancomycin**: no.\n\n### Conclusion\nThe best treatment for this patient is **B. "
        "Nitrofurantoin**.",
        "B",
    ),
    ("**Nitrofurantoin (Option B)** is the best choice because...", "B"),
    ("The best choice is **Nitrofurantoin**.", "B"),
    (
        "**B. Nitrofurantoin**\n\n**Explanation:**\n\n1. ...\n2. A (Ceftriaxone) is used "
        "IV...\n3. C (Doxycycline) is contraindicated in pregnancy.",
        "B",
    ),
    ("The correct answer is:\n\n**B: Nitrofurantoin**\n\nThis is because...", "B"),
    ("Answer: B. Nitrofurantoin\nRationale: The others are wrong.", "B"),
    ("Step 1: ...\nStep 2: ...\nStep 3: Choose the answer.\nThe answer is (B)", "B"),
    ("Based on the information, B is the most appropriate choice.", "B"),
    ("Nitrofurantoin is the best treatment for this patient.", "B"),
    ("The best treatment for this patient is nitrofurantoin.", "B"),
    ("Treatment: Nitrofurantoin", "B"),
    ("Correct answer is: B) Nitrofurantoin.", "B"),
    (
        "The answer is B) Nitrofurantoin. Explanation: A) Ceftriaxone is given for..., "
        "C) Doxycycline..., D) Vancomycin ...",
        "B",
    ),
    ('{\n"answer": "B",\n"explanation": "Option A is the best for pyelonephritis"\n}', "B"),
    ('{"answer":"B. Nitrofurantoin"}', "B"),
    ('The correct answer is "B".', "B"),
    (
        "Let me work through this. A is incorrect because it is IV. C is "
        "contraindicated. D is not used. That leaves B.",
        "B",
    ),
    ("We can rule out A, C and D. Therefore the answer is B.", "B"),
    ("We can rule out A, C and D.", None),
    ("The patient has a urinary tract infection and should be treated.", None),
    ("Consult a physician.", None),
    ("Ceftriaxone or nitrofurantoin would both be reasonable.", None),
    ("Ceftriaxone would be reasonable, but nitrofurantoin is the best choice.", "B"),
    ("Although ceftriaxone (A) is effective, the best answer is nitrofurantoin (B).", "B"),
    ("Não é A. A resposta é B.", "B"),
    ("Resposta: B) Nitrofurantoína", "B"),
    ("Respuesta correcta: b)", "B"),
    ("La opción correcta es la B", "B"),
    ("La bonne réponse est la B.", "B"),
    ("La risposta corretta è B.", "B"),
    ("Richtig ist Antwort B.", "B"),
    ("Die Antwort lautet B.", "B"),
    ("正确答案：B. Nitrofurantoin", "B"),
    ("选B", "B"),
    ("答案选B。", "B"),
    ("我选择 B", "B"),
    ("الإجابة: B", "B"),
    ("الإجابة الصحيحة هي B", "B"),
    ("Đáp án: B", "B"),
    ("Odpowiedź: B", "B"),
    ("Svar: B", "B"),
    ("Antwoord: B", "B"),
    ("Jawaban: B", "B"),
    ("Cevap: B", "B"),
    ("B\n\n---\n\nLet me know if you need more.", "B"),
    (
        "Okay, so I need to figure out this question. ... I think it's B. Wait, maybe A? "
        "No, in pregnancy B is better. So the answer is B.",
        "B",
    ),
    ("I initially considered B. However, on reflection, the answer should be C.", "C"),
    ("Correct answer: **B**\n\nIncorrect answers: A, C, D", "B"),
    ("Answer: B\n\nWhy not the others?\nA: ...\nC: ...\nD: ...", "B"),
    ("Answer: B\nA) ...\nC) ...", "B"),
    ("Q: What drug?\nA: B", None),
    ("User: which?\nAssistant: The answer is B.", "B"),
    ("Answer:", None),
    ("Answer: \n\n", None),
    ("Answer: ?", None),
    ("The answer is (A/B).", None),
    ("Options A and B", None),
    ("Answer: A, B, C", None),
    ("Answer: (A) and (B)", None),
    ("Answer: A and/or B", None),
]
OF_DOSES = [
    ("10 mg", "C"),
    ("1 mg", "B"),
    ("The dose is 1 mg.", "B"),
    ("None of the above.", "D"),
    ("D. None of the above", "D"),
    ("The answer is 10 mg daily.", "C"),
    ("The correct dose is 0.5 mg.", "A"),
    ("5 mg", None),
]
OF_HEPATITIS = [
    ("Hepatitis B", "B"),
    ("The answer is Hepatitis B.", "B"),
    ("The answer is B.", "B"),
    ("B. Hepatitis B", "B"),
    ("B) Hepatitis B is the most likely.", "B"),
    ("The patient has hepatitis B.", "B"),
    ("Hepatitis B and C are both possible", None),
    ("Could be hepatitis A or hepatitis B", None),
]
OF_NUMBERED = [
    ("1", "1"),
    ("2. No", "2"),
    ("Yes", "1"),
    ("The answer is 2", "2"),
    ("Answer: 2 (No)", "2"),
]
OF_TEN = [
    ("I", "I"),
    ("The answer is I.", "I"),
    ("(I)", "I"),
    ("I. Myelodysplasia", "I"),
    ("Answer: I", "I"),
    ("I am not sure.", None),
    ("I would say this is complex.", None),
    ("I would answer C.", "C"),
    ("I choose C", "C"),
    ("The most likely diagnosis is iron deficiency.", "A"),
    (
        "This patient has microcytic anemia with low ferritin. The most likely diagnosis "
        "is iron deficiency anemia. The answer is A.",
        "A",
    ),
    ("So the answer is **(J) Blood loss**", "J"),
]
CASES = [
    *[(DRUGS, *case) for case in OF_DRUGS],
    *[(DOSES, *case) for case in OF_DOSES],
    *[(HEPATITIS, *case) for case in OF_HEPATITIS],
    *[(NUMBERED, *case) for case in OF_NUMBERED],
    *[(TEN, *case) for case in OF_TEN],
]


@pytest.mark.parametrize(
    ("options", "text", "label"), CASES, ids=[repr(text)[:60] for _, text, _ in CASES]
)
def test_a_text_chooses_one_or_none(options: dict[str, str], text: str, label: str | None) -> None:
    assert read_choice(text, options_of(options)) == label
