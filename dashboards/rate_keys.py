"""Keys for the scales of the page of raters: digits choose, Enter and Tab move on.

Streamlit gives buttons a shortcut each and scales none. This small script runs in the page; it
reads key presses, presses the button of a scale and moves the focus, and sends nothing.
"""

import streamlit as st

SCALE = "ms-scale"
"""How the key of a scale begins, by which the script finds it."""

_SCRIPT = (
    f"""
const SCALES = '[class*="st-key-{SCALE}-"]';
"""
    + """\
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
    const digitOf = (each) => each.innerText.trim().split(' ')[0];
    const button = target && buttons(target).find((each) => digitOf(each) === event.key);
    if (!button) return;
    event.preventDefault();
    if (!isChosen(button)) button.click();
    button.focus();
  } else if (scale && (event.key === 'Enter' || event.key === 'Tab')) {
    if (move(scale, event.shiftKey ? -1 : 1)) { event.preventDefault(); event.stopPropagation(); }
  }
}

let shown;

export default function (component) {
  if (shown !== component.data.item) document.querySelector('.stMain')?.scrollTo(0, 0);
  shown = component.data.item;
  document.addEventListener('keydown', pressed, true);
  return () => document.removeEventListener('keydown', pressed, true);
}
"""
)


def listen_for_digits(item: int) -> None:
    """Have key presses reach the scales, and another item begin at its top.

    Called once in each run of the page.
    """
    mount = st.components.v2.component("rate_keys", html="<span></span>", js=_SCRIPT)
    mount(key="rate-keys", data={"item": item})
