// After a press on a circle the rows stay where they are for a while, so that a second press hits the same circle.

const SETTLING_MILLISECONDS = 2000;

const later = [];
let timer = null;
let unanswered = 0;

function release() {
  timer = null;
  if (unanswered) return;
  document.dispatchEvent(new Event("tally-settled"));
  for (const action of later.splice(0)) action();
}

export function isSettling() {
  return timer !== null || unanswered > 0;
}

// Holds the rows from now on.
export function hold() {
  clearTimeout(timer);
  timer = setTimeout(release, SETTLING_MILLISECONDS);
}

// Holds the rows at least until a change of them has been answered.
export async function holdDuring(promise) {
  hold();
  unanswered += 1;
  try {
    return await promise;
  } finally {
    unanswered -= 1;
    if (timer === null) release();
  }
}

// Runs actions that may move rows, in order, as soon as everything has settled.
export function whenSettled(action) {
  if (isSettling() || later.length) later.push(action);
  else action();
}
