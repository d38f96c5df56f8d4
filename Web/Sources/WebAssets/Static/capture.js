// The field for capture: shows while a sentence is typed how it is understood.

import { adopt, forget, isPassing, keep, setAside, textOf } from "./outbox.js";
import { button, changed, failureWords, sayNotAdded, submit } from "./requests.js";

// The key of the text in the field of this tab that was not sent yet.
const TYPED = "tally-typed";

export class Capture {
  constructor() {
    this.form = document.getElementById("capture");
    this.field = document.getElementById("capture-text");
    this.understood = document.getElementById("understood");
    this.refusal = document.getElementById("capture-refusal");
    this.asked = 0;
    // A text that was not added and is in the field again. It keeps its place, even if it is edited, and until then its key,
    // because the server may have taken it.
    this.unsent = null;
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.field.blur();
    });
    this.field.addEventListener("blur", () => this.field.value || document.dispatchEvent(new Event("tally-refused")));
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
    // A longer text is not shown; the server reads it when it is sent.
    const isShort = text.trim() && text.length < 2000;
    const response = isShort ? await fetch(`/capture?${new URLSearchParams({ text })}`).catch(() => null) : null;
    const html = response?.ok ? await response.text() : "";
    if (number !== this.asked) return;
    const isLiteral = this.literal?.checked ?? this.unsent?.isLiteral;
    this.understood.innerHTML = html;
    if (this.literal && isLiteral) this.literal.checked = true;
  }

  // The box that keeps a sentence as it is typed; missing until the server has understood the sentence.
  get literal() {
    return this.understood.querySelector("input");
  }

  // Says why the text in the field is not added, and its place if that is not the one of this screen. If the text is
  // not sent again by itself, a button forgets it.
  refuse(words, isFinal = false) {
    const place = this.unsent?.place ?? this.form.elements.place.value;
    const goal = place === this.form.elements.place.value ? "" : `It goes to ${placeName(place)}.`;
    this.refusal.textContent = `${words} ${goal}`.trim();
    if (isFinal) this.refusal.append(" ", button("Discard", () => this.discard()));
    if (words) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }

  // Returns whether there was room for the text.
  remember() {
    try {
      sessionStorage.setItem(TYPED, this.field.value);
      return true;
    } catch {
      return false;
    }
  }

  fill(text) {
    this.field.value = text;
    this.remember();
    this.understand();
  }

  empty() {
    this.field.value = "";
    this.unsent = null;
    this.refuse("");
    clearTimeout(this.timer);
    this.asked += 1;
    this.understood.replaceChildren();
  }

  typed() {
    const isKept = this.remember();
    if (this.unsent && this.unsent.text !== this.field.value) {
      const { name, place, isLiteral } = this.unsent;
      if (name && isKept) forget(name);
      this.unsent = this.field.value ? { place, isLiteral } : null;
    }
    this.refuse("");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.understand(), 60);
  }

  discard() {
    if (this.unsent?.name) forget(this.unsent.name);
    this.empty();
    this.remember();
    this.field.focus();
  }

  // Adds the text in the field, which is free for the next one at once.
  async add() {
    const text = this.field.value;
    if (!text.trim()) return;
    const { key = crypto.randomUUID(), place, isLiteral } = this.unsent ?? {};
    const fields = new FormData(this.form);
    fields.set("key", key);
    if (place) fields.set("place", place);
    if (isLiteral && !this.literal) fields.set("literal", "yes");
    const [name, form] = [`capture-${key}`, { path: "/capture", fields: [...fields] }];
    const isKept = keep(name, form);
    this.empty();
    if (isKept) this.remember();
    this.field.focus();
    const outcome = await submit(form.path, fields, name);
    if (outcome.status !== 200) return this.putBack(name, form, outcome);
    forget(name);
    this.remember();
    changed(outcome.answer);
  }

  // Puts a text that was not added back into the field, unless the next one is already there.
  putBack(name, form, outcome) {
    const words = failureWords(outcome);
    setAside(name, outcome, words, form);
    if (!this.field.value) this.put(name, form, words, !isPassing(outcome));
    else sayNotAdded(name, textOf(form), outcome);
  }

  put(name, form, words, isFinal) {
    if (isFinal) adopt(name);
    const body = new URLSearchParams(form.fields);
    const [text, key, place] = ["text", "key", "place"].map((field) => body.get(field));
    this.unsent = { name, text, key, place, isLiteral: body.get("literal") === "yes" };
    this.understood.replaceChildren();
    this.fill(text);
    this.refuse(`Not added. ${words}`, isFinal);
  }

  // Takes a refused text, unless another one is in the field or may be typed now.
  take(name, form) {
    if (form.path !== "/capture" || (this.unsent && this.unsent.name !== name)) return false;
    const isFree = this.field.value ? this.field.value === textOf(form) : document.activeElement !== this.field;
    if (isFree) this.put(name, form, form.refusal, true);
    return isFree;
  }

  // The text in the field got no answer, but has been added by now.
  sent(body) {
    if (body.get("text") !== this.field.value) return;
    this.empty();
    this.remember();
  }
}

// The name of a place on the screens.
function placeName(place) {
  if (place.startsWith("tag:")) return `#${place.slice("tag:".length)}`;
  const names = { inbox: "Inbox", today: "Today", upcoming: "Tomorrow" };
  const list = document.querySelector(`#places [data-drop="${CSS.escape(place)}"] bdi`);
  return names[place] ?? list?.textContent ?? "a list that does not exist any more";
}
