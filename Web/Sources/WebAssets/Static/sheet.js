// A task's sheet: a field is saved when it is left, and what is typed is kept until it is saved. Sub-tasks are added one after
// the other. Nothing is lost, however the sheet is left.

import { isEdited } from "./morph.js";
import { adopt, deliver, fieldName, flush, forget, forgetOwn, isPassing, keep, keepRefused, kept, orphans, setAside, textOf } from "./outbox.js";
import { button, change, changed, failureWords, hideNotice, sayNotAdded, show, submit } from "./requests.js";

const LONGEST_QUIET_MILLISECONDS = 400;
// How long somebody who types pauses before tasks are suggested, and the longest text for which they are.
const PAUSE_MILLISECONDS = 80;
const LONGEST_SUGGESTED = 100;

export class Sheet {
  constructor(form) {
    this.form = form;
    // Not `form.action`: buttons have that name, too.
    this.path = form.getAttribute("action");
    this.task = form.dataset.task;
    // Fields whose text is being saved, with the form that was sent.
    this.saving = new Map();
    // Fields with the text that was refused, and its name: it is sent again only if the person says so.
    this.refused = new Map();
    // Fields whose text the browser has no room to keep until it is saved.
    this.unkept = new Set();
    this.adding = 0;
    form.addEventListener("input", (event) => {
      this.typed(event.target);
      if (isChosen(event)) this.save([event.target]);
    });
    form.addEventListener("focusout", ({ target, relatedTarget }) => this.left(target, relatedTarget));
    // A choice is complete at once, so it is saved before the field is left.
    form.addEventListener("change", ({ target }) => {
      if (target === this.series) this.save();
      else if (target.matches("#fields select")) this.save([target]);
    });
    form.addEventListener("submit", (event) => this.submit(event));
    form.addEventListener("keydown", (event) => this.key(event));
    addEventListener("pagehide", () => this.leaving());
    addEventListener("beforeunload", (event) => this.unkept.size && event.preventDefault());
    addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.save());
    document.addEventListener("tally-sent", ({ detail }) => this.sent(detail));
    const typed = kept(this.typedName);
    if (!typed || this.subtask.value) return;
    this.subtask.value = typed.text;
    keep(this.typedName, { text: typed.text });
  }

  get subtask() {
    // Undefined if a search has replaced the sheet.
    return this.form.elements.subtask;
  }

  // The box that lets changes of a repeating task concern those that follow; null for another task.
  get series() {
    return this.form.querySelector("#series");
  }

  // The name under which the sub-task that is being typed is kept.
  get typedName() {
    return `${this.task}-typed`;
  }

  fields() {
    return [...this.form.querySelectorAll(":is(#fields, #waits) :is(input:not([type=hidden], [type=checkbox]), textarea, select)")];
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
    if (this.series?.checked) body.push(["series", "on"]);
    for (const field of fields) body.push([field.name, field.value], [`was-${field.name}`, this.stamp(field).value]);
    return body;
  }

  typed(field) {
    this.wasRefused = false;
    if (field === this.subtask) {
      Sheet.clear(field);
      const isKept = !field.value || keep(this.typedName, { text: field.value });
      if (!field.value) forgetOwn(this.typedName);
      // The text that was not added has been changed: it is another one now.
      if (this.unadded && this.unadded.title !== field.value) {
        if (isKept) forget(this.unadded.name);
        this.unadded = null;
      }
    } else if (this.fields().includes(field)) {
      Sheet.clear(field);
      this.draft(field);
      if (field.name === "after") this.suggestLater(field);
    }
  }

  suggestLater(field) {
    clearTimeout(this.suggesting);
    this.suggesting = setTimeout(() => this.suggest(field), PAUSE_MILLISECONDS);
  }

  // Suggests open tasks with the words in a field.
  async suggest(field) {
    const text = field.value;
    if (text.length > LONGEST_SUGGESTED) return;
    const response = await fetch(`${this.path}/suggestions?${new URLSearchParams({ q: text })}`).catch(() => null);
    const html = response?.ok ? await response.text() : "";
    if (field.isConnected && field.value === text) field.list.innerHTML = html;
  }

  left(field, next) {
    // A field that is left for the box is saved as the box then says.
    if (this.series && (next === this.series || this.series.closest("label").matches(":active"))) return;
    if (field === this.series) this.save();
    else if (this.fields().includes(field)) this.save([field]);
    else if (field === this.subtask && !field.value) document.dispatchEvent(new Event("tally-refused"));
  }

  // Keeps the text of a field in case the page ends before it is saved; it takes the place of one that was refused.
  draft(field) {
    this.unkept.delete(field);
    if (!isEdited(field)) forgetOwn(this.keptName(field));
    else if (!this.keepDraft(field)) return this.unkept.add(field);
    const refused = this.refused.get(field);
    if (!refused) return;
    if (refused.name !== this.keptName(field)) forget(refused.name);
    this.refused.delete(field);
    document.dispatchEvent(new Event("tally-refused"));
  }

  keepDraft(field) {
    return keep(this.keptName(field), { path: this.path, fields: this.body([field]), former: this.saving.get(field) });
  }

  // --- Saving

  isUnsaved(field) {
    return isEdited(field) && this.refused.get(field)?.text !== field.value;
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
    this.showProgress();
    const outcome = await submit(this.path, this.body(fields));
    for (const field of fields) this.saving.delete(field);
    this.showProgress();
    if (outcome.status === 200) {
      for (const saved of outcome.answer.fields ?? []) this.saved(saved, sent.get(saved.name));
      if (outcome.answer.change) changed(outcome.answer);
      else document.dispatchEvent(new Event("tally-changed"));
    } else await this.refuse(fields, outcome, sent);
    // Fields that were edited again, and left, while their text was being saved.
    const left = fields.filter((field) => isEdited(field) && field.value !== sent.get(field.name) && document.activeElement !== field);
    if (left.length) await this.send(left);
  }

  // Marks a field as saved; text that was typed into it meanwhile stays.
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
    document.dispatchEvent(new Event("tally-refused"));
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

  // Keeps a refused text with the words of the refusal; text that was typed meanwhile is another text.
  keepRefused(field, text, outcome) {
    if (field.value !== text) return this.draft(field);
    const form = { path: this.path, fields: this.body([field]) };
    this.refused.set(field, { text, name: keepRefused(this.keptName(field), form, failureWords(outcome)) });
  }

  // Says beside a field why its text was refused. If it is not sent again by itself, a button forgets it.
  explain(field, words, isFinal) {
    const box = Sheet.say(field, words);
    if (isFinal) box.append(" ", button("Discard", () => this.discard(field)));
  }

  // Lets a refused text be sent again.
  release(field) {
    if (this.refused.has(field)) this.draft(field);
    this.refused.delete(field);
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
      this.release(field);
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
  showProgress() {
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
    const isEnding = ["delete", "delete-only", "skip"].includes(action);
    if (!isEnding && this.subtask.value.trim()) this.add();
    else if (!this.fields().some(isEdited)) hideNotice();
    // Save, or Enter in a field.
    if (!action) for (const field of this.fields().filter(isEdited)) this.release(field);
    const isSaved = await this.save();
    if (event.submitter?.name === "release") return this.stopWaiting(action);
    if (isEnding) return isSaved ? this.end(action) : this.focusRefused();
  }

  // Ends waiting for another task, whose button disappears.
  async stopWaiting(id) {
    this.form.elements.after.focus();
    await change(this.path, [["release", id], ...(this.series?.checked ? [["series", "on"]] : [])]);
  }

  // Deletes or skips the task, after saving: undoing that leaves what was typed.
  async end(action) {
    const outcome = await submit(this.path, { action });
    if (outcome.status === 200) location.assign(outcome.answer.change ? `/today?done=${outcome.answer.change}` : "/today");
    else if (outcome.status !== null) show({ words: failureWords(outcome), isFailure: true });
  }

  key(event) {
    if (event.key !== "Enter" || event.target !== this.subtask || event.isComposing) return;
    event.preventDefault();
    if (this.subtask.value.trim()) this.add();
  }

  // Adds the sub-task that was typed; the field is free for the next one at once.
  async add() {
    const title = this.subtask.value;
    // A sub-task that was not added keeps its key, because the server may have taken it.
    const key = this.unadded?.key ?? crypto.randomUUID();
    const name = `${this.task}-subtask-${key}`;
    const form = { path: `${this.path}/subtasks`, fields: [["key", key], ["title", title]] };
    if (keep(name, form)) forgetOwn(this.typedName);
    this.unadded = null;
    this.subtask.value = "";
    Sheet.clear(this.subtask);
    this.adding += 1;
    this.showProgress();
    const outcome = await submit(form.path, form.fields, name);
    this.adding -= 1;
    this.showProgress();
    if (outcome.status === 200) {
      forget(name);
      if (kept(this.typedName)?.text === title && !this.subtask?.value) forgetOwn(this.typedName);
      return changed(outcome.answer);
    }
    const words = failureWords(outcome);
    setAside(name, outcome, words, form);
    // The next sub-task may already be in the field.
    if (this.subtask?.value === "") this.putSubtask(name, form, words, !isPassing(outcome));
    else sayNotAdded(name, title, outcome);
  }

  // Puts the text of a sub-task that was not added back into its field.
  putSubtask(name, form, words, isFinal) {
    if (isFinal) adopt(name);
    const body = new URLSearchParams(form.fields);
    const [title, key] = [body.get("title"), body.get("key")];
    this.subtask.value = title;
    this.unadded = { title, key, name };
    this.explain(this.subtask, `Not added. ${words}`, isFinal);
  }

  // The sub-task in the field got no answer, but has been added by now.
  sent(body) {
    if (this.unadded?.key !== body.get("key")) return;
    if (this.subtask.value === this.unadded.title) this.subtask.value = "";
    this.unadded = null;
    Sheet.clear(this.subtask);
  }

  focusRefused() {
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
        return this.focusRefused();
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
    if (!this.form.isConnected) return false;
    if (name.startsWith(`${this.task}-subtask-`)) return this.takeSubtask(name, form);
    const field = this.fields().find((field) => name === this.keptName(field) || name.startsWith(`${this.keptName(field)}-`));
    if (!field || this.saving.has(field)) return false;
    if (isEdited(field) || this.refused.has(field)) return !form.refusal;
    const body = new URLSearchParams(form.fields);
    if (body.get(field.name) === field.value) {
      forget(name);
      return true;
    }
    if (form.refusal) return this.takeRefused(field, name, form);
    if (!this.fill(field, name, form)) return true;
    this.saving.set(field, form.fields);
    const stamp = await stampAfterFormer(form);
    this.saving.delete(field);
    this.stamp(field).defaultValue = stamp ?? body.get(`was-${field.name}`);
    this.draft(field);
    await this.save([field]);
    return true;
  }

  // Puts a kept text into its field; if the field cannot have it, says so. Returns whether it can.
  fill(field, name, form) {
    const [former, text] = [field.value, textOf(form)];
    if (this.series && new URLSearchParams(form.fields).get("series") === "on") this.series.checked = true;
    adopt(name);
    field.value = text;
    if (field.value === text) return true;
    field.value = former;
    const words = field.name === "list" ? "The list that you chose does not exist any more." : `“${text.slice(0, 60)}” is not possible here.`;
    this.refused.set(field, { text, name: keepRefused(name, { ...form, isGivenUp: false }, words) });
    this.explain(field, `Not saved. ${words}`, true);
    return false;
  }

  // If the field has been changed elsewhere, the person decides.
  takeRefused(field, name, form) {
    const [text, stamp] = [field.value, this.stamp(field).value];
    const shown = field.selectedOptions?.[0]?.text ?? text;
    if (!this.fill(field, name, form)) return true;
    this.stamp(field).defaultValue = new URLSearchParams(form.fields).get(`was-${field.name}`);
    this.refused.set(field, { text: field.value, name });
    if (this.stamp(field).value === stamp) this.explain(field, `Not saved. ${form.refusal}`, true);
    else this.askAbout(field, { name: field.name, text, stamp, shown });
    return true;
  }

  // A refused sub-task waits while another one is in the field or may be typed now.
  takeSubtask(name, form) {
    if (!form.refusal || (this.unadded && this.unadded.name !== name)) return false;
    const isFree = this.subtask.value ? this.subtask.value === textOf(form) : document.activeElement !== this.subtask;
    if (isFree) this.putSubtask(name, form, form.refusal, true);
    return isFree;
  }

  // Whether the fields stay as they are although the server has others.
  isBusy() {
    return this.saving.size > 0 || this.fields().some(isEdited);
  }
}

// Whether a suggestion has been chosen, which is a complete text at once. Browsers say so in different ways.
function isChosen({ target, inputType }) {
  const isWhole = !inputType || inputType === "insertReplacementText";
  return isWhole && [...(target.list?.options ?? [])].some((option) => option.value === target.value);
}

// If a text was changed while an earlier one was being saved, sends the earlier one again; returns the stamp after it.
async function stampAfterFormer(form) {
  if (!form.former) return null;
  const { answer } = await deliver(form.path, form.former);
  return answer?.fields?.[0]?.stamp ?? null;
}

// Sends what earlier pages have kept and what got no answer on this page; the sheet takes the texts of its own task.
export async function recover(sheet, capture) {
  await showRefused(sheet, capture);
  for (const name of await orphans()) {
    const form = kept(name);
    if (!form?.path || form.refusal || (await sheet?.take(name, form))) continue;
    await sendKept(name, form);
  }
  await showRefused(sheet, capture);
}

async function sendKept(name, form) {
  const body = new URLSearchParams(form.fields);
  adopt(name);
  const stamp = await stampAfterFormer(form);
  if (stamp) {
    // The rest concerns the later text alone.
    body.set(`was-${fieldName(body)}`, stamp);
    form = { path: form.path, fields: [...body] };
    keep(name, form);
  }
  const outcome = await deliver(form.path, body);
  if (outcome.status !== 200) return setAside(name, outcome, failureWords(outcome), form);
  forgetOwn(name);
  document.dispatchEvent(new CustomEvent("tally-sent", { detail: body }));
  if (outcome.answer.change) changed(outcome.answer);
}

// Puts each refused text that waits into its field, if that is free, and says which others wait, once for each of them.
export async function showRefused(sheet, capture) {
  const waiting = [];
  for (const name of await orphans()) {
    const form = kept(name);
    if (form?.refusal && !(await sheet?.take(name, form)) && !capture.take(name, form)) waiting.push([name, form]);
  }
  if (document.visibilityState !== "visible" || waiting.every(([, form]) => form.isSaid)) return;
  for (const [name, form] of waiting) keep(name, { ...form, isSaid: true, isGivenUp: true });
  show(...waiting.map(([name, form]) => refusedNotice(name, form)));
}

function refusedNotice(name, form) {
  const path = new URL(form.path, location.origin).pathname;
  const sheetPath = path.startsWith("/tasks/") ? path.replace("/subtasks", "") : null;
  return {
    words: `${isEdit(form) ? "Not saved" : "Not added"}: “${textOf(form).slice(0, 60)}”. ${form.refusal}`, isFailure: true,
    link: sheetPath === location.pathname ? null : sheetPath, discard: () => forget(name),
  };
}

function isEdit(form) {
  return fieldName(new URLSearchParams(form.fields)) !== undefined;
}
