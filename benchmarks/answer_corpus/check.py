"""The part of the corpus that is kept from whoever works on the reader of answers."""

QUESTIONS = ()
TEMPLATES = ()
