// The field for capture: shows what a sentence is understood as while it is typed.

import { forget, isPassing, keep, setAside } from "./outbox.js";
import { button, changed, failureWords, show, submit } from "./requests.js";

// The key of the text in the field of this tab that was not sent yet.
const TYPED = "tally-typed";

export class Capture {
  constructor() {
    this.form = document.getElementById("capture");
    this.field = document.getElementById("capture-text");
    this.understood = document.getElementById("understood");
    this.refusal = document.getElementById("capture-refusal");
    this.asked = 0;
    // A text that was not added and is in the field again; it keeps its key, because the server may have taken it.
    this.unsent = null;
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.field.blur();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.add();
    });
    document.addEventListener("tally-sent", ({ detail }) => this.sent(detail));
    const typed = sessionStorage.getItem(TYPED);
    if (typed && !this.field.value) this.fill(typed);
  }

  async understand() {
    const number = ++this.asked;
    const text = this.field.value;
    // Longer than a sentence: the server understands it when it is sent.
    const isShort = text.trim() && text.length < 2000;
    const response = isShort ? await fetch(`/capture?${new URLSearchParams({ text })}`).catch(() => null) : null;
    const html = response?.ok ? await response.text() : "";
    if (number !== this.asked) return;
    const isLiteral = this.understood.querySelector("input")?.checked;
    this.understood.innerHTML = html;
    const box = this.understood.querySelector("input");
    if (box && isLiteral) box.checked = true;
  }

  // Says why the text in the field is not added; if it is not sent again by itself, with a button that forgets it.
  refuse(words, isFinal = false) {
    this.refusal.textContent = words;
    if (isFinal) this.refusal.append(" ", button("Discard", () => this.discard()));
    if (words) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }

  remember() {
    sessionStorage.setItem(TYPED, this.field.value);
  }

  fill(text) {
    this.field.value = text;
    this.remember();
    this.understand();
  }

  empty() {
    this.field.value = "";
    this.remember();
    this.refuse("");
    clearTimeout(this.timer);
    this.asked += 1;
    this.understood.replaceChildren();
  }

  typed() {
    this.refuse("");
    this.remember();
    if (this.unsent && this.unsent.text !== this.field.value) {
      forget(this.unsent.name);
      this.unsent = null;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.understand(), 60);
  }

  discard() {
    if (this.unsent) forget(this.unsent.name);
    this.unsent = null;
    this.empty();
    this.field.focus();
  }

  // Adds the text in the field, which is free for the next one at once.
  async add() {
    const fields = new FormData(this.form);
    const text = this.field.value;
    if (!text.trim()) return;
    const key = this.unsent?.key ?? crypto.randomUUID();
    this.unsent = null;
    fields.set("key", key);
    this.empty();
    this.field.focus();
    const outcome = await submit("/capture", fields, `capture-${key}`);
    if (outcome.status !== 200) return this.putBack(text, key, outcome);
    forget(`capture-${key}`);
    changed(outcome.answer);
  }

  // Puts a text that was not added back into the field, unless the next one is already there.
  putBack(text, key, outcome) {
    const name = `capture-${key}`;
    const words = failureWords(outcome);
    setAside(name, outcome, words);
    if (this.field.value) return show(`Not added yet: “${text.slice(0, 60)}”. ${words}`, null, true);
    this.field.value = text;
    this.remember();
    this.unsent = { text, key, name };
    this.refuse(`Not added. ${words}`, !isPassing(outcome));
  }

  // Takes a text of an earlier page that the server has refused, unless another one is in the field or may be typed now.
  take(name, form) {
    const [text, key] = ["text", "key"].map((field) => new URLSearchParams(form.fields).get(field));
    const isFree = this.field.value ? this.field.value === text : document.activeElement !== this.field;
    if (form.path !== "/capture" || !form.refusal || !isFree) return false;
    keep(name, { ...form, isGivenUp: false });
    this.fill(text);
    this.unsent = { text, key, name };
    this.refuse(`Not added. ${form.refusal}`, true);
    return true;
  }

  // The text in the field got no answer, but has been added by now.
  sent(body) {
    if (body.get("text") !== this.field.value) return;
    this.unsent = null;
    this.empty();
  }
}
