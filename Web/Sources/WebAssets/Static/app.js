// Without these scripts every screen can be read and used; with them it follows the store and answers at once.

import { startNotices } from "./requests.js";
import { startCapture } from "./capture.js";
import { Gestures } from "./gestures.js";
import { startKeyboard } from "./keyboard.js";
import { Rows, announceChanges } from "./rows.js";
import { startSearch } from "./search.js";
import { startTransfer } from "./transfer.js";

document.documentElement.classList.add("scripted");
startNotices();
startCapture();
startTransfer();
const main = document.getElementById("main");
const gestures = new Gestures(main);
startKeyboard(gestures);

// A screen that does not follow the store is read again after a change. What a person is typing into a sheet stays.
document.addEventListener("tally-changed", async () => {
  if (document.getElementById("rows")) return;
  const response = await fetch(location.href);
  if (!response.ok) return;
  const answer = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("main");
  const [old, fresh] = [main, answer].map((part) => [...part.querySelectorAll("ol.rows")]);
  if (document.getElementById("sheet") && old.length === fresh.length) old.forEach((list, index) => list.replaceWith(fresh[index]));
  else main.replaceChildren(...answer.childNodes);
});

const list = document.getElementById("rows");
let rows;
startSearch(() => rows?.source.close());
if (list) {
  rows = new Rows(list);
  let refreshing;

  // The counts beside the places, and the agenda, follow when a burst of changes is over.
  async function refresh() {
    const path = document.body.dataset.path;
    const places = await fetch(`/places?${new URLSearchParams({ at: path })}`);
    const html = await places.text();
    const nav = document.getElementById("places");
    // Who is in there with the keyboard stays there.
    if (places.ok && !nav.contains(document.activeElement)) nav.innerHTML = html;
    if (path !== "/today") return;
    const agenda = await fetch("/agenda");
    if (!agenda.ok) return;
    const old = document.getElementById("agenda");
    const section = await agenda.text();
    if (old?.contains(document.activeElement)) return;
    if (old) old.outerHTML = section;
    else list.insertAdjacentHTML("beforebegin", section);
  }

  list.addEventListener("rows-changed", () => {
    gestures.chosen();
    clearTimeout(refreshing);
    // Without a network the next change asks again.
    refreshing = setTimeout(() => refresh().catch(() => {}), 200);
  });
  announceChanges(rows);
  rows.follow();
  // For scenarios.
  window.tallyRows = rows;
}
