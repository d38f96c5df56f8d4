// Sub-tasks below their parents can be folded; the browser remembers which are.

const STORED = "tally-folded";
const LONGEST_MEMORY = 500;

function folded() {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "[]");
  } catch {
    return [];
  }
}

// Folds sub-tasks that were folded when they were last shown.
export function foldAgain(part) {
  const ids = folded();
  for (const family of part.querySelectorAll("details.family")) {
    if (ids.includes(family.dataset.family)) family.open = false;
  }
}

export function startFamilies(main) {
  foldAgain(main);
  // Does not bubble.
  main.addEventListener("toggle", ({ target }) => {
    if (!target.matches?.("details.family")) return;
    const ids = folded().filter((id) => id !== target.dataset.family);
    if (!target.open) ids.push(target.dataset.family);
    localStorage.setItem(STORED, JSON.stringify(ids.slice(-LONGEST_MEMORY)));
  }, true);
}
