// Gestures on rows: circles, selection, and actions on the selected rows.

import { Drag } from "./drag.js";
import { Menu } from "./menu.js";
import { flush } from "./outbox.js";
import { change, send, show, undo } from "./requests.js";
import { hold, holdDuring } from "./settling.js";

const STATES = ["notStarted", "active", "completed", "cancelled"];
const STATE_NAMES = { notStarted: "Not started", active: "Active", completed: "Completed", cancelled: "Cancelled" };
const ACTIONS = { notStarted: "reopen", active: "start", completed: "complete", cancelled: "cancel" };
// Holding a circle this long starts its task.
const HOLDING_MILLISECONDS = 500;
const STEADY_PIXELS = 10;

export class Gestures {
  constructor(main) {
    this.main = main;
    this.menu = new Menu(this);
    this.drag = new Drag(this);
    main.addEventListener("click", (event) => this.click(event));
    main.addEventListener("change", () => this.chosen());
    main.addEventListener("submit", (event) => this.submit(event));
    main.addEventListener("keydown", (event) => this.enter(event));
    main.addEventListener("pointerdown", (event) => this.press(event));
    // Presses that have not settled, by task: the state before, the shown state, the stored state, and the last answer.
    this.presses = new Map();
    document.addEventListener("tally-settled", () => this.presses.clear());
    addEventListener("pagehide", () => this.leaving());
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

  // The rows on which an action on a row works: the selection if the row is part of it.
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
      if (this.wasHeld) this.wasHeld = false;
      else this.toggle(button.closest(".row"));
    } else if (button?.classList.contains("handle") && !this.drag.wasDragged) {
      this.menu.open(button.closest(".row"));
    } else if (button?.value === "none" && button.closest(".tools")) {
      event.preventDefault();
      this.selectNone();
    }
  }

  // --- Circles

  press(event) {
    const circle = event.target.closest(".state");
    this.wasHeld = false;
    if (!circle) return this.drag.press(event);
    if (event.button !== 0) return;
    // No other row may come under the pointer before it is released.
    hold();
    const timer = setTimeout(() => {
      end();
      this.wasHeld = true;
      this.start(circle.closest(".row"));
    }, HOLDING_MILLISECONDS);
    const move = ({ clientX, clientY }) => Math.hypot(clientX - event.clientX, clientY - event.clientY) > STEADY_PIXELS && end();
    const end = () => {
      clearTimeout(timer);
      for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, end);
      removeEventListener("pointermove", move);
    };
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end);
    addEventListener("pointermove", move);
  }

  state(row) {
    return STATES.find((name) => row.classList.contains(name));
  }

  // Completes a task, or reopens it; a second press before the first has settled takes the first one back.
  toggle(row) {
    const former = this.presses.get(row.dataset.id)?.before;
    const isClosed = (state) => state === "completed" || state === "cancelled";
    this.turn(row, isClosed(this.state(row)) ? (isClosed(former) ? "notStarted" : (former ?? "notStarted")) : "completed");
  }

  // Starts a task, or stops it.
  start(row) {
    this.turn(row, this.state(row) === "active" ? "notStarted" : "active");
  }

  // Shows the new state at once; the row stays where it is for a while.
  turn(row, state) {
    const id = row.dataset.id;
    const press = this.presses.get(id) ?? { before: this.state(row), last: Promise.resolve(null), stored: this.state(row) };
    this.presses.set(id, press);
    press.shown = state;
    this.draw(id, state);
    press.last = press.last.then((answer) => this.store(id, press, state, answer));
    return holdDuring(press.last);
  }

  draw(id, state) {
    for (const row of this.main.querySelectorAll(`.row[data-id="${id}"]`)) {
      row.classList.replace(this.state(row), state);
      const circle = row.querySelector(":scope > .state");
      circle.ariaLabel = circle.ariaLabel.replace(/^[^:]*/, STATE_NAMES[state]);
      circle.name = state === "completed" || state === "cancelled" ? "reopen" : "complete";
    }
  }

  // Stores a state. One that takes back the last press undoes it with everything that came with it, such as completed sub-tasks.
  async store(id, press, state, former) {
    if (state === press.stored) return former;
    const isBack = state === press.before && former?.change && former.from === state;
    let answer = isBack ? await undo(former.change) : null;
    answer ??= await change("/change", { action: ACTIONS[state], id });
    if (!answer) {
      press.shown = press.stored;
      this.draw(id, press.stored);
      return null;
    }
    const from = press.stored;
    press.stored = state;
    return isBack ? null : { change: answer.change, from };
  }

  // Sends the presses that have not been stored yet, as the page cannot wait for earlier answers.
  leaving() {
    for (const [id, press] of this.presses) {
      if (press.shown !== press.stored) send("/change", { action: ACTIONS[press.shown], id });
    }
    flush();
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
    if (action === "plan" && !fields.day) return show({ words: "Choose a day first.", isFailure: true });
    if (action === "list" && !fields.list) return show({ words: "Choose a list first.", isFailure: true });
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
    if (!above?.matches(".row")) return show({ words: "There is no task above.", isFailure: true });
    this.perform(moved, { action: "nest", anchor: above.dataset.id });
  }

  // Moves a row one place up or down in its list of rows, where a drag could do the same.
  step(row, direction) {
    const rows = [...row.parentElement.children].filter((child) => child.matches(".row"));
    const other = rows[rows.indexOf(row) + (direction === "up" ? -1 : 1)];
    const drop = other && this.drag.place(other, direction === "up", [row]);
    if (drop) return drop();
    show({ words: `There is no place further ${direction} for this task among those of its state and its day.`, isFailure: true });
  }
}
