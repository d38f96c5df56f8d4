// The field for capture: shows what a sentence is understood as while it is typed.

import { forget, giveUp, isPassing } from "./outbox.js";
import { changed, failureWords, show, submit } from "./requests.js";

// The key of the text in the field of this tab that was not sent yet.
const TYPED = "tally-typed";

export function startCapture() {
  const form = document.getElementById("capture");
  const field = document.getElementById("capture-text");
  const understood = document.getElementById("understood");
  const refusal = document.getElementById("capture-refusal");
  let asked = 0;
  let timer;
  // A text that got no answer and is in the field again; it keeps its key, because the server may have taken it.
  let unsent = null;

  async function understand() {
    const number = ++asked;
    const text = field.value;
    // Longer than a sentence: the server understands it when it is sent.
    const isShort = text.trim() && text.length < 2000;
    const response = isShort ? await fetch(`/capture?${new URLSearchParams({ text })}`).catch(() => null) : null;
    const html = response?.ok ? await response.text() : "";
    if (number !== asked) return;
    const isLiteral = understood.querySelector("input")?.checked;
    understood.innerHTML = html;
    const box = understood.querySelector("input");
    if (box && isLiteral) box.checked = true;
  }

  function refuse(words) {
    refusal.textContent = words;
    if (words) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  function remember() {
    sessionStorage.setItem(TYPED, field.value);
  }

  // Puts a text that was not added back into the field, unless the next one is already there.
  function putBack(text, key, outcome) {
    const name = `capture-${key}`;
    if (isPassing(outcome)) giveUp(name);
    if (field.value) return show(`Not added yet: “${text}”. ${failureWords(outcome)}`, null, true);
    field.value = text;
    remember();
    if (isPassing(outcome)) unsent = { text, key, name };
    else forget(name);
    if (outcome.status !== null) refuse(`Not added. ${failureWords(outcome)}`);
  }

  field.addEventListener("input", () => {
    refuse("");
    remember();
    if (unsent && unsent.text !== field.value) {
      forget(unsent.name);
      unsent = null;
    }
    clearTimeout(timer);
    timer = setTimeout(understand, 60);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // At once, so that the next task can be typed.
    const fields = new FormData(form);
    const text = field.value;
    if (!text.trim()) return;
    const key = unsent?.key ?? crypto.randomUUID();
    unsent = null;
    fields.set("key", key);
    field.value = "";
    remember();
    refuse("");
    clearTimeout(timer);
    asked += 1;
    understood.replaceChildren();
    field.focus();
    const outcome = await submit("/capture", fields, `capture-${key}`);
    if (outcome.status !== 200) return putBack(text, key, outcome);
    forget(`capture-${key}`);
    changed(outcome.answer);
  });
  // The text in the field got no answer, but has been added by now.
  document.addEventListener("tally-sent", ({ detail }) => {
    if (detail.get("text") !== field.value) return;
    field.value = "";
    unsent = null;
    remember();
    refuse("");
  });

  const typed = sessionStorage.getItem(TYPED);
  if (typed && !field.value) {
    field.value = typed;
    understand();
  }
}
