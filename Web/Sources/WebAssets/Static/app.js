// Without these scripts every screen can be read and used; with them it follows the store and answers at once.

import { ConnectionNotice, follow } from "./connection.js";
import { Capture } from "./capture.js";
import { startFamilies } from "./families.js";
import { Gestures } from "./gestures.js";
import { startKeyboard } from "./keyboard.js";
import { show, startNotices } from "./requests.js";
import { whenSettled } from "./settling.js";
import { Sheet, recover, showRefused } from "./sheet.js";
import { Places } from "./places.js";
import { Rows, announceChanges } from "./rows.js";
import { Screen } from "./screen.js";
import { startSearch } from "./search.js";
import { startTransfer } from "./transfer.js";

document.documentElement.classList.add("scripted");
startNotices();
const capture = new Capture();
startTransfer();
const main = document.getElementById("main");
const gestures = new Gestures(main);
const form = document.getElementById("sheet");
const sheet = form ? new Sheet(form) : null;
startKeyboard(gestures, sheet);
startFamilies(main);

const places = new Places(main);
const screen = new Screen(main, sheet, () => gestures.chosen());
const list = document.getElementById("rows");
let rows = list ? new Rows(list) : null;
// A search takes the place of the screen.
startSearch(() => (rows = null));

if (rows) {
  list.addEventListener("rows-changed", () => gestures.chosen());
  announceChanges(rows);
}

const connection = new ConnectionNotice(() => stream.retry());
// What the screen shows, and in which versions, as the server has rendered it.
const shown = new URLSearchParams((document.body.dataset.events ?? "").split("?")[1]);
const member = { view: rows?.view, version: rows?.version };
for (const name of ["places", "agenda", "store"]) member[name] = shown.get(name) ?? undefined;
const stream = follow(member, (message) => {
  if (message.state) {
    connection.set(message.state);
    if (message.state === "open") sendAgain();
  } else if (message.event === "places") places.read();
  else if (message.event === "agenda") whenSettled(() => places.readAgenda());
  else if (message.event === "gone") show({ words: "This list does not exist any more. The history can bring it back.", isFailure: true });
  else if (message.event === "stale") rows ?? screen.changed();
  else whenSettled(() => rows?.receive(message));
});
// A change of this screen is shown without waiting for the stream.
document.addEventListener("tally-changed", () => rows ?? screen.changed());

// Sends again what was typed and not saved, on earlier pages, which may have gone only just now, and on this page while Tally
// did not answer.
function sendAgain() {
  recover(sheet, capture);
  sheet?.save();
}
// A text has been refused, or a field has become free for a refused one.
document.addEventListener("tally-refused", () => showRefused(sheet, capture));
document.addEventListener("visibilitychange", () => showRefused(sheet, capture));
for (const milliseconds of [0, 1000, 5000]) setTimeout(() => recover(sheet, capture), milliseconds);
// For scenarios.
Object.assign(window, { tallyRows: rows, tallyStream: stream, tallyConnection: connection });
