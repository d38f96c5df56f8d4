// The rows of a view: made as they come into view, and changed by the events of the server.
//
// Children of the list are rows, headings of days, and gaps, which stand for rows that are not there yet. A position
// counts rows and what gaps stand for.

import { announce } from "./requests.js";

const ROW_HEIGHT = 48;
const CHUNK = 100;

export class Rows {
  constructor(list) {
    this.list = list;
    this.view = list.dataset.view;
    this.version = list.dataset.version;
    this.count = Number(list.dataset.count);
    this.filling = false;
    for (const gap of list.querySelectorAll(".gap")) this.prepare(gap, Number(gap.dataset.count));
    this.watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.fill();
    }, { rootMargin: "1200px 0px" });
    for (const gap of list.querySelectorAll(".gap")) this.watch.observe(gap);
  }

  follow() {
    // The browser reconnects by itself, with the id of the last event.
    this.source = new EventSource(`/events?${new URLSearchParams({ view: this.view, after: this.version })}`);
    this.source.addEventListener("change", (event) => this.apply(JSON.parse(event.data), event.lastEventId));
    this.source.addEventListener("reset", (event) => this.reset(JSON.parse(event.data), event.lastEventId));
  }

  // --- Gaps

  prepare(gap, count) {
    gap.className = "gap";
    gap.dataset.count = count;
    gap.replaceChildren();
    gap.setAttribute("aria-hidden", "true");
    gap.style.height = `${count * ROW_HEIGHT}px`;
    return gap;
  }

  gap(count) {
    const gap = this.prepare(document.createElement("li"), count);
    this.watch.observe(gap);
    return gap;
  }

  resize(gap, count) {
    if (count > 0) this.prepare(gap, count);
    else {
      this.watch.unobserve(gap);
      gap.remove();
    }
  }

  // --- Positions

  static size(child) {
    return child.classList.contains("row") ? 1 : child.classList.contains("gap") ? Number(child.dataset.count) : 0;
  }

  // The child at a position, and how far into it the position lies; null behind the last one.
  find(position) {
    let start = 0;
    for (const child of this.list.children) {
      const size = Rows.size(child);
      if (position < start + size) return { child, offset: position - start };
      start += size;
    }
    return null;
  }

  position(row) {
    let start = 0;
    for (const child of this.list.children) {
      if (child === row) return start;
      start += Rows.size(child);
    }
    return -1;
  }

  static element(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content.firstElementChild;
  }

  // --- Changes

  apply(change, version) {
    const focus = this.focused();
    const leaving = [...change.removals, ...change.moves.map((move) => move.origin)].sort((a, b) => b - a);
    for (const position of leaving) this.remove(position);
    const arriving = [...change.insertions, ...change.moves].sort((a, b) => a.position - b.position);
    for (const row of arriving) this.insert(row);
    for (const row of change.updates) this.update(row);
    this.version = version;
    this.settle(change.count, change.completed);
    this.restore(focus);
  }

  remove(position) {
    const { child } = this.find(position) ?? {};
    if (!child) return;
    if (child.classList.contains("row")) child.remove();
    else this.resize(child, Number(child.dataset.count) - 1);
  }

  insert({ position, html }) {
    const { child, offset } = this.find(position) ?? {};
    if (child && offset > 0) return this.resize(child, Number(child.dataset.count) + 1);
    this.list.insertBefore(Rows.element(html), child ?? null);
  }

  update({ position, html }) {
    const { child } = this.find(position) ?? {};
    if (!child?.classList.contains("row")) return;
    const row = Rows.element(html);
    const isChosen = child.querySelector("input[name=id]").checked;
    row.querySelector("input[name=id]").checked = isChosen;
    row.classList.toggle("chosen", isChosen);
    child.replaceWith(row);
  }

  // Everything may be different: ask for the rows that are in view.
  reset({ count }, version) {
    for (const gap of this.list.querySelectorAll(".gap")) this.watch.unobserve(gap);
    this.version = version;
    this.list.replaceChildren();
    if (count > 0) this.list.append(this.gap(count));
    this.settle(count);
    this.fill();
  }

  // What follows from the rows: headings of days, the number of tasks, an empty list's words.
  settle(count, completed) {
    this.count = count;
    this.headings();
    document.getElementById("empty").hidden = count > 0;
    if (completed !== undefined) {
      const words = count === 0 ? "No tasks" : `${count} ${count === 1 ? "task" : "tasks"}`;
      document.getElementById("summary").textContent = completed ? `${words}, ${completed} completed` : words;
    }
    this.list.dispatchEvent(new CustomEvent("rows-changed", { bubbles: true }));
  }

  headings() {
    let day = null;
    for (const child of [...this.list.children]) {
      if (child.classList.contains("day")) {
        const next = child.nextElementSibling;
        if (!next?.classList.contains("row") || next.dataset.day !== child.dataset.day || day === child.dataset.day) child.remove();
        else day = child.dataset.day;
      } else if (child.dataset.day && child.dataset.day !== day) {
        day = child.dataset.day;
        const heading = document.createElement("li");
        heading.className = "day";
        heading.dataset.day = day;
        heading.dataset.drop = `day:${day}`;
        const words = document.createElement("h2");
        words.textContent = child.dataset.dayName;
        heading.append(words);
        this.list.insertBefore(heading, child);
      } else if (child.classList.contains("gap")) day = null;
    }
  }

  // --- Focus: a row that moves or is drawn again keeps it.

  focused() {
    const row = document.activeElement?.closest?.(".row");
    if (!row || !this.list.contains(row)) return null;
    const selector = ["input", ".state", ".title", ".handle"].find((name) => document.activeElement.matches(name));
    return { id: row.dataset.id, selector, index: [...this.list.querySelectorAll(".row")].indexOf(row) };
  }

  restore(focus) {
    if (!focus || (document.activeElement && document.activeElement !== document.body)) return;
    const rows = [...this.list.querySelectorAll(".row")];
    const row = rows.find((row) => row.dataset.id === focus.id) ?? rows[Math.min(focus.index, rows.length - 1)];
    row?.querySelector(focus.selector ?? ".title")?.focus({ preventScroll: true });
  }

  // --- Filling

  // Loads a part of the first gap that is near the window, until none is.
  async fill() {
    if (this.filling) return;
    this.filling = true;
    try {
      while (await this.fillOne());
    } finally {
      this.filling = false;
    }
  }

  async fillOne() {
    const gap = [...this.list.querySelectorAll(".gap")].find((gap) => {
      const box = gap.getBoundingClientRect();
      return box.bottom > -1200 && box.top < innerHeight + 1200;
    });
    if (!gap) return false;
    const size = Number(gap.dataset.count);
    const visible = Math.max(0, Math.floor((-600 - gap.getBoundingClientRect().top) / ROW_HEIGHT));
    const offset = Math.min(visible, Math.max(0, size - CHUNK));
    const first = this.position(gap) + offset;
    const version = this.version;
    const response = await fetch(`/rows?${new URLSearchParams({ view: this.view, from: first, count: Math.min(CHUNK, size - offset) })}`);
    if (!response.ok) return false;
    const answer = await response.json();
    // An event came in between, or is on its way: ask again after it.
    if (answer.version !== version || this.version !== version || !gap.isConnected) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return true;
    }
    const rows = answer.rows.map(Rows.element);
    const rest = size - offset - rows.length;
    if (rest > 0) gap.after(this.gap(rest));
    gap.after(...rows);
    this.resize(gap, offset);
    this.settle(answer.count, answer.completed);
    return rows.length > 0;
  }
}

// Says what came and went, once for a burst of events.
export function announceChanges(rows) {
  let last = rows.count;
  let timer;
  rows.list.addEventListener("rows-changed", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (rows.count === last) return;
      const difference = rows.count - last;
      last = rows.count;
      announce(`${Math.abs(difference)} ${Math.abs(difference) === 1 ? "task" : "tasks"} ${difference > 0 ? "added" : "removed"}, ${rows.count} shown`);
    }, 500);
  });
}
