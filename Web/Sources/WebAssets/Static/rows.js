// The rows of a view: made as they come near the window, released when they are far from it, and changed by the events of
// the server.
//
// Children of the list are rows, places of rows that are shown below their parents, headings of days, and gaps, which stand
// for rows that are not there. A position counts all but the headings.

import { foldAgain } from "./families.js";
import { morph } from "./morph.js";
import { announce } from "./requests.js";
import { isSettling, whenSettled } from "./settling.js";
import { epoch, number } from "./stream.js";

const ROW_HEIGHT_PIXELS = 48;
const CHUNK = 100;
// The distance from the window within which rows are made; rows beyond it are released.
const NEAR_PIXELS = 1200;
const FAR_PIXELS = 6000;
// The number of rows up to which releasing some is not worth it.
const FEW_ROWS = 400;
// How long rows of a newer version wait for the events that lead to it.
const PATIENCE_MILLISECONDS = 1000;

export class Rows {
  constructor(list) {
    this.list = list;
    this.view = list.dataset.view;
    this.version = list.dataset.version;
    this.count = Number(list.dataset.count);
    this.filling = false;
    this.watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.fill();
    }, { rootMargin: `${NEAR_PIXELS}px 0px` });
    for (const gap of list.querySelectorAll(".gap")) {
      this.prepare(gap, Number(gap.dataset.count));
      this.watch.observe(gap);
    }
  }

  // An event of the server. If it does not follow the version that is shown, all rows are requested again.
  receive({ event, id, data }) {
    const isNext = epoch(id) === epoch(this.version) && number(id) === number(this.version) + 1;
    if (epoch(id) === epoch(this.version) && number(id) <= number(this.version)) return;
    if (event === "change" && isNext) this.apply(data, id);
    else this.reset(data, id);
  }

  // --- Gaps

  prepare(gap, count, height = count * ROW_HEIGHT_PIXELS) {
    gap.className = "gap";
    gap.dataset.count = count;
    gap.replaceChildren();
    gap.setAttribute("aria-hidden", "true");
    gap.style.height = `${height}px`;
    return gap;
  }

  gap(count, height) {
    const gap = this.prepare(document.createElement("li"), count, height);
    this.watch.observe(gap);
    return gap;
  }

  // A gap keeps the height of each row that it stands for.
  resize(gap, count) {
    const height = parseFloat(gap.style.height) / Number(gap.dataset.count);
    if (count > 0) this.prepare(gap, count, count * height);
    else {
      this.watch.unobserve(gap);
      gap.remove();
    }
  }

  // --- Positions

  static size(child) {
    if (child.classList.contains("gap")) return Number(child.dataset.count);
    return child.classList.contains("day") ? 0 : 1;
  }

  // The child at a position, and how far into it the position lies; null after the last one.
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
    foldAgain(template.content);
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
    this.wake?.();
  }

  remove(position) {
    const { child } = this.find(position) ?? {};
    if (!child) return;
    if (child.classList.contains("gap")) this.resize(child, Number(child.dataset.count) - 1);
    else child.remove();
  }

  insert({ position, html }) {
    const { child, offset } = this.find(position) ?? {};
    if (child && offset > 0) return this.resize(child, Number(child.dataset.count) + 1);
    this.list.insertBefore(Rows.element(html), child ?? null);
  }

  update({ position, html }) {
    const { child } = this.find(position) ?? {};
    if (!child || child.classList.contains("gap")) return;
    const row = Rows.element(html);
    // A place of a row that is shown below its parent becomes a row, or the other way round.
    if (child.className.split(" ")[0] !== row.className.split(" ")[0]) child.replaceWith(row);
    else morph(child, row);
  }

  // Everything may be different: ask for the rows that are in view.
  reset({ count }, version) {
    for (const gap of this.list.querySelectorAll(".gap")) this.watch.unobserve(gap);
    this.version = version;
    this.list.replaceChildren();
    if (count > 0) this.list.append(this.gap(count));
    this.settle(count);
    this.wake?.();
    this.fill();
  }

  // Updates the parts that depend on the rows: headings of days, the number of tasks, the words of an empty list.
  settle(count, completed) {
    this.count = count;
    this.headings();
    document.getElementById("empty").hidden = count > 0;
    if (completed !== undefined) {
      const words = count === 0 ? "No tasks" : `${count} ${count === 1 ? "task" : "tasks"}`;
      const done = completed === count ? "all" : completed;
      document.getElementById("summary").textContent = completed ? `${words}, ${done} completed` : words;
    }
    this.list.dispatchEvent(new CustomEvent("rows-changed", { bubbles: true }));
  }

  headings() {
    // This goes from the last row to the first, so that a heading knows whether the next row with a day needs it.
    let day = null;
    for (const child of [...this.list.children]) {
      if (child.classList.contains("day")) {
        const next = Rows.afterHeading(child);
        if (!next?.classList.contains("row") || next.dataset.day !== child.dataset.day || day === child.dataset.day) child.remove();
        else day = child.dataset.day;
      } else if (child.dataset.day && child.dataset.day !== day) {
        day = child.dataset.day;
        this.list.insertBefore(Rows.heading(child), child);
      } else if (child.classList.contains("gap")) day = null;
    }
  }

  static afterHeading(heading) {
    let next = heading.nextElementSibling;
    while (next?.classList.contains("nested")) next = next.nextElementSibling;
    return next;
  }

  static heading(row) {
    const heading = document.createElement("li");
    heading.className = "day";
    heading.dataset.day = row.dataset.day;
    heading.dataset.drop = `day:${row.dataset.day}`;
    const words = document.createElement("h2");
    words.textContent = row.dataset.dayName;
    heading.append(words);
    return heading;
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
      let isFilled;
      while ((isFilled = await this.fillOne())) this.release();
      // A gap that left the neighbourhood of the window and came back between two frames was not noticed, so all gaps
      // are checked once more.
      if (isFilled === null) {
        for (const gap of this.list.querySelectorAll(".gap")) {
          this.watch.unobserve(gap);
          this.watch.observe(gap);
        }
      }
    } catch {
      // The notice of the connection says that the server does not answer; the next event or scroll asks again.
    } finally {
      this.filling = false;
    }
  }

  // Returns whether rows came; null if no gap is near.
  async fillOne() {
    const near = NEAR_PIXELS + 2;
    const gap = [...this.list.querySelectorAll(".gap")].find((gap) => {
      const box = gap.getBoundingClientRect();
      return box.bottom >= -near && box.top <= innerHeight + near;
    });
    if (!gap) return null;
    const size = Number(gap.dataset.count);
    const box = gap.getBoundingClientRect();
    // In the middle of a gap, the rows from above the window on; in a gap whose end is near, the rows at its end.
    const before = Math.floor((-NEAR_PIXELS / 2 - box.top) / (box.height / size));
    const offset = Math.max(0, Math.min(before, size - CHUNK));
    const first = this.position(gap) + offset;
    const count = Math.min(CHUNK, size - offset);
    const answer = await this.ask(first, count);
    if (!answer) return false;
    // The page has changed meanwhile, so the gaps are checked again.
    if (answer.version !== this.version) return true;
    return this.put(answer, first);
  }

  // Puts rows into the gap that stands for them; false if there is none any more.
  put({ rows: html, count, completed }, first) {
    const { child: gap, offset } = this.find(first) ?? {};
    if (!gap?.classList.contains("gap")) return false;
    const [size, height] = [Number(gap.dataset.count), parseFloat(gap.style.height)];
    const rows = html.slice(0, size - offset).map(Rows.element);
    const rest = size - offset - rows.length;
    if (rest > 0) gap.after(this.gap(rest, (rest * height) / size));
    gap.after(...rows);
    this.resize(gap, offset);
    this.settle(count, completed);
    return rows.length > 0;
  }

  // Requests rows of the version that is shown. If the events that lead to a newer version do not arrive, the page
  // starts again with that version.
  async ask(first, count) {
    const version = this.version;
    const response = await fetch(`/rows?${new URLSearchParams({ view: this.view, from: first, count })}`);
    if (!response.ok) return null;
    const answer = await response.json();
    if (answer.version === this.version) return answer;
    // The events wait until a press has settled.
    if (isSettling()) await new Promise((resolve) => whenSettled(resolve));
    if (this.version === version) {
      await new Promise((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, PATIENCE_MILLISECONDS);
      });
      this.wake = null;
    }
    const isBehind = epoch(answer.version) !== epoch(this.version) || number(answer.version) > number(this.version);
    if (this.version === version && isBehind) this.reset(answer, answer.version);
    return answer;
  }

  // --- Releasing

  // Rows far from the window become gaps again, of the same height, so that a page does not grow while somebody scrolls.
  release() {
    if (this.list.childElementCount < FEW_ROWS) return;
    const far = [...this.list.children].filter((child) => {
      if (child.classList.contains("gap") || Rows.isInUse(child)) return false;
      const box = child.getBoundingClientRect();
      return box.bottom < -FAR_PIXELS || box.top > innerHeight + FAR_PIXELS;
    });
    // Neighbouring rows are released together; a heading goes with its rows.
    let run = [];
    for (const child of far) {
      if (run.length && run.at(-1).nextElementSibling !== child) {
        this.releaseRun(run);
        run = [];
      }
      run.push(child);
    }
    if (run.length) this.releaseRun(run);
    this.headings();
  }

  releaseRun(run) {
    const height = run.at(-1).getBoundingClientRect().bottom - run[0].getBoundingClientRect().top;
    const count = run.reduce((sum, child) => sum + Rows.size(child), 0);
    if (count === 0) return;
    const [before, after] = [run[0].previousElementSibling, run.at(-1).nextElementSibling];
    for (const child of run) child.remove();
    for (const gap of [before, after]) {
      if (!gap?.classList.contains("gap")) continue;
      const total = Number(gap.dataset.count) + count;
      return void this.prepare(gap, total, parseFloat(gap.style.height) + height);
    }
    this.list.insertBefore(this.gap(count, height), after);
  }

  // Rows that are selected, dragged or have the focus stay.
  static isInUse(row) {
    return row.matches(".chosen, .dragged") || row.querySelector(".chosen") || row.contains(document.activeElement);
  }
}

// Announces how many rows came and went, once for a burst of events.
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
