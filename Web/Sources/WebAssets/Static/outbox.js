// Sends the changes of this browser in order, each form once.
//
// Each form has a key, by which the server recognizes a form that is sent again because its answer was lost. The
// browser keeps the texts that people have typed until the server has answered. So nothing is lost if somebody leaves
// the page, the server does not answer, or the visit has expired: the next page sends these texts again. A text that
// the server has refused is not sent again by itself: it is kept with the reason, and waits for the person.

const KEPT = "tally-kept-";
const PAGE = `tally-page-${crypto.randomUUID()}`;
// The longest body of a request that continues when its page is left.
const LONGEST_LASTING_BODY = 60_000;
const PATIENCE_MILLISECONDS = 15_000;
// How long to wait before a form without an answer is sent again.
const PAUSES_MILLISECONDS = [400, 1600];

const waiting = [];
let isSending = false;

// A lock held as long as the page lives: other pages send what it has kept only when it is gone.
navigator.locks?.request(PAGE, () => new Promise(() => {}));

// Sends a form; returns the status and the answer. Status 0 means no answer: it is unknown whether the form was taken.
//
// `kept` names a text that is kept until somebody forgets it.
export function deliver(path, fields, kept) {
  const body = new URLSearchParams(fields);
  if (!body.has("key")) body.set("key", crypto.randomUUID());
  if (kept) keep(kept, { path, fields: [...body] });
  return new Promise((resolve) => {
    waiting.push({ path, body: body.toString(), resolve });
    work();
  });
}

async function work() {
  if (isSending) return;
  isSending = true;
  while (waiting.length) {
    const form = waiting.shift();
    form.resolve(await attempt(form));
  }
  isSending = false;
}

async function attempt(form) {
  for (const pause of [...PAUSES_MILLISECONDS, null]) {
    try {
      const response = await request(form);
      const answer = await response.json();
      // A busy store may be free soon.
      if (response.status !== 503 || pause === null) return { status: response.status, answer };
    } catch {
      if (pause === null) return { status: 0 };
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function request({ path, body }) {
  const isShort = body.length < LONGEST_LASTING_BODY;
  return fetch(path, {
    method: "POST", body, keepalive: isShort, signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8" },
  });
}

// The page is being left: sends what still waits, as far as a page can.
export function flush() {
  for (const form of waiting.splice(0)) request(form).catch(() => {});
}

addEventListener("pagehide", flush);

// --- Kept texts

// Keeps a form, with its path and fields, or a text; returns whether there was room for it.
export function keep(name, form) {
  try {
    localStorage.setItem(KEPT + name, JSON.stringify({ since: Date.now(), ...form, page: PAGE }));
    return true;
  } catch {
    return false;
  }
}

export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + name));
  } catch {
    return null;
  }
}

export function forget(name) {
  localStorage.removeItem(KEPT + name);
}

// Forgets a text unless another page has kept one under this name since.
export function forgetOwn(name) {
  if (isOwn(name)) forget(name);
}

function isOwn(name) {
  return kept(name)?.page === PAGE;
}

// Makes this page responsible for a kept text.
export function adopt(name) {
  const form = kept(name);
  if (form) keep(name, { ...form, isGivenUp: false });
}

// The names of kept texts for which no page is responsible, oldest first: those of pages that are gone, and those that a page
// has given up for now.
export async function orphans() {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(KEPT)).map((name) => name.slice(KEPT.length));
  if (!names.length) return [];
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));
  const forms = names.map((name) => [name, kept(name)]).filter(([, form]) => form && (form.isGivenUp || !held.has(form.page)));
  return forms.sort(([, a], [, b]) => a.since - b.since).map(([name]) => name);
}

// Marks a form that the server did not accept: it is sent again later, or kept with the reason of the refusal.
export function setAside(name, outcome, words, form = kept(name)) {
  if (!form) return;
  if (!isPassing(outcome)) keepRefused(name, { ...form, isGivenUp: true }, words);
  else if (isOwn(name)) keep(name, { ...form, isGivenUp: true });
}

// Keeps a form with the reason of its refusal, under a name of its own: other pages may keep texts of the same field. Returns
// that name.
export function keepRefused(name, form, words) {
  const key = new URLSearchParams(form.fields).get("key");
  const own = name.endsWith(key) ? name : `${name}-${key}`;
  if (!keep(own, { ...form, refusal: words })) return name;
  if (own !== name) forgetOwn(name);
  return own;
}

// Whether a later attempt may get another answer: there was none, the browser is not let in, or the server failed.
export function isPassing({ status }) {
  return status === 0 || status === 401 || status >= 500;
}

// The field of a sheet that a form saves, if it saves one.
export function fieldName(body) {
  return [...body.keys()].find((field) => body.has(`was-${field}`));
}

// What a person has typed into a form.
export function textOf(form) {
  const body = new URLSearchParams(form.fields);
  return body.get(fieldName(body) ?? (body.has("title") ? "title" : "text")) ?? "";
}
