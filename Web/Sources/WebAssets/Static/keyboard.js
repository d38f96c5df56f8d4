// Keys: the same as on the sheet that the server shows at /keyboard.

import { undo } from "./requests.js";

// The keys below, for the scenario that compares them with the sheet.
export const KEYS = [
  "c", "/", "j", "k", "↓", "↑", "Space", "s", "Enter", "x", "Escape", "t", "w", "n", "Alt ↑", "Alt ↓", "m", "Delete", "u", "g t",
  "g i", "g u", "g l", "g w", "?",
];

// The keys that go from row to row.
const MOVES = ["j", "k", "ArrowDown", "ArrowUp"];

const PLACES = { t: "/today", i: "/inbox", u: "/upcoming", l: "/lists", w: "/waiting" };

export function startKeyboard(gestures, sheet) {
  let wentFirst = false;

  function current() {
    return document.activeElement?.closest?.(".row") ?? null;
  }

  function go(step) {
    const rows = gestures.rows().filter((row) => row.checkVisibility());
    const index = rows.indexOf(current());
    const row = rows[index < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, index + step))];
    row?.querySelector(".title").focus();
    row?.scrollIntoView({ block: "nearest" });
  }

  const onRow = {
    " ": (row) => row.querySelector(".state").click(),
    ArrowDown: () => go(1),
    ArrowUp: () => go(-1),
    s: (row) => gestures.start(row),
    x: (row) => row.querySelector("input[name=id]").click(),
    t: (row) => gestures.perform(gestures.affected(row), { action: "today" }),
    w: (row) => gestures.perform(gestures.affected(row), { action: "tomorrow" }),
    n: (row) => gestures.perform(gestures.affected(row), { action: "unplan" }),
    m: (row) => gestures.menu.open(row),
    Delete: (row) => gestures.perform(gestures.affected(row), { action: "delete" }),
  };
  const anywhere = {
    c: () => document.getElementById("capture-text").focus(),
    "/": () => document.getElementById("search-text").focus(),
    j: () => go(1),
    k: () => go(-1),
    u: () => undo(null),
    "?": () => location.assign("/keyboard"),
    Escape: () => (sheet?.form.isConnected && !gestures.selection().length ? sheet.close() : gestures.selectNone()),
  };

  addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input:not([type=checkbox]), textarea, select");
    const isClosing = event.key === "Escape" && event.target.closest("#sheet") && !event.isComposing;
    if (isTyping && isClosing && !event.repeat) return sheet.close();
    if (isTyping || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.isComposing) return;
    // A key that is held goes from row to row, and does nothing to them.
    if (event.repeat && !MOVES.includes(event.key)) return;
    if (event.altKey) {
      const direction = { ArrowUp: "up", ArrowDown: "down" }[event.key];
      if (direction && current()) {
        event.preventDefault();
        gestures.step(current(), direction);
      }
      return;
    }
    // Speech input types letters: keys of one character can be switched off in the settings (WCAG 2.1.4).
    const isCharacter = event.key.length === 1 && event.key !== " ";
    if (isCharacter && document.documentElement.dataset.keys === "off") return;
    if (wentFirst) {
      wentFirst = false;
      if (PLACES[event.key]) return location.assign(PLACES[event.key]);
    }
    if (event.key === "g") return (wentFirst = true);
    // A button or a link keeps its own action for these keys.
    const isOwn = event.key === " " && event.target.matches("button, input, summary");
    const row = current();
    const action = row && onRow[event.key] ? () => onRow[event.key](row) : anywhere[event.key];
    if (!action || isOwn) return;
    event.preventDefault();
    action();
  });
}
