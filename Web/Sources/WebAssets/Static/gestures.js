// What hands do with rows: the three states by one tap, selection, and actions on the selected ones.

import { Drag } from "./drag.js";
import { Menu } from "./menu.js";
import { change, show } from "./requests.js";

export class Gestures {
  constructor(main) {
    this.main = main;
    this.menu = new Menu(this);
    this.drag = new Drag(this);
    main.addEventListener("click", (event) => this.click(event));
    main.addEventListener("change", () => this.chosen());
    main.addEventListener("submit", (event) => this.submit(event));
    main.addEventListener("keydown", (event) => this.enter(event));
    main.addEventListener("pointerdown", (event) => this.drag.press(event));
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
    const boxes = [...this.main.querySelectorAll(".row > input[name=id]:checked")];
    const rows = boxes.map((box) => box.closest(".row"));
    return rows.filter((row, index) => rows.findIndex((other) => other.dataset.id === row.dataset.id) === index);
  }

  // The rows that an action on a row is for: the selection if the row is part of it.
  affected(row) {
    const selection = this.selection();
    return selection.some((other) => other.dataset.id === row.dataset.id) ? selection : [row];
  }

  chosen() {
    const selection = this.selection();
    for (const row of this.main.querySelectorAll(".row.chosen")) row.classList.remove("chosen");
    for (const row of selection) row.classList.add("chosen");
    this.tools?.classList.toggle("active", selection.length > 0);
    const words = document.getElementById("selected");
    if (words) words.textContent = `${selection.length} selected`;
  }

  selectNone() {
    for (const box of this.main.querySelectorAll("input[name=id]:checked")) box.checked = false;
    this.chosen();
  }

  // Selects the rows between the last one that was clicked and this one.
  selectRange(box) {
    const boxes = [...this.main.querySelectorAll(".row > input[name=id]")];
    const [from, to] = [boxes.indexOf(this.lastBox), boxes.indexOf(box)].sort((a, b) => a - b);
    if (from >= 0) for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
  }

  perform(rows, fields) {
    const form = new URLSearchParams(fields);
    for (const row of rows) form.append("id", row.dataset.id);
    return change("/change", form);
  }

  click(event) {
    const box = event.target.closest(".row > input[name=id]");
    if (box) {
      if (event.shiftKey) this.selectRange(box);
      this.lastBox = box;
      return this.chosen();
    }
    const button = event.target.closest("button");
    if (button?.classList.contains("state")) {
      event.preventDefault();
      this.advance(button.closest(".row"));
    } else if (button?.classList.contains("handle") && !this.drag.wasDragged) {
      this.menu.open(button.closest(".row"));
    } else if (button?.value === "none" && button.closest(".tools")) {
      event.preventDefault();
      this.selectNone();
    }
  }

  // At once, before the answer; the event of the server draws the row again.
  async advance(row) {
    const next = { notStarted: "active", active: "completed", completed: "notStarted" };
    const state = Object.keys(next).find((name) => row.classList.contains(name));
    row.classList.replace(state, next[state]);
    if (!(await this.perform([row], { action: "advance" }))) row.classList.replace(next[state], state);
  }

  submit(event) {
    const action = event.submitter?.value;
    // The default button of forms with rows, which Enter presses, does nothing.
    if (action === "nothing") return event.preventDefault();
    if (event.target !== this.form || !action) return;
    event.preventDefault();
    const selection = this.selection();
    if (!selection.length) return;
    const fields = { action };
    for (const name of ["day", "list"]) fields[name] = this.form.elements[name]?.value ?? "";
    if (action === "plan" && !fields.day) return show("Choose a day first.", null, true);
    if (action === "list" && !fields.list) return show("Choose a list first.", null, true);
    this.perform(selection, fields).then((answer) => answer && this.selectNone());
  }

  // Enter in a field of the tools presses the field's own button.
  enter(event) {
    const button = event.key === "Enter" && event.target.matches(".tools input, .tools select") && event.target.dataset.button;
    if (!button) return;
    event.preventDefault();
    this.tools.querySelector(`button[value=${button}]`).click();
  }

  // Below the nearest task above that is not moved itself.
  nest(row) {
    const moved = this.affected(row);
    let above = row.previousElementSibling;
    // Not over rows that are not loaded.
    while (above && !above.matches(".gap") && (!above.matches(".row") || moved.includes(above))) above = above.previousElementSibling;
    if (!above?.matches(".row")) return show("There is no task above.", null, true);
    this.perform(moved, { action: "nest", anchor: above.dataset.id });
  }

  // One place up or down among the rows of the same list of rows.
  step(row, direction) {
    const rows = [...row.parentElement.children].filter((child) => child.matches(".row"));
    const other = rows[rows.indexOf(row) + (direction === "up" ? -1 : 1)];
    if (other) this.perform([row], { action: direction === "up" ? "before" : "after", anchor: other.dataset.id });
  }
}
