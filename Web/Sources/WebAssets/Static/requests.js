// Requests that change something, their notices, and what is announced.

import { ask } from "./question.js";

const notice = document.getElementById("notice");
const live = document.getElementById("live");
const NOTICE_MILLISECONDS = 10_000;
let hiding;

export function announce(words) {
  live.textContent = words;
}

function button(words, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = words;
  element.addEventListener("click", action);
  return element;
}

// Shows words for ten seconds, with a button that undoes the change; not while the pointer or the focus is on it.
export function show(words, change, isFailure = false) {
  const box = document.createElement("div");
  box.className = isFailure ? "notice failure" : "notice";
  const text = document.createElement("bdi");
  text.textContent = words;
  box.append(text);
  if (change) {
    box.dataset.change = change;
    box.append(button("Undo", () => undo(change)));
  }
  notice.replaceChildren(box);
  hideLater();
}

function hideLater() {
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    if (notice.matches(":hover, :focus-within")) hideLater();
    else notice.replaceChildren();
  }, NOTICE_MILLISECONDS);
}

// Sends fields as a form does; returns the answer, or null after showing what went wrong.
export async function send(path, fields) {
  try {
    const response = await fetch(path, {
      method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json" },
    });
    const answer = await response.json();
    // A change that cannot be undone is made only if the person says so.
    if (answer.question) {
      if (!(await ask("This cannot be undone", answer.question, "Do it all the same"))) return null;
      const confirmed = new URLSearchParams(fields);
      confirmed.append("confirmed", "yes");
      return await send(path, confirmed);
    }
    if (!response.ok) {
      show(`${answer.failure}. ${answer.remedy}.`, null, true);
      return null;
    }
    return answer;
  } catch {
    show("Tally does not answer. Is tally-web still running?", null, true);
    return null;
  }
}

export async function change(path, fields) {
  const answer = await send(path, fields);
  if (answer) {
    show(answer.words, answer.change);
    document.dispatchEvent(new Event("tally-changed"));
  }
  return answer;
}

export async function undo(id) {
  const answer = await send("/undo", id ? { change: id } : {});
  if (!answer) return;
  show(answer.words, null);
  document.dispatchEvent(new Event("tally-changed"));
}

// A notice that the server has rendered goes like any other one.
export function startNotices() {
  if (!notice.firstElementChild) return;
  hideLater();
  // Loading the page again must not show it again.
  const address = new URL(location.href);
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
}
