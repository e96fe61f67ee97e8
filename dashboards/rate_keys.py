"""Keys for the scales of the page of raters: digits choose, Enter and Tab move on.

Streamlit gives buttons a shortcut each and scales none. This small script runs in the page; it
reads key presses, presses the button of a scale and moves the focus, and sends nothing.
"""

import streamlit as st

_SCRIPT = """
const SCALES = '[class*="st-key-ms-scale-"]';
const FIELDS = SCALES + ', .stTextArea textarea:not([disabled]), .stNumberInput input';
const buttons = (scale) => [...scale.querySelectorAll('button')];
const isChosen = (button) => button.getAttribute('aria-checked') === 'true';
const focusOf = (field) => field.matches(SCALES)
  ? buttons(field).find(isChosen) ?? buttons(field)[0] : field;

function move(from, step) {
  const fields = [...document.querySelectorAll(FIELDS)];
  const to = fields[fields.indexOf(from) + step];
  if (to) { focusOf(to).focus(); to.scrollIntoView({block: 'nearest'}); }
  return Boolean(to);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = document.activeElement;
  const scale = at?.closest(SCALES);
  if (!scale && at?.matches('input, textarea, [contenteditable]')) return;
  if (/^[0-9]$/.test(event.key)) {
    const open = (each) => !buttons(each).some(isChosen);
    const scales = [...document.querySelectorAll(SCALES)];
    const target = scale ?? scales.find(open);
    const button = target && buttons(target).find((each) => each.innerText.trim() === event.key);
    if (!button) return;
    event.preventDefault();
    if (!isChosen(button)) button.click();
    button.focus();
  } else if (scale && (event.key === 'Enter' || event.key === 'Tab')) {
    if (move(scale, event.shiftKey ? -1 : 1)) { event.preventDefault(); event.stopPropagation(); }
  }
}

export default function () {
  document.addEventListener('keydown', pressed, true);
  return () => document.removeEventListener('keydown', pressed, true);
}
"""


def listen_for_digits() -> None:
    """Have key presses on this page reach the scales; called once in each run of the page."""
    st.components.v2.component("rate_keys", html="<span></span>", js=_SCRIPT)(key="rate-keys")
