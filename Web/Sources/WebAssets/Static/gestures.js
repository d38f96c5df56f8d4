// What hands do with rows: the three states by one tap, selection, drag and drop, and the menu that does the same.

import { change } from "./requests.js";

const MENU = [
  ["Next state", { action: "advance" }], ["Complete", { action: "complete" }], ["Plan for today", { action: "today" }],
  ["Plan for tomorrow", { action: "tomorrow" }], ["Plan for no day", { action: "unplan" }], ["Move up", "up"],
  ["Move down", "down"], ["High priority", { action: "priority", priority: "high" }],
  ["No priority", { action: "priority", priority: "none" }], ["Delete", { action: "delete" }],
];

export class Gestures {
  constructor(main) {
    this.main = main;
    main.addEventListener("click", (event) => this.click(event));
    main.addEventListener("change", () => this.chosen());
    main.addEventListener("submit", (event) => this.submit(event));
    main.addEventListener("pointerdown", (event) => this.press(event));
    this.menu = this.makeMenu();
  }

  // The screen's content may be replaced by that of a search.
  get form() {
    return document.getElementById("rows-form");
  }

  get tools() {
    return this.main.querySelector(".tools");
  }

  rows() {
    return [...this.main.querySelectorAll(".row")];
  }

  // The selected rows, in their order on the screen; each task once.
  selection() {
    const rows = this.rows().filter((row) => row.querySelector("input[name=id]").checked);
    return rows.filter((row, index) => rows.findIndex((other) => other.dataset.id === row.dataset.id) === index);
  }

  // The rows that an action on a row is for: the selection if the row is part of it.
  affected(row) {
    const selection = this.selection();
    return selection.some((other) => other.dataset.id === row.dataset.id) ? selection : [row];
  }

  chosen() {
    const selection = this.selection();
    for (const row of this.rows()) row.classList.toggle("chosen", row.querySelector("input[name=id]").checked);
    this.tools?.classList.toggle("active", selection.length > 0);
    const words = document.getElementById("selected");
    if (words) words.textContent = `${selection.length} selected`;
  }

  selectNone() {
    for (const box of this.main.querySelectorAll("input[name=id]:checked")) box.checked = false;
    this.chosen();
  }

  perform(rows, fields) {
    const form = new URLSearchParams(fields);
    for (const row of rows) form.append("id", row.dataset.id);
    return change("/change", form);
  }

  click(event) {
    const button = event.target.closest("button");
    if (button?.classList.contains("state")) {
      event.preventDefault();
      const row = button.closest(".row");
      // At once, before the answer; the event of the server draws the row again.
      const next = { notStarted: "active", active: "completed", completed: "notStarted" };
      const state = Object.keys(next).find((name) => row.classList.contains(name));
      row.classList.replace(state, next[state]);
      this.perform([row], { action: "advance" }).then((answer) => answer ?? row.classList.replace(next[state], state));
    } else if (button?.classList.contains("handle") && !this.wasDragged) {
      this.openMenu(button.closest(".row"), button);
    }
  }

  submit(event) {
    if (event.target !== this.form || !event.submitter?.value) return;
    event.preventDefault();
    const selection = this.selection();
    if (!selection.length) return;
    const fields = { action: event.submitter.value };
    for (const name of ["day", "list"]) fields[name] = this.form.elements[name]?.value ?? "";
    this.perform(selection, fields).then((answer) => answer && this.selectNone());
  }

  // --- Menu

  makeMenu() {
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-label", "Task");
    const menu = document.createElement("div");
    menu.setAttribute("role", "menu");
    for (const [words, action] of MENU) {
      const item = document.createElement("button");
      item.type = "button";
      item.setAttribute("role", "menuitem");
      item.textContent = words;
      item.addEventListener("click", () => {
        dialog.close();
        if (typeof action === "string") this.step(this.menuRow, action);
        else this.perform(this.affected(this.menuRow), action);
      });
      menu.append(item);
    }
    menu.addEventListener("keydown", (event) => {
      const items = [...menu.children];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
    });
    dialog.append(menu);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    return dialog;
  }

  openMenu(row) {
    this.menuRow = row;
    this.menu.showModal();
    this.menu.querySelector("button").focus();
  }

  // One place up or down among the rows of the same list of rows.
  step(row, direction) {
    const rows = [...row.parentElement.querySelectorAll(".row")];
    const other = rows[rows.indexOf(row) + (direction === "up" ? -1 : 1)];
    if (other) this.perform([row], { action: direction === "up" ? "before" : "after", anchor: other.dataset.id });
  }

  // --- Drag: by its handle, with a mouse, a finger or a pen.

  press(event) {
    const handle = event.target.closest(".handle");
    this.wasDragged = false;
    if (!handle || event.button !== 0) return;
    const row = handle.closest(".row");
    const start = { x: event.clientX, y: event.clientY };
    let target = null;
    const clear = () => {
      for (const element of document.querySelectorAll(".drop-before, .drop-after, .target")) {
        element.classList.remove("drop-before", "drop-after", "target");
      }
    };
    const move = (event) => {
      if (!this.wasDragged && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 6) return;
      this.wasDragged = true;
      row.classList.add("dragged");
      clear();
      target = this.target(event, row);
      target?.element.classList.add(target.className);
    };
    const end = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      row.classList.remove("dragged");
      clear();
      if (event.type === "pointerup" && this.wasDragged && target) this.perform(this.affected(row), target.fields);
      // The click that follows is not one on the menu.
      setTimeout(() => (this.wasDragged = false));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  // What lies under the pointer: a neighbour, a day or a list.
  target(event, dragged) {
    const element = document.elementFromPoint(event.clientX, event.clientY);
    const drop = element?.closest("[data-drop]");
    if (drop) {
      const [kind, value] = drop.dataset.drop.split(/:(.*)/s);
      const fields = kind === "day" ? { action: "plan", day: value } : kind === "list" ? { action: "list", list: value } : { action: kind };
      return { element: drop, className: "target", fields };
    }
    const row = element?.closest("#rows[data-ordered] .row");
    if (!row || row === dragged) return null;
    const box = row.getBoundingClientRect();
    const isBefore = event.clientY < box.top + box.height / 2;
    return {
      element: row, className: isBefore ? "drop-before" : "drop-after",
      fields: { action: isBefore ? "before" : "after", anchor: row.dataset.id },
    };
  }
}
