// Without these scripts every screen can be read and used; with them it follows the store and answers at once.

import { startNotices } from "./requests.js";
import { startCapture } from "./capture.js";
import { Gestures } from "./gestures.js";
import { startKeyboard } from "./keyboard.js";
import { Rows, announceChanges } from "./rows.js";

document.documentElement.classList.add("scripted");
startNotices();
startCapture();
const main = document.getElementById("main");
const gestures = new Gestures(main);
startKeyboard(gestures);

const list = document.getElementById("rows");
if (list) {
  const rows = new Rows(list);
  let refreshing;

  // The counts beside the places, and the agenda, follow when a burst of changes is over.
  async function refresh() {
    const path = document.body.dataset.path;
    const places = await fetch(`/places?${new URLSearchParams({ at: path })}`);
    if (places.ok) document.getElementById("places").innerHTML = await places.text();
    if (path !== "/today") return;
    const agenda = await fetch("/agenda");
    if (!agenda.ok) return;
    const old = document.getElementById("agenda");
    const html = await agenda.text();
    if (old) old.outerHTML = html;
    else list.insertAdjacentHTML("beforebegin", html);
  }

  list.addEventListener("rows-changed", () => {
    gestures.chosen();
    clearTimeout(refreshing);
    refreshing = setTimeout(refresh, 200);
  });
  announceChanges(rows);
  rows.follow();
  // For scenarios.
  window.tallyRows = rows;
}
