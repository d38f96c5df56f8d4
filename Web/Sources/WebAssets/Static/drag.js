// Dragging a row by its handle, with a mouse, a finger or a pen.

// A shorter way is a press.
const SHORTEST_DRAG_PIXELS = 6;
// As near to the end of the window as this, the page scrolls.
const EDGE_PIXELS = 90;

export class Drag {
  constructor(gestures) {
    this.gestures = gestures;
    this.isOver = false;
  }

  press(event) {
    const handle = event.target.closest(".handle");
    this.wasDragged = false;
    if (!handle || event.button !== 0) return;
    const row = handle.closest(".row");
    const start = { x: event.clientX, y: event.clientY };
    let last = event;
    let target = null;
    let scrolling;
    const look = () => {
      Drag.clear();
      target = this.target(last, row);
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
    const move = (event) => {
      last = event;
      if (!this.wasDragged && Math.hypot(event.clientX - start.x, event.clientY - start.y) < SHORTEST_DRAG_PIXELS) return;
      if (!this.wasDragged) scrolling = requestAnimationFrame(scroll);
      this.wasDragged = true;
      row.classList.add("dragged");
      look();
    };
    const end = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", cancel, true);
      cancelAnimationFrame(scrolling);
      row.classList.remove("dragged");
      Drag.clear();
      if (event.type === "pointerup" && this.wasDragged && target) target.drop(this.gestures.affected(row));
      // The click that follows is not one on the menu.
      setTimeout(() => (this.wasDragged = false));
    };
    const cancel = (event) => event.key === "Escape" && end(event);
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    addEventListener("keydown", cancel, true);
  }

  static clear() {
    for (const element of document.querySelectorAll(".drop-before, .drop-after, .target")) {
      element.classList.remove("drop-before", "drop-after", "target");
    }
  }

  // What lies under the pointer: a neighbour, a day, a list or the inbox.
  target(event, dragged) {
    const element = document.elementFromPoint(event.clientX, event.clientY);
    const place = element?.closest("[data-drop]");
    if (place) return { element: place, className: "target", drop: (rows) => this.dropOn(place.dataset.drop, rows) };
    const row = element?.closest("#rows[data-ordered] > .row");
    if (!row || row.contains(dragged)) return null;
    const box = row.getBoundingClientRect();
    const isBefore = event.clientY < box.top + box.height / 2;
    return {
      element: row, className: isBefore ? "drop-before" : "drop-after",
      drop: (rows) => this.gestures.perform(rows, { action: isBefore ? "before" : "after", anchor: row.dataset.id }),
    };
  }

  dropOn(place, rows) {
    const [kind, value] = place.split(/:(.*)/s);
    if (kind === "lists") return this.gestures.menu.askList(rows);
    const fields = { day: { action: "plan", day: value }, list: { action: "list", list: value }, inbox: { action: "inbox" } };
    this.gestures.perform(rows, fields[kind]);
  }
}
