// Dragging a row: by its handle with a mouse or a pen, by holding it with a finger. A line or an outline shows the
// result of a drop, and appears only where a drop is possible.

import { holdUntilReleased } from "./settling.js";

// A shorter way is a press.
const SHORTEST_DRAG_PIXELS = 6;
// A finger that rests this long carries the row; one that moves earlier scrolls, wherever it begins.
const HOLDING_MILLISECONDS = 400;
const STEADY_PIXELS = 10;
// The distance from the end of the window within which the page scrolls.
const EDGE_PIXELS = 90;
const RANKS = { active: 0, notStarted: 1, completed: 2, cancelled: 2 };

export class Drag {
  constructor(gestures) {
    this.gestures = gestures;
    this.wasDragged = false;
    this.isPressed = false;
    this.isCarrying = false;
    // A finger that carries a row must not scroll. The listener must exist before the touch begins, or the browser ignores it.
    gestures.main.addEventListener("touchmove", (event) => this.isCarrying && event.preventDefault(), { passive: false });
    gestures.main.addEventListener("contextmenu", (event) => this.isPressed && event.preventDefault());
    gestures.main.addEventListener("click", (event) => {
      if (!this.wasDragged) return;
      event.preventDefault();
      event.stopPropagation();
    }, true);
  }

  press(event) {
    this.wasDragged = false;
    const isFinger = event.pointerType === "touch";
    const row = event.target.closest(".row");
    const isOther = isFinger ? event.target.closest(".row > input, summary") : !event.target.closest(".handle");
    if (!row || isOther || event.button !== 0 || !event.isPrimary) return;
    this.follow(event, row, isFinger);
  }

  // Follows the pointer from its press to its end.
  follow(start, row, isFinger) {
    const resume = holdUntilReleased();
    let last = start;
    let target = null;
    let scrolling;
    const look = () => {
      Drag.clear();
      target = this.target(last, this.gestures.affected(row));
      target?.element.classList.add(target.className);
    };
    const scroll = () => {
      const step = last.clientY < EDGE_PIXELS ? -12 : last.clientY > innerHeight - EDGE_PIXELS ? 12 : 0;
      // Over a place a row is dropped, not scrolled.
      if (step && !document.elementFromPoint(last.clientX, last.clientY)?.closest("nav")) {
        scrollBy(0, step);
        look();
      }
      scrolling = requestAnimationFrame(scroll);
    };
    const begin = () => {
      this.isCarrying = true;
      this.wasDragged = true;
      row.classList.add("dragged");
      scrolling = requestAnimationFrame(scroll);
    };
    const holding = isFinger ? setTimeout(begin, HOLDING_MILLISECONDS) : null;
    this.isPressed = isFinger;
    const move = (event) => {
      if (event.pointerId !== start.pointerId) return;
      last = event;
      const way = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY);
      if (!this.isCarrying) {
        if (isFinger) return way > STEADY_PIXELS && end(event);
        if (way < SHORTEST_DRAG_PIXELS) return;
        begin();
      }
      look();
    };
    const names = ["pointermove", "pointerup", "pointercancel"];
    const end = (event) => {
      if (event.pointerId !== undefined && event.pointerId !== start.pointerId) return;
      clearTimeout(holding);
      for (const name of names) removeEventListener(name, name === "pointermove" ? move : end);
      removeEventListener("keydown", cancel, true);
      cancelAnimationFrame(scrolling);
      row.classList.remove("dragged");
      Drag.clear();
      if (event.type === "pointerup" && this.isCarrying) target?.drop();
      this.isCarrying = false;
      this.isPressed = false;
      resume();
      // The click that follows a drag does not count as one on the menu or the title.
      setTimeout(() => (this.wasDragged = false));
    };
    const cancel = (event) => event.key === "Escape" && end(event);
    for (const name of names) addEventListener(name, name === "pointermove" ? move : end);
    addEventListener("keydown", cancel, true);
  }

  static clear() {
    for (const element of document.querySelectorAll(".drop-before, .drop-after, .target")) {
      element.classList.remove("drop-before", "drop-after", "target");
    }
  }

  // The target under the pointer; null if the rows cannot be dropped there.
  target({ clientX, clientY }, rows) {
    const element = document.elementFromPoint(clientX, clientY);
    const place = element?.closest("[data-drop]");
    if (place) {
      const drop = this.dropOn(place.dataset.drop, rows);
      return drop && { element: place, className: "target", drop };
    }
    const row = element?.closest(".row");
    if (!row) return null;
    const box = row.getBoundingClientRect();
    const isBefore = clientY < box.top + box.height / 2;
    const drop = this.place(row, isBefore, rows);
    return drop && { element: row, className: isBefore ? "drop-before" : "drop-after", drop };
  }

  // A drop on a day, a list or the inbox; null if the rows are there already or cannot go there, as a sub-task is always in the
  // list of its parent.
  dropOn(place, rows) {
    const [kind, value] = place.split(/:(.*)/s);
    const hasParent = rows.some((row) => row.dataset.parent);
    const isElsewhere = {
      day: (row) => row.dataset.planned !== value,
      list: (row) => !hasParent && row.dataset.list !== value,
      inbox: (row) => !hasParent && (row.dataset.list || row.dataset.planned),
      lists: () => !hasParent,
    };
    if (!rows.some(isElsewhere[kind])) return null;
    if (kind === "lists") return () => this.gestures.menu.askList(rows);
    const fields = { day: { action: "plan", day: value }, list: { action: "list", list: value }, inbox: { action: "inbox" } };
    return () => this.gestures.perform(rows, fields[kind]);
  }

  // A drop beside a row: a function that moves the rows there, or null if they would not end up there.
  place(row, isBefore, rows) {
    const list = row.parentElement;
    const isFamily = list.matches(".family > .rows, #subtasks");
    if (rows.includes(row) || !(isFamily || list.matches("#rows[data-ordered]"))) return null;
    if (!rows.every((dragged) => Drag.belongs(dragged, list, isFamily))) return null;
    const state = (row) => Object.keys(RANKS).find((name) => row.classList.contains(name));
    const own = state(rows[0]);
    // Rows of different states cannot be placed together.
    if (rows.some((dragged) => state(dragged) !== own)) return null;
    const [before, after] = isBefore ? [Drag.beside(row, -1, rows), row] : [row, Drag.beside(row, 1, rows)];
    const day = isFamily ? "" : row.dataset.day || list.dataset.day;
    // Today also shows tasks that are only due; nothing is placed beside those.
    const fits = [before, after].map(
      (neighbor) => neighbor?.matches(".row") && state(neighbor) === own && (!day || neighbor.dataset.planned === day),
    );
    const rank = (neighbor, none) => (neighbor?.matches(".row") ? RANKS[state(neighbor)] : none);
    if (rank(before, -1) > RANKS[own] || rank(after, 3) < RANKS[own]) return null;
    // Nobody knows the states of rows that are not loaded.
    if ([before, after].some((neighbor) => neighbor?.matches(".gap")) && !fits.includes(true)) return null;
    const isPlanned = !day || rows.every((dragged) => dragged.dataset.planned === day);
    if (isPlanned && Drag.standsThere(rows, before, after)) return null;
    if (!fits.includes(true)) return isPlanned ? null : () => this.gestures.perform(rows, { action: "plan", day });
    const fields = fits[0] ? { action: "after", anchor: before.dataset.id } : { action: "before", anchor: after.dataset.id };
    // Sub-tasks have an order of their own only in one list, or on one day.
    const anchor = fits[0] ? before : after;
    if (isFamily && !anchor.dataset.list && rows.some((dragged) => dragged.dataset.planned !== anchor.dataset.planned)) return null;
    return () => this.gestures.perform(rows, day ? { ...fields, day } : fields);
  }

  // Whether a row can be placed in a list of rows: among its siblings, or anywhere if it is not shown below its parent there.
  static belongs(row, list, isFamily) {
    if (isFamily) return row.parentElement === list;
    const { parent } = row.dataset;
    if (!parent) return true;
    return !list.querySelector(`.row[data-id="${parent}"], .gap`) && !row.parentElement.closest(".family");
  }

  // The next row of the same section that is not carried, or the gap of rows that are not loaded; null if there is neither.
  static beside(row, step, rows) {
    let next = row;
    do next = step < 0 ? next.previousElementSibling : next.nextElementSibling;
    while (next && (next.matches(".nested") || rows.includes(next)));
    return next?.matches(".row, .gap") ? next : null;
  }

  // Whether nothing would move, because the rows are already exactly those between two others.
  static standsThere(rows, before, after) {
    const between = [];
    const first = rows[0];
    if (!first.parentElement.contains(before ?? after)) return false;
    let next = before ? before.nextElementSibling : null;
    if (!before) {
      next = after;
      while (next.previousElementSibling?.matches(".row, .nested")) next = next.previousElementSibling;
    }
    while (next && next !== after && next.matches(".row, .nested")) {
      if (next.matches(".row")) between.push(next);
      next = next.nextElementSibling;
    }
    return between.length === rows.length && rows.every((row) => between.includes(row));
  }
}
