// A task's sheet: a field is saved when it is left, and what is typed is kept until it is saved. Sub-tasks are added one after
// the other. Nothing is lost, however the sheet is left.

import { editedFields, isEdited } from "./morph.js";
import { deliver, flush, forget, isPassing, keep, kept, orphans, setAside } from "./outbox.js";
import { button, changed, failureWords, hideNotice, show, submit } from "./requests.js";

const LONGEST_QUIET_MILLISECONDS = 400;

export class Sheet {
  constructor(form) {
    this.form = form;
    // Not `form.action`: buttons have that name, too.
    this.path = form.getAttribute("action");
    this.task = form.dataset.task;
    // Fields whose text is being saved, with the form that was sent.
    this.saving = new Map();
    // Fields with the text that the server has refused: it is sent again only if the person says so.
    this.refused = new Map();
    // Fields whose text the browser has no room to keep until it is saved.
    this.unkept = new Set();
    this.adding = 0;
    form.addEventListener("input", ({ target }) => this.typed(target));
    form.addEventListener("focusout", ({ target }) => this.fields().includes(target) && this.save([target]));
    // A choice is complete at once, so it is saved before the field is left.
    form.addEventListener("change", ({ target }) => target.matches("#fields select") && this.save([target]));
    form.addEventListener("submit", (event) => this.submit(event));
    form.addEventListener("keydown", (event) => this.key(event));
    addEventListener("pagehide", () => this.leaving());
    addEventListener("beforeunload", (event) => this.unkept.size && event.preventDefault());
    addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.save());
    document.addEventListener("tally-sent", ({ detail }) => this.sent(detail));
    const typed = kept(this.typedName);
    if (typed && !this.subtask.value) this.takeSubtask(typed.text, typed.refusal);
  }

  get subtask() {
    // Undefined if a search has replaced the sheet.
    return this.form.elements.subtask;
  }

  // The name under which the sub-task that is being typed is kept.
  get typedName() {
    return `${this.task}-typed`;
  }

  fields() {
    return [...this.form.querySelectorAll("#fields :is(input:not([type=hidden]), textarea, select)")];
  }

  stamp(field) {
    return this.form.elements[`was-${field.name}`];
  }

  keptName(field) {
    return `${this.task}-${field.name}`;
  }

  // The form that saves fields.
  body(fields) {
    const body = [["key", crypto.randomUUID()]];
    for (const field of fields) body.push([field.name, field.value], [`was-${field.name}`, this.stamp(field).value]);
    return body;
  }

  typed(field) {
    this.wasRefused = false;
    if (field === this.subtask) {
      Sheet.clear(field);
      // The text that got no answer has been changed: it is another one now.
      if (this.unadded && this.unadded.title !== field.value) {
        forget(this.unadded.name);
        this.unadded = null;
      }
      if (field.value) keep(this.typedName, { text: field.value });
      else forget(this.typedName);
    } else if (this.fields().includes(field)) {
      Sheet.clear(field);
      this.refused.delete(field);
      this.draft(field);
    }
  }

  // Keeps the text of a field in case the page ends before it is saved.
  draft(field) {
    this.unkept.delete(field);
    if (!isEdited(field)) return forget(this.keptName(field));
    const form = { path: this.path, fields: this.body([field]), former: this.saving.get(field) };
    if (!keep(this.keptName(field), form)) this.unkept.add(field);
  }

  // --- Saving

  isUnsaved(field) {
    return isEdited(field) && this.refused.get(field) !== field.value;
  }

  // Saves what was edited, except what was refused; returns whether nothing is left to save.
  async save(fields = this.fields()) {
    const edited = fields.filter((field) => this.isUnsaved(field) && !this.saving.has(field));
    if (edited.length) await this.send(edited);
    while (fields.some((field) => this.saving.has(field))) await new Promise((resolve) => setTimeout(resolve, 20));
    return !fields.some(isEdited);
  }

  async send(fields) {
    const sent = new Map(fields.map((field) => [field.name, field.value]));
    for (const field of fields) {
      this.draft(field);
      this.saving.set(field, this.body([field]));
    }
    this.tell();
    const outcome = await submit(this.path, this.body(fields));
    for (const field of fields) this.saving.delete(field);
    this.tell();
    if (outcome.status === 200) {
      for (const saved of outcome.answer.fields ?? []) this.saved(saved, sent.get(saved.name));
      if (outcome.answer.change) changed(outcome.answer);
      else document.dispatchEvent(new Event("tally-changed"));
    } else await this.refuse(fields, outcome, sent);
    // Fields that were edited again, and left, while their text was being saved.
    const left = fields.filter((field) => isEdited(field) && field.value !== sent.get(field.name) && document.activeElement !== field);
    if (left.length) await this.send(left);
  }

  // Notes that a field is in the store; what was typed into it meanwhile stays.
  saved({ name, text, stamp }, sent) {
    const field = this.form.elements[name];
    this.stamp(field).defaultValue = stamp;
    Sheet.clear(field);
    if (field.matches("select")) for (const option of field.options) option.defaultSelected = option.value === text;
    else {
      const typed = field.value;
      field.defaultValue = text;
      field.value = typed === sent ? text : typed;
    }
    this.draft(field);
  }

  // Says beside each refused field why it is not saved, and saves the others.
  async refuse(fields, outcome, sent) {
    const conflicts = outcome.answer?.conflicts ?? [];
    const names = conflicts.length ? conflicts.map((conflict) => conflict.name) : [outcome.answer?.field];
    const refused = fields.filter((field) => names.includes(field.name));
    for (const field of refused.length ? refused : fields) {
      const conflict = conflicts.find((conflict) => conflict.name === field.name);
      const isFinal = !isPassing(outcome);
      if (isFinal) this.keepRefused(field, sent.get(field.name), outcome);
      if (conflict) this.askAbout(field, conflict);
      else this.explain(field, `Not saved. ${failureWords(outcome)}`, isFinal);
    }
    const others = fields.filter((field) => !refused.includes(field) && isEdited(field));
    if (refused.length && others.length) await this.send(others);
  }

  // Keeps a refused text with the words; what was typed meanwhile is another text.
  keepRefused(field, text, outcome) {
    if (field.value !== text) return this.draft(field);
    this.refused.set(field, text);
    setAside(this.keptName(field), outcome, failureWords(outcome));
  }

  // Says beside a field why its text was not taken; if it is not sent again by itself, with a button that forgets it.
  explain(field, words, isFinal) {
    const box = Sheet.say(field, words);
    if (isFinal) box.append(" ", button("Discard", () => this.discard(field)));
  }

  discard(field) {
    if (field.matches("select")) for (const option of field.options) option.selected = option.defaultSelected;
    else field.value = field.defaultValue;
    this.typed(field);
    field.focus();
    document.dispatchEvent(new Event("tally-changed"));
  }

  // The field was changed elsewhere, too: the person decides.
  askAbout(field, { name, text, stamp, shown }) {
    const box = Sheet.say(field, `Not saved: this was changed elsewhere, to “${(shown || "nothing").slice(0, 400)}”.`);
    const saveMine = () => {
      this.stamp(field).defaultValue = stamp;
      this.refused.delete(field);
      this.save([field]);
    };
    const takeThat = () => {
      field.value = text;
      this.saved({ name, text, stamp }, text);
      document.dispatchEvent(new Event("tally-changed"));
    };
    box.append(" ", button("Save mine", saveMine), " ", button("Take that", takeThat));
  }

  static say(field, words) {
    Sheet.clear(field);
    const box = document.createElement("span");
    box.className = "refusal";
    box.id = `${field.id}-refusal`;
    box.setAttribute("role", "alert");
    box.textContent = words;
    field.after(box);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", `${box.id} ${field.getAttribute("aria-describedby") ?? ""}`.trim());
    return box;
  }

  static clear(field) {
    const box = document.getElementById(`${field.id}-refusal`);
    if (!box) return;
    box.remove();
    field.removeAttribute("aria-invalid");
    const others = field.getAttribute("aria-describedby").split(" ").filter((id) => id !== box.id).join(" ");
    if (others) field.setAttribute("aria-describedby", others);
    else field.removeAttribute("aria-describedby");
  }

  // Says that the sheet is saving or adding, if that takes a while.
  tell() {
    clearTimeout(this.telling);
    const words = this.saving.size ? "Saving…" : this.adding ? "Adding…" : "";
    const place = this.form.querySelector("#saving");
    this.telling = setTimeout(() => (place.textContent = words), words ? LONGEST_QUIET_MILLISECONDS : 0);
  }

  // --- Buttons and keys

  async submit(event) {
    event.preventDefault();
    const action = event.submitter?.value;
    // Gestures handles circles.
    if (event.submitter?.matches(".state")) return;
    if (action === "subtask") this.subtask.focus();
    if (action !== "delete" && this.subtask.value.trim()) this.add();
    else if (!this.fields().some(isEdited)) hideNotice();
    this.refused.clear();
    const isSaved = await this.save();
    if (action === "delete") return isSaved ? this.delete() : this.showRefused();
  }

  // Called after saving: undoing the deletion also brings back what was typed.
  async delete() {
    const outcome = await submit(this.path, { action: "delete" });
    if (outcome.status === 200) location.assign(outcome.answer.change ? `/today?done=${outcome.answer.change}` : "/today");
    else if (outcome.status !== null) show(failureWords(outcome), null, true);
  }

  key(event) {
    if (event.key !== "Enter" || event.target !== this.subtask || event.isComposing) return;
    event.preventDefault();
    if (this.subtask.value.trim()) this.add();
  }

  // Adds the sub-task that was typed; the field is free for the next one at once.
  async add() {
    const title = this.subtask.value;
    // A sub-task that got no answer keeps its key, because the server may have taken it.
    const key = this.unadded?.key ?? crypto.randomUUID();
    const name = `${this.task}-subtask-${key}`;
    this.unadded = null;
    this.subtask.value = "";
    forget(this.typedName);
    Sheet.clear(this.subtask);
    this.adding += 1;
    this.tell();
    const outcome = await submit(`${this.path}/subtasks`, { key, title }, name);
    this.adding -= 1;
    this.tell();
    if (outcome.status === 200) {
      forget(name);
      return changed(outcome.answer);
    }
    const words = failureWords(outcome);
    setAside(name, outcome, words);
    // The next sub-task may already be in the field.
    if (this.subtask.value) return show(`Not added yet: “${title}”. ${words}`, null, true);
    if (!isPassing(outcome)) {
      forget(name);
      return this.takeSubtask(title, words);
    }
    this.subtask.value = title;
    this.unadded = { title, key, name };
    Sheet.say(this.subtask, `Not added. ${words}`);
  }

  // Puts the text of a sub-task, perhaps a refused one, back into its field.
  takeSubtask(text, refusal) {
    this.subtask.value = text;
    keep(this.typedName, { text, refusal });
    if (refusal) this.explain(this.subtask, `Not added. ${refusal}`, true);
  }

  // The sub-task in the field got no answer, but has been added by now.
  sent(body) {
    if (this.unadded?.key !== body.get("key")) return;
    if (this.subtask.value === this.unadded.title) this.subtask.value = "";
    this.unadded = null;
    Sheet.clear(this.subtask);
  }

  showRefused() {
    this.fields().find(isEdited)?.focus();
  }

  // --- Leaving

  // Saves everything, and returns to where the sheet was opened. A refused field keeps the sheet open the first time.
  async close() {
    if (!this.isClosing) {
      this.isClosing = true;
      const isSaved = await this.save();
      this.isClosing = false;
      if (!isSaved && !this.wasRefused) {
        this.wasRefused = true;
        return this.showRefused();
      }
    }
    if (history.length > 1 && document.referrer.startsWith(`${location.origin}/`)) history.back();
    else location.assign("/today");
  }

  // Sends what is not saved or refused, and keeps it until another page knows that it is saved. If an earlier text of a field is still
  // being saved, the later text is left to that page.
  leaving() {
    for (const field of this.fields().filter((field) => this.isUnsaved(field))) {
      this.draft(field);
      if (!this.saving.has(field)) deliver(this.path, this.body([field]));
    }
    flush();
  }

  // Puts a text that an earlier page could not save back into its field; one that was refused is not sent again.
  async take(name, form) {
    if (name.startsWith(`${this.task}-subtask-`)) return this.takeRefusedSubtask(name, form);
    const field = this.fields().find((field) => this.keptName(field) === name);
    if (!field || this.saving.has(field)) return false;
    if (isEdited(field)) return true;
    const body = new URLSearchParams(form.fields);
    if (body.get(field.name) === field.value) {
      forget(name);
      return true;
    }
    if (form.refusal) return this.takeRefused(field, name, form);
    field.value = body.get(field.name);
    this.saving.set(field, form.fields);
    const stamp = await stampAfterFormer(form);
    this.saving.delete(field);
    this.stamp(field).defaultValue = stamp ?? body.get(`was-${field.name}`);
    this.draft(field);
    await this.save([field]);
    return true;
  }

  // If the field has been changed elsewhere, the person decides.
  takeRefused(field, name, form) {
    const body = new URLSearchParams(form.fields);
    const [text, stamp] = [field.value, this.stamp(field).value];
    const shown = field.selectedOptions?.[0]?.text ?? text;
    keep(name, { ...form, isGivenUp: false });
    field.value = body.get(field.name);
    this.stamp(field).defaultValue = body.get(`was-${field.name}`);
    this.refused.set(field, field.value);
    if (this.stamp(field).value === stamp) this.explain(field, `Not saved. ${form.refusal}`, true);
    else this.askAbout(field, { name: field.name, text, stamp, shown });
    return true;
  }

  // A refused sub-task waits while another one is in the field or may be typed now.
  takeRefusedSubtask(name, form) {
    if (!form.refusal || !this.subtask || this.subtask.value || document.activeElement === this.subtask) return false;
    forget(name);
    this.takeSubtask(new URLSearchParams(form.fields).get("title"), form.refusal);
    return true;
  }

  // Whether the fields stay as they are although the server has others.
  isBusy() {
    return this.saving.size > 0 || editedFields(this.form.querySelector("#fields")).length > 0;
  }
}

// If a text was changed while an earlier one was being saved, sends the earlier one again; returns the stamp after it.
async function stampAfterFormer(form) {
  if (!form.former) return null;
  const { answer } = await deliver(form.path, form.former);
  return answer?.fields?.[0]?.stamp ?? null;
}

// Sends what earlier pages have kept and what got no answer on this page; the sheet takes the texts of its own task. A text that
// is refused goes to its field, or is told once.
export async function recover(sheet, capture) {
  for (const name of await orphans()) {
    const take = async (form) => (sheet && (await sheet.take(name, form))) || capture.take(name, form);
    if (!kept(name)?.path || (await take(kept(name)))) continue;
    await sendKept(name);
    const form = kept(name);
    if (form?.refusal && !(await take(form))) tell(name, form);
  }
}

// The name of the field of a sheet that a form saves, if it saves one.
function fieldName(body) {
  return [...body.keys()].find((field) => body.has(`was-${field}`));
}

async function sendKept(name) {
  const form = kept(name);
  if (!form || form.refusal) return;
  const body = new URLSearchParams(form.fields);
  keep(name, { ...form, isGivenUp: false });
  const stamp = await stampAfterFormer(form);
  if (stamp) body.set(`was-${fieldName(body)}`, stamp);
  const outcome = await deliver(form.path, body);
  if (outcome.status !== 200) return setAside(name, outcome, failureWords(outcome));
  forget(name);
  document.dispatchEvent(new CustomEvent("tally-sent", { detail: body }));
  if (outcome.answer.change) changed(outcome.answer);
}

function tell(name, form) {
  keep(name, { ...form, isSaid: true, isGivenUp: true });
  if (form.isSaid) return;
  const body = new URLSearchParams(form.fields);
  const text = body.get(fieldName(body) ?? (body.has("title") ? "title" : "text")) ?? "";
  const path = new URL(form.path, location.origin).pathname;
  const link = path.startsWith("/tasks/") ? path.replace("/subtasks", "") : null;
  show(`Not saved: “${text.slice(0, 60)}”. ${form.refusal}`, null, true, link, () => forget(name));
}
