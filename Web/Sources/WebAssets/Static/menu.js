// The menu of a task, or of the selected tasks: it can do everything that dragging does, and more.

const ACTIONS = [
  ["Start", { action: "start" }], ["Complete", { action: "complete" }], ["Cancel", { action: "cancel" }], ["Reopen", { action: "reopen" }], ["Plan for today", { action: "today" }],
  ["Plan for tomorrow", { action: "tomorrow" }], ["Plan for a day…", "day"], ["Plan for no day", { action: "unplan" }],
  ["Move to a list…", "list"], ["Move to the inbox", { action: "inbox" }], ["Move up", "up"], ["Move down", "down"],
  ["Make a sub-task of the one above", "nest"], ["Take out of its parent", { action: "unnest" }],
  ["High priority", { action: "priority", priority: "high" }], ["No priority", { action: "priority", priority: "none" }],
  ["Delete", { action: "delete" }],
];
// Those for tasks that repeat.
const SERIES_ACTIONS = [["Skip this one", { action: "skip" }], ["Delete only this one", { action: "delete-only" }]];

export class Menu {
  constructor(gestures) {
    this.gestures = gestures;
    this.dialog = document.createElement("dialog");
    this.dialog.className = "menu";
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    document.body.append(this.dialog);
  }

  // The actions on a row.
  open(row) {
    this.row = row;
    const rows = this.gestures.affected(row);
    const words = rows.length === 1 ? row.querySelector(".title").textContent : `${rows.length} tasks`;
    const isRepeating = rows.every((row) => "repeating" in row.dataset);
    this.showItems(words, [...ACTIONS, ...(isRepeating ? SERIES_ACTIONS : [])].map(([text, action]) => [text, () => this.choose(action)]));
  }

  choose(action) {
    if (action === "day") return this.askDay();
    if (action === "list") return this.askList(this.gestures.affected(this.row));
    this.dialog.close();
    if (action === "nest") this.gestures.nest(this.row);
    else if (typeof action === "string") this.gestures.step(this.row, action);
    else this.gestures.perform(this.gestures.affected(this.row), action);
  }

  askList(rows) {
    const lists = [...document.querySelectorAll("#places [data-drop^='list:']")].map((link) => [
      link.querySelector("bdi").textContent, link.dataset.drop.slice("list:".length),
    ]);
    const items = [...lists, ["No list", "none"]];
    this.showItems("Move to a list", items.map(([name, list]) => [name, () => {
      this.dialog.close();
      this.gestures.perform(rows, { action: "list", list });
    }]));
  }

  askDay() {
    const rows = this.gestures.affected(this.row);
    const form = document.createElement("form");
    form.method = "dialog";
    const label = document.createElement("label");
    label.textContent = "Day";
    const field = document.createElement("input");
    field.type = "date";
    field.required = true;
    label.append(field);
    const button = document.createElement("button");
    button.className = "main";
    button.textContent = "Plan";
    form.append(label, button);
    form.addEventListener("submit", () => this.gestures.perform(rows, { action: "plan", day: field.value }));
    this.show("Plan for a day", form);
    field.focus();
  }

  showItems(words, items) {
    const menu = document.createElement("div");
    menu.setAttribute("role", "menu");
    menu.setAttribute("aria-label", words);
    for (const [text, action] of items) {
      const item = document.createElement("button");
      item.type = "button";
      item.setAttribute("role", "menuitem");
      item.textContent = text;
      item.addEventListener("click", action);
      menu.append(item);
    }
    this.show(words, menu);
    menu.querySelector("button").focus();
  }

  show(words, content) {
    const heading = document.createElement("h2");
    heading.dir = "auto";
    heading.textContent = words;
    this.dialog.setAttribute("aria-label", words);
    this.dialog.replaceChildren(heading, content);
    if (!this.dialog.open) this.dialog.showModal();
  }

  key(event) {
    const items = [...this.dialog.querySelectorAll("[role=menuitem]")];
    const index = items.indexOf(document.activeElement);
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key];
    if (next === undefined || !items.length) return;
    event.preventDefault();
    items[(next + items.length) % items.length].focus();
  }
}
