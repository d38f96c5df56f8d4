// A screen that follows no view, such as a task's sheet: read again when the store has changed. What a person is typing stays.

import { editedFields, morph } from "./morph.js";
import { show } from "./requests.js";

// Several changes in a row are one reason to read.
const GATHERING_MILLISECONDS = 150;

export class Screen {
  constructor(main, redrawn) {
    this.main = main;
    this.redrawn = redrawn;
  }

  // The store has changed, here or elsewhere.
  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read().catch(() => {}), GATHERING_MILLISECONDS);
  }

  async read() {
    // An import shows its own progress and outcome.
    if (document.getElementById("import")) return;
    const address = location.href;
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (location.href !== address) return;
    if (response.status === 404) return show("What this screen shows has been deleted. The history can bring it back.", null, true);
    if (!response.ok) return;
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = answer.getElementById("main");
    if (!fresh) return;
    morph(this.main, fresh, (old, newer) => this.keeps(old, newer));
    document.title = answer.title;
    this.redrawn();
  }

  // A sheet with unsaved edits stays as it is.
  keeps(old, fresh) {
    if (old.id !== "sheet" || !editedFields(old).length) return false;
    if (!Screen.haveSameDefaults(old, fresh)) {
      document.getElementById("elsewhere").hidden = false;
    }
    return true;
  }

  static haveSameDefaults(old, fresh) {
    const values = (sheet) => [...sheet.querySelectorAll("input:not([type=hidden]), textarea, option[selected]")].map((field) => field.defaultValue ?? field.value);
    return values(old).join("\n") === values(fresh).join("\n");
  }
}
