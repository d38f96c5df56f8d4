// A screen that follows no view, such as a task's sheet, is read again when the store has changed. Text that a person
// is typing stays.

import { morph } from "./morph.js";
import { show } from "./requests.js";
import { whenSettled } from "./settling.js";

// Changes within this time cause one reading.
const GATHERING_MILLISECONDS = 150;

export class Screen {
  constructor(main, sheet, redrawn) {
    this.main = main;
    this.sheet = sheet;
    this.redrawn = redrawn;
    this.changes = 0;
  }

  // The store has changed, here or elsewhere.
  changed() {
    this.changes += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => whenSettled(() => this.read().catch(() => {})), GATHERING_MILLISECONDS);
  }

  async read() {
    // An import shows its own progress and outcome.
    if (document.getElementById("import")) return;
    const address = location.href;
    const changes = this.changes;
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (location.href !== address) return;
    if (response.status === 404) return show({ words: "What this screen shows has been deleted. The history can bring it back.", isFailure: true });
    if (!response.ok) return;
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = answer.getElementById("main");
    // The answer is older than a change that has happened since: the screen is read again anyway.
    if (!fresh || changes !== this.changes) return;
    whenSettled(() => {
      morph(this.main, fresh, (old, newer) => this.keeps(old, newer));
      document.title = answer.title;
      this.redrawn();
    });
  }

  // The fields of a sheet with unsaved edits stay as they are.
  keeps(old, fresh) {
    // The progress of saving, and a refusal beside a field that does not belong to the task.
    if (old.id === "saving" || (old.matches("p") && old.querySelector(":scope > .refusal"))) return true;
    if (old.id !== "fields" || !this.sheet?.isBusy()) return false;
    if (!Screen.haveSameDefaults(old, fresh)) document.getElementById("elsewhere").hidden = false;
    return true;
  }

  static haveSameDefaults(old, fresh) {
    const values = (sheet) => [...sheet.querySelectorAll("input:not([type=hidden]), textarea, option[selected]")].map((field) => field.defaultValue ?? field.value);
    return values(old).join("\n") === values(fresh).join("\n");
  }
}
