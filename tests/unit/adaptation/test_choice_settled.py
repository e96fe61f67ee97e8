"""What a text settles on, read by general principles, in words that are in no set of replies."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_among, options_of

DRUGS = {"A": "Digoxin", "B": "Furosemide", "C": "Warfarin", "D": "Amiodarone"}
BUGS = {
    "A": "Klebsiella pneumoniae",
    "B": "Proteus mirabilis",
    "C": "Listeria monocytogenes",
    "D": "Shigella sonnei",
}
TESTS = {
    "A": "Bronchoscopy",
    "B": "Sputum cytology",
    "C": "Ventilation perfusion scan",
    "D": "Pleural biopsy",
}


def drug(text: str, question: str = "Which drug?") -> str | None:
    return read_choice(text, options_of(DRUGS), question=question)


def among(text: str, *classes: str) -> str | None:
    return read_choice(text, options_among(classes))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Sign me up for B.", "B"),
        ("My vote, hesitantly, lands on C.", "C"),
        ("All roads end at D.", "D"),
        ("The rate matters most in this man, hence I'd reach for amiodarone.", "D"),
        ("We would ordinarily begin here with furosemide.", "B"),
        ("I'd cautiously put down warfarin.", "C"),
        ("Her lungs are full of water ∴ B", "B"),
        ("Congestion ⇒ loop diuretic ⇒ B.", "B"),
        ("Put simply, this man's choice is digoxin.", "A"),
        ("Let's book furosemide and recheck the weight.", "B"),
        ("In the end the chart can only mean C.", "C"),
        ("Rhythm first. Everything leads to D.", "D"),
    ],
)
def test_any_words_of_choosing_choose_where_their_clause_ends_in_one_option(
    text: str, label: str
) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Digoxin would have been fine in 1980. Today I'd hand out D.", "D"),
        ("Some would reach for A. My pen writes C.", "C"),
        ("Had he been anuric, A would do. As he is not, my money goes on B.", "B"),
        ("Although A slows the rate, my script reads D.", "D"),
        ("I first wrote A. The oedema makes me hand out B.", "B"),
        ("Unlike digoxin, the one for me is B.", "B"),
        ("Never digoxin here, never warfarin: my hand goes to B.", "B"),
        ("Whether A helps is unknown, so my order reads C.", "C"),
        ("Most people would say A, yet my own order is D.", "D"),
        ("Forget A. The patient gets B.", "B"),
        ("There's no doubt at all: the script says C.", "C"),
    ],
)
def test_what_others_say_or_what_is_denied_passes_and_the_last_choice_counts(
    text: str, label: str
) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    "text",
    [
        "If the potassium is low, I'd hand out A.",
        "One might reach for A.  Others for B.",
        "Sign me up for B or C.",
        "Sign me up for B. Then again, D may be as good.",
        "Never furosemide.",
        "Digoxin blocks a pump in the heart.",
        "Is it C?",
        "Sign me up for B. On the other hand I can't settle on any of these.",
        "Not A, not C.",
        "B would do in children.",
        "A slows the heart. B makes water. C thins the blood. D lasts for weeks.",
        "Please send the chart, then I can say whether B is needed.",
    ],
)
def test_what_is_conditional_open_or_only_discussed_chooses_nothing(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A, C and D can't help with water. Only one is left.", "B"),
        ("Digoxin is wrong, warfarin is wrong, amiodarone is wrong. The remaining one it is.", "B"),
        ("It isn't A. It isn't B. It isn't C. That leaves a single one.", "D"),
        ("A – slow ✗\nB – weak ✗\nD – toxic ✗\nJust one survives.", "C"),
        ("I'd hand out warfarin here; A is useless, B is useless, D isn't safe.", "C"),
        ("Digoxin fails, furosemide fails and amiodarone fails, leaving only one.", "C"),
    ],
)
def test_the_option_that_is_left_is_read_where_the_text_says_that_one_is(
    text: str, label: str
) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A, B and D are all given for the heart's rhythm or pump.", "C"),
        ("Digoxin, warfarin and amiodarone share a narrow range.", "B"),
        ("B, C and D may well be taken with food, all three.", None),
        ("You'll find A, C and D in every list.", "B"),
    ],
)
def test_the_exception_is_the_option_beside_all_others_that_stand_together(
    text: str, label: str | None
) -> None:
    assert drug(text, "All of these are so EXCEPT which one?") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("has to be the third one", "C"),
        ("I'd circle the last option.", "D"),
        ("My tick goes to option number two.", "B"),
        ("The second. It drains water.", "B"),
        ("Hmm, choice no. 4, I reckon", "D"),
        ("So my pencil marks the first answer.", "A"),
        ("it ain't the pump drug, therefore the last one", "D"),
        ("Let's pick the third of these.", "C"),
        ("not the first one", None),
        ("If pushed, option no. 2", "B"),
    ],
)
def test_an_option_is_called_by_its_place(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("amio for sure", "D"),
        ("a washing for cytology", "B"),
        ("the scan of perfusion", "C"),
        ("bronch, quick and easy", "A"),
        ("I'd biopsy her pleura.", "D"),
        ("cytological work-up of what she coughs up", "B"),
        ("VPS", "C"),
        ("take a look down there, bronchoscopic of course", "A"),
        ("Not the biopsy.", None),
        ("non-pleural", None),
        ("perfusion or cytology", None),
        ("CT, then we talk", None),
    ],
)
def test_a_word_that_no_other_option_has_tells_an_option(text: str, label: str | None) -> None:
    options = options_of(DRUGS if text.startswith("amio") else TESTS)
    assert read_choice(text, options, question="What next?") == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is K. pneumoniae.", "A"),
        ("The most likely germ is P. mirabilis.", "B"),
        ("It must be L. monocytogenes.", "C"),
        ("S. sonnei, since several children fell ill.", "D"),
        ("I suspect P. mirabilis because of the stones.", "B"),
    ],
)
def test_a_species_is_named_by_its_shortened_genus(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(BUGS)) == label


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("I'd call this stage three.", "Stage III"),
        ("This corresponds to stage 2.", "Stage II"),
        ("Final answer: stage four", "Stage IV"),
        ("It is stage one.", "Stage I"),
    ],
)
def test_numerals_are_read_in_any_form(text: str, result: str) -> None:
    assert among(text, "Stage I", "Stage II", "Stage III", "Stage IV") == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("The film shows that fracture is present.", "fracture present"),
        ("Hence fracture was absent.", "fracture absent"),
        ("We conclude that the fracture is absent.", "fracture absent"),
    ],
)
def test_a_class_of_a_noun_and_a_state_may_stand_as_a_sentence(text: str, result: str) -> None:
    assert among(text, "fracture present", "fracture absent") == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Filed as routine.", "routine"),
        ("It would have been urgent last week; today it is coded as soon.", "soon"),
        ("Tone: soon (a callback within days).", "soon"),
        ("He's beyond routine and not yet urgent. => soon", "soon"),
        (
            "Not routine, but nobody dies of it either, so urgent is wrong. Put it under soon.",
            "soon",
        ),
        ("Had there been fever, urgent; as it stands the slot is routine.", "routine"),
        ("Either urgent or soon.", None),
        ("The mail asks whether urgent is right.", None),
        ("Filed as urgent or soon.", None),
    ],
)
def test_a_class_is_read_by_what_its_clause_says_of_the_case(text: str, result: str | None) -> None:
    assert among(text, "urgent", "soon", "routine") == result


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Her block is of the sinoatrial kind.", "C"),
        ("This is a block, in a complete form.", "D"),
        ("It's a block.", "A"),
        ("A block, and not a complete one.", "A"),
    ],
)
def test_the_wider_option_counts_whose_words_all_stand_in_the_sentence(
    text: str, label: str
) -> None:
    blocks = {"A": "Block", "B": "Bundle block", "C": "Sinoatrial block", "D": "Complete block"}
    assert read_choice(text, options_of(blocks)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Not really sure, but D?", "D"),
        ("Hmm, perhaps C?", "C"),
        ("I think it could be warfarin.", "C"),
        ("No certainty without a level. Pressed for one, B: he is wet.", "B"),
        ("This might well be B.", "B"),
        ("Should it be D?", None),
        ("It might be B, it might be C.", None),
        ("I could see B, unless he is dry.", "B"),
        ("Could be A. Could be D.", None),
        ("C may do. One can't rule out B.", None),
        ("It could be D, and A is not excluded.", None),
        ("Perhaps you can tell me more about B?", None),
    ],
)
def test_a_hedged_option_counts_where_it_is_the_only_one(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is (C) Warf", "C"),
        ("My final answer is B. Furos", "B"),
        ("The correct option is D) Amiod", "D"),
        ("The answer is (C) Furos", None),
    ],
)
def test_an_option_that_was_cut_behind_its_label_is_read(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(DRUGS), is_cut=True) == label


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{"grades": {"soft": false, "firm": true, "hard": false}}', "firm"),
        ('{"of": {"soft": true, "firm": false, "hard": false}}', "soft"),
        ('{"grades": {"soft": true, "firm": true, "hard": false}}', None),
        ('{"rejected": {"soft": false, "firm": true, "hard": false}}', None),
    ],
)
def test_an_object_that_marks_all_options_is_read_whatever_its_name(
    text: str, result: str | None
) -> None:
    assert among(text, "soft", "firm", "hard") == result


PAINS = {"A": "Appendicitis", "B": "Ectopic pregnancy", "C": "Ovarian torsion", "D": "Renal colic"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I'd rather not say; ectopic pregnancy and torsion both need an urgent scan.", None),
        ("Ectopic pregnancy must be excluded first, then torsion.", None),
        ("In women of this age one always thinks of ectopic pregnancy.", None),
        ("Her sister had an ectopic pregnancy.", None),
        ("The patient worries about appendicitis.", None),
        ("Previously she was treated for renal colic.", None),
        ("You asked about B, which I can't judge.", None),
        ("Torsion can be mistaken for appendicitis.", None),
        ("A pregnancy test would tell.", None),
        ("It's a toss-up between A and C.", None),
        ("Gut feeling: ectopic until proven otherwise.", "B"),
        ("Sounds like a twisted ovary, i.e. torsion.", "C"),
        ("Colic it is.", "D"),
        ("I keep coming back to B.", "B"),
        ("Everything fits torsion.", "C"),
        ("My reading: appendicitis, though torsion can't be ruled out.", "A"),
    ],
)
def test_an_option_that_a_text_is_only_about_is_not_chosen(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(PAINS), question="What is it?") == label
