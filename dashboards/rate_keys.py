"""Keys for the scales of the page of raters: digits choose, Enter and Tab move on.

Enter passes comments, which can be written only once a choice is stored: "4 Enter 3" chooses for
two answers, however long that takes.

Streamlit gives buttons a shortcut each and scales none. This small script runs in the page; it
reads key presses, presses the button of a scale and moves the focus, and sends nothing.
"""

import streamlit as st

SCALE = "ms-scale"
"""How the key of a scale begins, by which the script finds it."""

_SCRIPT = (
    f"""
const SCALE = '{SCALE}';
"""
    + """\
const buttons = (scale) => [...scale.querySelectorAll('button')];
const isChosen = (button) => button.getAttribute('aria-checked') === 'true';

const TURN_MS = 3000;
// On the window, as Streamlit may load this module again while it draws: one listener, one memory.
// `leftAt`: when an item was left; a digit is then of the item that is to come.
// `current`: the class of the scale that had the focus last. `item`: the item that is shown.
const memory = (window.msRateKeys ??= {leftAt: -TURN_MS});

// Scales of the item that is shown; those of the item before stay until the page is drawn.
const scales = () => `[class*="st-key-${SCALE}-${memory.item}-"]`;

// Streamlit may replace a field while it draws the page anew; the focus is then on the page itself.
function scaleInFocus() {
  const at = document.activeElement ?? document.body;
  if (at === document.body) {
    const last = memory.current && document.querySelector('.' + memory.current);
    return last?.matches(scales()) ? last : null;
  }
  const scale = at.closest(scales());
  const isKey = (name) => name.startsWith('st-key-');
  memory.current = scale ? [...scale.classList].find(isKey) : undefined;
  return scale;
}

function move(from, key, step) {
  const choices = scales() + ', .stNumberInput input';
  const written = ', .stTextArea textarea:not([disabled])';
  const fields = [...document.querySelectorAll(key === 'Enter' ? choices : choices + written)];
  const to = fields[fields.indexOf(from) + step];
  if (!to) return false;
  const field = to.matches(scales()) ? buttons(to).find(isChosen) ?? buttons(to)[0] : to;
  field.focus();
  to.scrollIntoView({block: 'nearest'});
  scaleInFocus();
  return true;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const scale = scaleInFocus();
  if (!scale && document.activeElement?.matches('input, textarea, [contenteditable]')) return;
  if (event.key === 'n' || event.key === 'p') {
    const name = event.key === 'n' ? 'next' : 'previous';
    const isThere = document.querySelector(`.st-key-top-${name} button:enabled`);
    if (isThere) memory.leftAt = event.timeStamp;
  } else if (/^[0-9]$/.test(event.key)) {
    if (event.timeStamp - memory.leftAt < TURN_MS) return;
    const open = (each) => !buttons(each).some(isChosen);
    const target = scale ?? [...document.querySelectorAll(scales())].find(open);
    const digitOf = (each) => each.innerText.trim().split(' ')[0];
    const button = target && buttons(target).find((each) => digitOf(each) === event.key);
    if (!button) return;
    event.preventDefault();
    if (!isChosen(button)) button.click();
    button.focus();
    scaleInFocus();
  } else if (scale && (event.key === 'Enter' || event.key === 'Tab')) {
    if (!move(scale, event.key, event.shiftKey ? -1 : 1)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export default function (component) {
  if (memory.item !== component.data.item) {
    document.querySelector('.stMain')?.scrollTo(0, 0);
    memory.leftAt = -TURN_MS;
  }
  memory.item = component.data.item;
  memory.stop?.();
  document.addEventListener('keydown', pressed, true);
  memory.stop = () => document.removeEventListener('keydown', pressed, true);
}
"""
)


def listen_for_digits(item: int) -> None:
    """Have key presses reach the scales, and another item begin at its top.

    Called once in each run of the page.
    """
    mount = st.components.v2.component("rate_keys", html="<span></span>", js=_SCRIPT)
    mount(key="rate-keys", data={"item": item})
