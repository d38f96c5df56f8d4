// Requests that change something, their notices, and what is announced.

import { deliver, isPassing, kept } from "./outbox.js";
import { ask } from "./question.js";

const notice = document.getElementById("notice");
const live = document.getElementById("live");
const NOTICE_MILLISECONDS = 10_000;
let hiding;

export function announce(words) {
  live.textContent = words;
}

export function button(words, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = words;
  element.addEventListener("click", action);
  return element;
}

// Shows notices, one below the other: words, perhaps with a change that a button undoes, with a link, or with a function that
// discards a text. They stay for ten seconds each, longer while the pointer or the focus is on them.
export function show(...notices) {
  notice.replaceChildren(...notices.map(noticeBox));
  hideLater();
}

function noticeBox({ words, change, isFailure, link, discard }) {
  const box = document.createElement("div");
  box.className = isFailure ? "notice failure" : "notice";
  const text = document.createElement("bdi");
  text.textContent = words;
  box.append(text);
  if (change) {
    box.dataset.change = change;
    box.append(button("Undo", () => undo(change)));
  }
  if (link) {
    const element = document.createElement("a");
    element.href = link;
    element.textContent = "Open";
    box.append(element);
  }
  if (discard) box.append(button("Discard", () => (discard(), box.remove())));
  return box;
}

function hideLater() {
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    if (notice.matches(":hover, :focus-within")) hideLater();
    else hideNotice();
  }, NOTICE_MILLISECONDS * notice.children.length);
}

// The words for an outcome that is not a success.
export function failureWords({ status, answer }) {
  if (status === 0) return "Tally does not answer. Is tally-web still running?";
  if (status === null) return "You did not confirm it.";
  if (status === 401) return "This browser no longer has access. Open the address that tally-web printed last.";
  if (answer.conflicts) return "Another device or window has changed it.";
  return answer.question ?? `${answer.failure}. ${answer.remedy}.`;
}

// Says that a text was not added. A refused text that is kept is reported with the others that wait.
export function sayNotAdded(name, text, outcome) {
  const isKept = kept(name) !== null;
  if (isKept && !isPassing(outcome)) return document.dispatchEvent(new Event("tally-refused"));
  show({ words: `Not added${isKept ? " yet" : ""}: “${text.slice(0, 60)}”. ${failureWords(outcome)}`, isFailure: true });
}

// Sends fields as a form does, and passes a question of the server on to the person; returns the status and the answer. The
// status is 0 if there was no answer, and null if the person said no.
export async function submit(path, fields, kept) {
  const body = new URLSearchParams(fields);
  if (!body.has("key")) body.set("key", crypto.randomUUID());
  const outcome = await deliver(path, body, kept);
  if (!outcome.answer?.question) return outcome;
  // A change that cannot be taken back is made only if the person confirms it.
  if (!(await ask(outcome.answer.title, outcome.answer.question, "Do it anyway"))) return { status: null };
  body.append("confirmed", "yes");
  return await deliver(path, body, kept);
}

// Like `submit`, but returns the answer, or null after showing what went wrong.
export async function send(path, fields) {
  const outcome = await submit(path, fields);
  if (outcome.status === 200) return outcome.answer;
  if (outcome.status !== null) show({ words: failureWords(outcome), isFailure: true });
  return null;
}

export async function change(path, fields) {
  const answer = await send(path, fields);
  if (answer) changed(answer);
  return answer;
}

// Says what has changed.
export function changed(answer) {
  show({ words: answer.words, change: answer.change });
  document.dispatchEvent(new Event("tally-changed"));
}

export async function undo(id) {
  const answer = await send("/undo", id ? { change: id } : {});
  if (!answer) return null;
  show({ words: answer.words });
  document.dispatchEvent(new Event("tally-changed"));
  return answer;
}

export function hideNotice() {
  notice.replaceChildren();
}

// A notice that the server has rendered disappears like any other one.
export function startNotices() {
  if (!notice.firstElementChild) return;
  if (!notice.querySelector(".failure")) hideLater();
  // Loading the page again must not show it again.
  const address = new URL(location.href);
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
}
